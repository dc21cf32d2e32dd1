"""`pliant tare`: make the present reading of the force sensor zero."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant tare --over 1[/bold]"


def command(
    over: Annotated[float, typer.Option(min=0.05, max=5, help="Seconds that are averaged.")] = 0.5,
    loop: Annotated[str | None, typer.Option(help="Which loop, if several run.")] = None,
) -> int:
    """Make the force sensor of a running loop read zero.

    Its offset is measured anew at the present pose. The arm must stand still and touch nothing; what the task
    says that its tool weighs is not part of the offset.
    `pliant set --undo` takes it back.
    """
    from pliant.cli.show import out
    from pliant.runtime.link import attach

    link = attach(loop)
    bias = link.tare(over)
    force, moment = (" ".join(f"{value:.4g}" for value in part) for part in (bias[:3], bias[3:]))
    out.print(f"Loop {link.name}: the sensor's offset is {force} N and {moment} N m (sense.bias).")
    return 0
