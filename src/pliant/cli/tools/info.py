"""`pliant info`: describe a robot before anything moves."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.errors import RejectedError, UnknownNameError

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.model.arm import Arm, Floats
    from pliant.task.schema import Task

EXAMPLE = "Example: [bold]pliant info sim:ur10e[/bold]"


def command(
    robot: Annotated[str, typer.Argument(help="A robot (sim:ur10e), a URDF or MJCF file, or a task.")],
) -> int:
    """Show a robot's joints, limits, home pose and reach.

    Also shows its payload, and values that were assumed because its description does not contain them.
    """
    from pliant.cli.show import out
    from pliant.robots import is_simulated
    from pliant.task.schema import arm_of

    task = _task_of(robot)
    arm = arm_of(task)
    if not is_simulated(task.robot):
        out.print(f"Data of the arm's model. Nothing was read from {task.robot}.")
    out.print(_table(arm))
    for line in _lines(task, arm):
        out.print(line)
    return 0


def _task_of(which: str) -> Task:
    from pliant.cli.loading import load_arm_task
    from pliant.model.catalogue import available_models
    from pliant.params.declare import validated
    from pliant.task.bundled_files import find_bundled
    from pliant.task.schema import Task, located

    is_file = Path(which.partition("#")[0]).suffix.lower() in (".urdf", ".xml", ".mjcf") and ":" not in which
    if is_file or which in available_models():
        which = f"sim:{which}"
    if ":" in which:
        return located(validated(Task, {"robot": which}))
    if Path(which).is_dir() and find_bundled("task", which) is None:
        sentence = f"{which} is a folder. Give a robot (sim:ur5e), a URDF or MJCF file, or a task."
        raise RejectedError(sentence, field="robot", value=which)
    try:
        return load_arm_task(which, "info")
    except UnknownNameError as error:
        if error.kind != "task":
            raise
        near = difflib.get_close_matches(which, error.choices, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise RejectedError(
            f"{which!r} is not a robot, file or task.{hint} Examples: sim:ur5e, my_arm.urdf, push.",
            field="robot",
            value=which,
        ) from None


def _table(arm: Arm) -> Table:
    from rich.table import Table

    from pliant.model.arm import UNLIMITED

    slides = arm.handle[0].slides
    units = "rad, rad/s, rad/s², N m" + (" (prismatic: m, m/s, m/s², N)" if slides[: arm.n].any() else "")
    table = Table(title=f"{arm.name}: {arm.n} joints; {units}", title_justify="left", title_style="bold")
    table.add_column("joint", overflow="fold")
    for column in ("min", "max", "home", "speed", "accel.", "torque"):
        table.add_column(column, justify="right", no_wrap=True)
    for j, name in enumerate(arm.joint_names):
        limits = [f"{value:.4g}" if abs(value) < UNLIMITED else "no limit" for value in (arm.q_min[j], arm.q_max[j])]
        rest = [f"{values[j]:.4g}" for values in (arm.q_home, arm.v_max, arm.a_max, arm.tau_max)]
        table.add_row(f"{name} (prismatic)" if slides[j] else name, *limits, *rest)
    return table


def _pose_words(pose: Floats) -> str:
    from pliant.params.matrix import shown

    return f"position {shown(pose[:3].round(6) + 0.0)} m, quaternion wxyz {shown(pose[3:].round(6) + 0.0)}"


def _lines(task: Task, arm: Arm) -> list[str]:
    """What does not fit a row of the table."""
    from pliant.model.reach import FAR
    from pliant.model.ur import ur_facts, ur_names
    from pliant.params.matrix import shown

    reach = float(arm.handle[0].reach_max)
    bare, tip = task.tool == type(task.tool)(), shown(task.tool.tcp_m)
    tool = "none; its pose is that of the flange" if bare else f"{task.tool.mass_kg:g} kg, tool point at {tip} m"
    facts = ur_facts(arm.name) if arm.name in ur_names() else None
    payload = f"{facts.payload_kg:g} kg" if facts else "not in the description"
    far = "unbounded (prismatic)" if reach >= FAR else f"at most {reach:.3f} m from the first joint"
    lines = [
        f"Home pose of the tool: {_pose_words(arm.pose(arm.q_home))}.",
        *([f"Start pose of the tool (start_q): {_pose_words(arm.pose(task.start_q))}."] if task.start_q else []),
        f"Tool: {tool}.",
        f"Maximum payload: {payload}. Reach of the tool: {far}.",
    ]
    if not arm.assumed:
        lines.append("The acceleration limits are assumed: robot descriptions do not contain them.")
    return [*lines, *arm.notes]
