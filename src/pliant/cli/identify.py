"""`pliant identify`: what the tool weighs and where, measured by the arm itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.runtime.task import Task
    from pliant.sense.payload import Payload

EXAMPLE = "Example: [bold]pliant identify payload my_task.yaml --write[/bold]"


def command(
    what: Annotated[Literal["payload"], typer.Argument(help="What to identify.")],
    task: Annotated[str, typer.Argument(help="Task file, or the name of a task that comes with Pliant.")],
    poses: Annotated[int, typer.Option(help="How many orientations of the wrist, 4 to 60.")] = 12,
    mount: Annotated[bool, typer.Option("--mount", help="Find the rotation of the sensor on the flange too.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Put the result into the task file.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Simulate as fast as possible instead of in real time.")] = False,
) -> int:
    """Find the tool's mass and centre and the sensor's bias.

    The wrist turns and stands still, again and again. The last three joints turn by up to 69° each way:
    nothing may be in their way, and nothing may touch the tool.
    A result that cannot be trusted is refused with a reason.
    """
    from pliant.cli.show import compile_first, out, progress
    from pliant.runtime.identify import as_settings, collect
    from pliant.runtime.keep import own_task, write_values
    from pliant.runtime.task import find_task

    chosen = own_task(task) if write else find_task(task)
    compile_first()
    _say_start(chosen, poses)
    with progress(f"{poses} poses") as update:
        found = collect(chosen, poses, find_mount=mount, fast=fast, progress=update)
    out.print(_table(chosen, found))
    if write:
        settings = as_settings(chosen.tool, found)
        write_values(task, settings)
        out.print(f"Written to {task}: {', '.join(settings)}.")
    return 0


def _say_start(task: Task, poses: int) -> None:
    """What is about to move."""
    from math import degrees

    from rich.text import Text

    from pliant.cli.show import out
    from pliant.runtime.identify import REACH, slowed

    limits = slowed(task).params.limits
    out.print(
        Text(task.name, "bold"),
        f"the wrist of {task.robot} turns to {poses} poses, by up to {degrees(REACH):.0f}° "
        f"per joint; joint speed ≤ {limits.speed_scale:.0%} and acceleration ≤ {limits.acceleration_scale:.0%} of the "
        "robot's own limits.",
        sep=": ",
    )


def _table(task: Task, found: Payload) -> Table:
    import numpy as np
    from rich.table import Table

    from pliant.runtime.identify import com_in_flange, com_std_in_flange

    table = Table(title=f"payload of {task.name}", title_justify="left", title_style="bold")
    for column in ("figure", "estimate", "± standard deviation", "unit"):
        table.add_column(column, justify="left" if column in ("figure", "unit") else "right")
    table.add_row("mass", f"{found.mass_kg:.4f}", f"{found.mass_std_kg:.4f}", "kg")
    com, spread = com_in_flange(task.tool, found) * 1e3, com_std_in_flange(task.tool, found) * 1e3
    for axis, value, std in zip("xyz", com, spread, strict=True):
        table.add_row(f"centre of mass, flange {axis}", f"{value:.2f}", f"{std:.2f}", "mm")
    for name, value, std in zip(("fx", "fy", "fz", "mx", "my", "mz"), found.bias, found.bias_std, strict=True):
        table.add_row(f"bias {name}", f"{value:.4f}", f"{std:.4f}", "N" if name[0] == "f" else "N m")
    if not np.array_equal(found.mount, np.eye(3)):
        turned = np.degrees(np.arccos(np.clip((np.trace(found.mount) - 1) / 2, -1, 1)))
        std = np.degrees(np.linalg.norm(found.mount_std_rad))
        table.add_row("sensor turned against the model", f"{turned:.3f}", f"{std:.3f}", "°")
    table.add_row("left over, forces", f"{found.residual_n:.4f}", "", "N")
    table.add_row("left over, moments", f"{found.residual_nm:.4f}", "", "N m")
    table.add_row("condition number", f"{found.condition:.2f}", "", "")
    table.add_row("poses", str(found.poses), "", "")
    return table
