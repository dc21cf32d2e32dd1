"""`pliant identify`: what the tool weighs and where, measured by the arm itself."""

from __future__ import annotations

from pathlib import Path
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
    poses: Annotated[int, typer.Option(min=1, max=60, help="How many orientations of the wrist.")] = 12,
    mount: Annotated[bool, typer.Option("--mount", help="Find the rotation of the sensor on the flange too.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Put the result into the task file.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Simulate as fast as possible instead of in real time.")] = False,
) -> int:
    """Turn the wrist, stand still, and find the tool's mass, its centre and the sensor's bias.

    The wrist turns by up to 70° each way: nothing may be in its way, and nothing may touch the tool.
    A result that cannot be trusted is refused with a reason.
    """
    from pliant.cli.running import say_start
    from pliant.cli.show import compile_first, out, progress
    from pliant.params.yaml_file import update_file
    from pliant.runtime.identify import as_settings, collect, slowed
    from pliant.runtime.task import find_task, load_task

    chosen = _without_script(find_task(task))
    if write:
        _must_be_own_file(task, chosen)
    compile_first()
    say_start(slowed(chosen))
    with progress(f"{poses} poses") as update:
        found = collect(chosen, poses, find_mount=mount, fast=fast, progress=update)
    out.print(_table(chosen, found))
    if write:
        settings = as_settings(chosen.tool, found)
        update_file(task, settings)
        load_task(task)  # what was written is a valid task
        out.print(f"Written to {task}: {', '.join(settings)}.")
    return 0


def _without_script(task: Task) -> Task:
    """The task without its events and the simulator's pushes: they belong to a run, not to the tool."""
    from pliant.params.declare import validated
    from pliant.runtime.task import Task

    data = task.model_dump()
    data["events"], data["sim"]["pushes"] = (), ()
    return validated(Task, data)


def _must_be_own_file(name: str, task: Task) -> None:
    from pliant.errors import InputError

    if not Path(name).is_file():
        raise InputError("--write", name, "used with a task file of your own", "Copy the task first.")
    if task.notes:
        raise InputError("--write", name, "used with a task file", "This is a parameter file of ROS 2.")


def _table(task: Task, found: Payload) -> Table:
    import numpy as np
    from rich.table import Table

    from pliant.runtime.identify import com_in_flange, sensor_rotation

    table = Table(title=f"payload of {task.name}", title_justify="left", title_style="bold")
    for column in ("figure", "estimate", "± standard deviation", "unit"):
        table.add_column(column, justify="left" if column in ("figure", "unit") else "right")
    table.add_row("mass", f"{found.mass_kg:.4f}", f"{found.mass_std_kg:.4f}", "kg")
    R = sensor_rotation(task.tool, found)
    spread = np.sqrt(np.diag(R @ np.diag(found.com_std_m**2) @ R.T))
    for axis, value, std in zip("xyz", com_in_flange(task.tool, found) * 1e3, spread * 1e3, strict=True):
        table.add_row(f"centre of mass, flange {axis}", f"{value:.2f}", f"{std:.2f}", "mm")
    for name, value, std in zip(("fx", "fy", "fz", "mx", "my", "mz"), found.bias, found.bias_std, strict=True):
        table.add_row(f"bias {name}", f"{value:.4f}", f"{std:.4f}", "N" if name[0] == "f" else "N m")
    if not np.array_equal(found.mount, np.eye(3)):
        turned = np.degrees(np.arccos(np.clip((np.trace(found.mount) - 1) / 2, -1, 1)))
        table.add_row("sensor turned against the model", f"{turned:.2f}", "", "°")
    table.add_row("left over, forces", f"{found.residual_n:.4f}", "", "N")
    table.add_row("left over, moments", f"{found.residual_nm:.4f}", "", "N m")
    table.add_row("condition number", f"{found.condition:.2f}", "", "")
    table.add_row("poses", str(found.poses), "", "")
    return table
