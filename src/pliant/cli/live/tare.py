"""`pliant tare`: zero the force sensor."""

from __future__ import annotations

from typing import Annotated

import typer

from pliant.cli.options import LOOP_HELP

EXAMPLE = "Example: [bold]pliant tare --duration 1[/bold]"


def command(
    duration: Annotated[float, typer.Option(help="Averaging time \\[s], 0.05 to 5.")] = 0.5,
    loop: Annotated[str | None, typer.Option(help=LOOP_HELP)] = None,
) -> int:
    """Measure and subtract the force sensor offset of a running loop.

    The arm must be at rest and touch nothing. The tool weight that
    the task declares is not part of the offset. `pliant set --undo` reverts it.
    """
    from pliant.cli.show import out
    from pliant.session.link import attach

    link = attach(loop)
    bias = link.tare(duration)
    force, moment = (" ".join(f"{value:.4f}" for value in part) for part in (bias[:3], bias[3:]))
    out.print(f"{link.title}: the sensor's offset is {force} N and {moment} N m (sense.bias).")
    return 0
