"""`pliant identify`: the tool's mass and centre of mass, or the robot's lag, measured with the arm itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.identify.payload_fit import Payload
    from pliant.task.schema import Task

EXAMPLE = "Example: [bold]pliant identify payload my_task.yaml --write[/bold]"
_PAYLOAD, _DELAY = "Only for payload", "Only for delay"


def command(
    quantity: Annotated[Literal["payload", "delay"], typer.Argument(help="What to identify.")],
    task: Annotated[str, typer.Argument(help="Task file, or the name of a task that comes with Pliant.")],
    robot: Annotated[str | None, typer.Option(help="Robot instead of the task's, as in ur:192.168.0.3.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the result into the task file.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Simulate as fast as possible.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a real robot moves.")] = False,
    poses: Annotated[
        int | None, typer.Option(help="Wrist orientations, 4 to 60 (default: 12).", rich_help_panel=_PAYLOAD)
    ] = None,
    mount: Annotated[
        bool,
        typer.Option("--mount", help="Also find the rotation of the sensor on the flange.", rich_help_panel=_PAYLOAD),
    ] = False,
    contact: Annotated[
        bool,
        typer.Option(
            "--contact",
            help="Also press on the task's surface, to measure the lag of the force.",
            rich_help_panel=_DELAY,
        ),
    ] = False,
    amplitude: Annotated[
        float | None,
        typer.Option(
            help="Amplitude \\[mm], 0.1 to 20 (default: 2); with --joint \\[°], 0.03 to 5.7 (default: 0.6).",
            rich_help_panel=_DELAY,
        ),
    ] = None,
    bandwidth: Annotated[
        float | None,
        typer.Option(help="Highest frequency \\[Hz], 0.5 to 10 (default: 3).", rich_help_panel=_DELAY),
    ] = None,
    duration: Annotated[
        float | None, typer.Option(help="Duration \\[s], 2 to 120 (default: 8).", rich_help_panel=_DELAY)
    ] = None,
    joint: Annotated[
        int | None,
        typer.Option(help="Number of the joint to move instead of the tool; the first is 1.", rich_help_panel=_DELAY),
    ] = None,
) -> int:
    """Identify tool weight and sensor offset, or the total lag.

    payload: each of the last three joints turns by up to ±69°. Keep the space clear; nothing may touch the tool.

    delay: the tool moves back and forth along its axis, by default up to 2 mm, for 8 s at up to 3 Hz; with --contact it
    also presses. Measures the lag from command to motion (transport delay plus servo lag), and from it the total lag.

    A result that cannot be trusted is rejected with a reason.
    """
    from pliant.cli.loading import load_arm_task
    from pliant.cli.running.run_task import change_task, must_be_simulated
    from pliant.cli.show import compile_first
    from pliant.cli.tools import identify_delay
    from pliant.compiling.entry_points import law_groups
    from pliant.identify.payload_motion import must_have_wrist, slowed
    from pliant.robots.robot_registry import kind_of
    from pliant.task.bundled_files import find_file
    from pliant.task.schema import arm_of, check_fits, laws_of
    from pliant.task.task_file import own_task

    chosen = change_task(own_task(task) if write else load_arm_task(task, "identify"), {"robot": robot}, [])
    kind_of(chosen.robot)[0].check_installed()
    of_delay = {"amplitude": amplitude, "bandwidth": bandwidth, "duration": duration, "joint": joint}
    dashed = {f"--{name}": value for name, value in of_delay.items()}
    _refuse_others(quantity, {"--poses": poses, "--mount": mount or None}, {**dashed, "--contact": contact or None})
    if fast:
        must_be_simulated(chosen)
    arm = arm_of(chosen)
    if quantity == "payload":
        must_have_wrist(arm)
    check_fits(slowed(chosen), arm, where=find_file("task", task).name)
    how = identify_delay.excitation(of_delay, arm)
    if contact:
        identify_delay.must_have_surface(chosen)
    compile_first("loop", *law_groups(laws_of(slowed(chosen))), task=chosen)
    if quantity == "delay":
        settings = identify_delay.run(chosen, how, contact=contact, fast=fast, yes=yes)
    else:
        settings = _payload(chosen, 12 if poses is None else poses, mount=mount, fast=fast, yes=yes)
    if write:
        _write(task, settings)
    return 0


def _refuse_others(quantity: str, of_payload: dict[str, Any], of_delay: dict[str, Any]) -> None:
    """Reject an option that belongs to the other identification instead of ignoring it."""
    from pliant.errors import RejectedError

    for name, value in (of_delay if quantity == "payload" else of_payload).items():
        if value is not None:
            raise RejectedError(
                f"{name} does not apply to identify {quantity}. Leave it out. See pliant identify --help."
            )


def _payload(task: Task, poses: int, *, mount: bool, fast: bool, yes: bool) -> dict[str, Any]:
    from pliant.cli.show import ask_once, out, progress
    from pliant.identify.payload_motion import identify_payload, payload_settings

    _say_start(task, poses)
    ask_once(task, yes=yes)
    with progress(f"{poses} poses") as update:
        found = identify_payload(task, poses, find_mount=mount, fast=fast, progress=update)
    out.print(_table(task, found))
    settings = payload_settings(task.tool, found)
    out.print(f"--write stores {', '.join(settings)} in your task file.")
    return settings


def _write(path: str, settings: dict[str, Any]) -> None:
    from pliant.cli.show import out
    from pliant.task.task_file import write_values

    write_values(path, settings)
    out.print(f"Written to {path}: {', '.join(settings)}.")


def _say_start(task: Task, poses: int) -> None:
    """What is about to move."""
    from math import degrees

    from rich.text import Text

    from pliant.cli.show import out
    from pliant.identify.payload_motion import REACH, slowed

    limits = slowed(task).params.limits
    out.print(
        Text(task.name, "bold"),
        f"the wrist of {task.robot} will turn to {poses} poses, by up to {degrees(REACH):.0f}° "
        f"per joint; joint speed ≤ {limits.speed_scale:.0%} and acceleration ≤ {limits.acceleration_scale:.0%} of the "
        "robot's limits.",
        sep=": ",
    )


def _table(task: Task, found: Payload) -> Table:
    import numpy as np
    from rich.table import Table

    from pliant.identify.payload_motion import com_in_flange, com_std_in_flange

    table = Table(title=f"payload of {task.name}", title_justify="left", title_style="bold")
    for column in ("quantity", "estimate", "± standard deviation", "unit"):
        table.add_column(column, justify="left" if column in ("quantity", "unit") else "right")
    table.add_row("mass", f"{found.mass_kg:.4f}", f"{found.mass_std_kg:.4f}", "kg")
    com, spread = com_in_flange(task.tool, found) * 1e3, com_std_in_flange(task.tool, found) * 1e3
    for axis, value, std in zip("xyz", com, spread, strict=True):
        table.add_row(f"centre of mass, flange {axis}", f"{value:.2f}", f"{std:.2f}", "mm")
    for name, value, std in zip(("fx", "fy", "fz", "mx", "my", "mz"), found.bias, found.bias_std, strict=True):
        table.add_row(f"offset {name}", f"{value:.4f}", f"{std:.4f}", "N" if name[0] == "f" else "N m")
    if not np.array_equal(found.mount, np.eye(3)):
        turned = np.degrees(np.arccos(np.clip((np.trace(found.mount) - 1) / 2, -1, 1)))
        std = np.degrees(np.linalg.norm(found.mount_std_rad))
        table.add_row("sensor rotation against the model", f"{turned:.3f}", f"{std:.3f}", "°")
    table.add_row("residual, forces", f"{found.residual_n:.4f}", "", "N")
    table.add_row("residual, moments", f"{found.residual_nm:.4f}", "", "N m")
    table.add_row("condition number", f"{found.condition:.2f}", "", "")
    table.add_row("poses", str(found.poses), "", "")
    return table
