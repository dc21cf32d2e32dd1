"""`pliant push`: push the tool of a loop that runs in another terminal, physically or virtually."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.options import LOOP_HELP

if TYPE_CHECKING:
    from pliant.session.link import Link

EXAMPLE = "Example: [bold]pliant push 10 0 --duration 2[/bold]"


def command(
    force: Annotated[list[float], typer.Argument(help="fx fy or fx fy fz \\[N], or six numbers with moments \\[N m].")],
    duration: Annotated[
        float | None, typer.Option(help="Duration \\[s] (default: 1; virtual: until the next virtual push).")
    ] = None,
    virtual: Annotated[
        bool,
        typer.Option("--virtual", help="Virtual push: added to the measured force. 0 0 ends it."),
    ] = False,
    loop: Annotated[str | None, typer.Option(help=LOOP_HELP)] = None,
) -> int:
    """Push the tool of a running loop.

    Applies a force in the base frame to a simulated arm; its force sensor measures it. With --virtual, the push is
    added to the measured force instead. Virtual pushes work with any robot and any compliant law.
    """
    from pliant.cli.show import out
    from pliant.errors import InputError, RejectedError
    from pliant.session.link import board_of, link_to, name_of
    from pliant.task.schema import MISSION

    if len(force) not in (2, 3, 6):
        allowed = "fx fy or fx fy fz [N], or fx fy fz mx my mz [N, N m]"
        raise InputError("force", force, allowed, "Example: pliant push 10 0 0.")
    if not virtual and not any(force):
        raise RejectedError("The push is zero. Give a force, as in pliant push 10 0 0.", field="force", value=force)
    wrench = [*force, *[0.0] * (3 - len(force))]
    if MISSION in (board := board_of(loop)).config:
        raise RejectedError(f"Loop {name_of(board)} is a mission. The arm of a mission cannot be pushed.")
    link = link_to(board)
    if virtual:
        link.virtual_push(wrench, duration)
        how_long = "until the next virtual push" if duration is None else f"for {duration:g} s"
        said = f"virtual push of {_words(force)} {how_long}" if any(force) else "the virtual push has ended"
        then = " The robot is stopped, so it does not respond before pliant stop --resume." if _is_stopped(link) else ""
        out.print(f"{link.title}: {said}.{then if any(force) else ''}")
    else:
        duration = 1.0 if duration is None else duration
        link.push(wrench, for_s=duration)
        out.print(f"{link.title}: pushing with {_words(force)} for {duration:g} s.")
    return 0


def _is_stopped(link: Link) -> bool:
    return bool(link.state.goal.stop)


def _words(force: list[float]) -> str:
    return " ".join(f"{value:g}" for value in force) + (" N" if len(force) < 6 else " N and N m")
