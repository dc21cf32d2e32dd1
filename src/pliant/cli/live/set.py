"""`pliant set`: change a parameter of a loop that runs in another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.options import LOOP_HELP

if TYPE_CHECKING:
    from pliant.session.link import Link

EXAMPLE = "Example: [bold]pliant set admittance.stiffness 400[/bold]"


def command(
    name: Annotated[str | None, typer.Argument(help="Parameter; without one, all current values are shown.")] = None,
    value: Annotated[str | None, typer.Argument(help="A number, numbers separated by commas, or a word.")] = None,
    loop: Annotated[str | None, typer.Option(help=LOOP_HELP)] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last change.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Show the changes so far.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write the current values to this task file; comments are kept.")
    ] = None,
) -> int:
    """Show or change the parameters of a running loop.

    Can also undo the last change (--undo) and save the current values (--save). A change that is not allowed is
    rejected, the reason is printed, and the loop keeps its values.
    """
    from pliant.errors import RejectedError
    from pliant.session.link import attach

    if history and (undo or save is not None or name is not None):
        raise RejectedError("--history only shows the changes so far. Leave out the parameter, --undo and --save.")
    if undo and name is not None:
        raise RejectedError(f"--undo takes no parameter; it reverts the last change. Leave out {name}.")
    if name is not None and value is None and "=" in name:  # as in --set of other commands
        name, _, value = name.partition("=")
    link = attach(loop)
    if history:
        _show_history(link)
    elif undo:
        _undo(link)
    elif name is not None and value is not None:
        _set(link, name, value)
    elif save is None or name is not None:
        _show(link, name)
    if save is not None:
        _save(link, save)
    return 0


def _set(link: Link, name: str, value: str) -> None:
    from pliant.cli.assigning import must_be_parameter
    from pliant.cli.show import out
    from pliant.params.declare import flat, parse_value

    must_be_parameter(name, parse_value(value))
    notes = link.set({name: parse_value(value)})
    out.print(f"{link.title}: {name} = {_with_unit(link, name, flat(link.parameters)[name])}")
    for note in notes:
        out.print(f"Note: {note}")


def _undo(link: Link) -> None:
    from pliant.cli.show import out
    from pliant.params.matrix import shown

    back = ", ".join(f"{name} is {shown(now)} again (was {shown(was)})" for name, (was, now) in link.undo().items())
    out.print(f"{link.title}: undone: {back}." if back else f"{link.title}: undone; no value changed.")


def _show(link: Link, name: str | None) -> None:
    from pliant.cli.show import out
    from pliant.errors import UnknownNameError
    from pliant.params.declare import flat

    values = flat(link.parameters)
    if name is not None and name not in values:
        law = link.task.law
        raise UnknownNameError("parameter", name, values, first=law, all_names=type(link.parameters).all_names)
    if name is None:
        out.print(f"{link.title}:")
    for key, now in values.items():
        if name is None or key == name:
            out.print(f"{key} = {_with_unit(link, key, now)}")


def _with_unit(link: Link, name: str, value: Any) -> str:
    from pliant.params.declare import declared
    from pliant.params.matrix import with_unit

    return with_unit(value, next(item.unit for item in declared(type(link.parameters)) if item.name == name))


def _show_history(link: Link) -> None:
    from pliant.cli.show import out

    changes, undos = link.history(), link.undos()
    if not changes:
        out.print(f"{link.title}: no parameter has been changed.")
    for revision, when, values in changes:
        words = ", ".join(f"{key} = {_with_unit(link, key, new)}" for key, new in values.items())
        undo = "undo: " if revision in undos else ""
        out.print(f"{revision:4}  {when:8.3f} s  {undo}{words or 'no change'}")


def _save(link: Link, path: Path) -> None:
    from pliant.cli.show import out
    from pliant.params.matrix import shown

    kept = ", ".join(f"{key} = {shown(new)}" for key, new in link.save(path).items())
    out.print(f"Written to {path}: {kept}." if kept else f"{path} already contains the current values.")
