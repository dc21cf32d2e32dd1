"""`pliant set`: change a parameter of a loop that runs in another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant set admittance.stiffness 400[/bold]"


def command(
    name: Annotated[str | None, typer.Argument(help="Parameter; without one, all values in force are shown.")] = None,
    value: Annotated[str | None, typer.Argument(help="A number, numbers with commas, or a word.")] = None,
    loop: Annotated[str | None, typer.Option(help="Which loop, if several run.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last change back.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Show the changes so far.")] = False,
    save: Annotated[Path | None, typer.Option(help="Put what is in force into this task file; comments stay.")] = None,
) -> int:
    """Change a live parameter of a running loop, show what is in force, take a change back, or keep it in a file.

    A change that is not allowed changes nothing and says why.
    """
    from pliant.cli.show import out
    from pliant.errors import InputError, UnknownNameError
    from pliant.params.declare import flat, parse_value
    from pliant.params.matrix import compact
    from pliant.runtime.link import attach

    if history and (undo or save is not None or name is not None):
        raise InputError("--history", "beside something else", "used alone")
    link = attach(loop)
    if history:
        for revision, when, changes in link.history():
            words = ", ".join(f"{key} = {compact(new)}" for key, new in changes.items())
            out.print(f"{revision:4}  {when:8.3f} s  {words or 'nothing'}")
        return 0
    if undo:
        link.undo()
    elif name is not None and value is not None:
        link.set({name: parse_value(value)})
    elif name is not None and name not in flat(link.parameters):
        raise UnknownNameError("parameter", name, flat(link.parameters))
    elif value is not None:
        raise InputError("name", name, "given before the value")
    if save is not None:
        kept = ", ".join(f"{key} = {compact(new)}" for key, new in link.save(save).items())
        out.print(f"Written to {save}: {kept}." if kept else f"{save} says what is in force already.")
        return 0
    for key, now in flat(link.parameters).items():
        if name is None or key == name:
            out.print(f"{key} = {compact(now)}")
    return 0
