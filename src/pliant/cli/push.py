"""`pliant push`: push the tool of a loop that runs in another terminal, or let its law believe so."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant push 10 0 --for 2[/bold]"


def command(
    force: Annotated[list[float], typer.Argument(help="fx fy, fx fy fz \\[N], or six numbers with moments \\[N m].")],
    for_s: Annotated[
        float | None, typer.Option("--for", help="Seconds that it lasts (a real push: 1 unless said).")
    ] = None,
    virtual: Annotated[
        bool,
        typer.Option(
            "--virtual", help="Nothing pushes: the law feels it, for --for or until another is given (0 0 ends it)."
        ),
    ] = False,
    loop: Annotated[str | None, typer.Option(help="Which loop, if several run.")] = None,
) -> int:
    """Push the tool of a running loop.

    A simulated arm is really pushed, in base axes, and its force sensor measures it. With --virtual the law feels the
    push beside what is measured: any robot, any law that yields.
    """
    from pliant.cli.show import out
    from pliant.errors import InputError
    from pliant.runtime.link import attach

    if len(force) not in (2, 3, 6):
        raise InputError("force", force, "two or three numbers, or six with moments")
    wrench = [*force, *[0.0] * (3 - len(force))]
    link = attach(loop)
    if virtual:
        link.virtual_push(wrench, for_s)
        how_long = "until another virtual push is given" if for_s is None else f"for {for_s:g} s"
        out.print(f"Loop {link.name}: the law feels {_words(force)} {how_long}.")
    else:
        for_s = 1.0 if for_s is None else for_s
        link.push(wrench, for_s=for_s)
        out.print(f"Loop {link.name}: pushed with {_words(force)} for {for_s:g} s.")
    return 0


def _words(force: list[float]) -> str:
    return " ".join(f"{value:g}" for value in force) + (" N" if len(force) < 6 else " N and N m")
