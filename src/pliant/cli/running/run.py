"""`pliant run`: a task on a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant run push --set admittance.stiffness=400 --record push.mcap[/bold]"


def command(
    task: Annotated[str, typer.Argument(help="Task file, or the name of a task that comes with Pliant.")],
    robot: Annotated[
        str | None,
        typer.Option(
            help="Use this robot instead of the task's: sim:ur10e, ur:HOST (UR5e), ur:HOST#ur10e, ros2:ur5e, "
            "my_driver.py:HOST."
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Write a recording to this file (.mcap). Missing folders are created.")
    ] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", help="Change a parameter: name=value. Repeatable.")
    ] = None,
    law: Annotated[str | None, typer.Option(help="Law instead of the task's, or my_law.py.")] = None,
    rate: Annotated[float | None, typer.Option(help="Loop rate \\[Hz], 125 to 1000.")] = None,
    duration: Annotated[float | None, typer.Option(help="Time to run \\[s] (default: the task's).")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the simulation (default: the task's).")] = None,
    name: Annotated[str | None, typer.Option(help="Name for this loop; other commands select it with --loop.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Apply the task file whenever you save it.")] = False,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Run even if the task is not stable on its declared surfaces.")
    ] = False,
    ros2: Annotated[bool, typer.Option("--ros2", help="Publish and subscribe over ROS 2.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before moving a real robot or a ROS 2 arm.")
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Simulate as fast as possible, not in real time.")] = False,
) -> int:
    """Run a task in real time, or as fast as possible (--fast).

    Ctrl-C ends the run normally: a tool in contact lifts off first, then the robot stops. A task that is not stable on
    its declared surfaces is rejected.

    A mission (such as fetch) is simulated until it ends, and its path is drawn. The exit code is 3 if it does not reach
    its goal. With --ros2 it runs in real time.
    """
    from pliant.compiling.entry_points import law_groups
    from pliant.loop.processes import LOOP, start_ahead

    if not fast:  # it imports what it needs while this process does
        start_ahead(LOOP)
    from pliant.cli.options import must_end
    from pliant.cli.running.run_task import change_task, must_be_simulated, run_fast, run_paced, unused
    from pliant.cli.show import compile_first, out
    from pliant.errors import RejectedError
    from pliant.loop.saving import claim_recording
    from pliant.robots.robot_registry import kind_of
    from pliant.stability.guard import guard_start
    from pliant.task.bundled_files import find_file
    from pliant.task.schema import arm_of, check_fits, is_mission, laws_of, load_task

    if fast and (watch or name or ros2):
        option = "--watch" if watch else "--name" if name else "--ros2"
        raise RejectedError(
            f"{option} needs a real-time run, so it cannot be combined with --fast. Remove one of them.", field=option
        )
    must_end("--record", record, ".mcap")
    if ros2:
        from pliant.cli.running.bridging import check_ros2

        check_ros2()
    if is_mission(task):
        from pliant.cli.running.mission_run import run_mission

        idle = {"--law": law, "--duration": duration, "--watch": watch, "--unchecked": unchecked} | (
            {} if ros2 else {"--name": name}
        )
        changes = {"robot": robot, "rate_hz": rate, "sim.seed": seed}
        live = {"name": name, "yes": yes} if ros2 else None
        return run_mission(task, assign or [], record, idle, changes, live)
    changes = {"robot": robot, "law": law, "rate_hz": rate, "duration_s": duration, "sim.seed": seed}
    wanted = change_task(load_task(task, rate), changes, assign or [])
    if watch and not Path(task).is_file():
        raise RejectedError(f"--watch needs a task file of your own, but {task} is not a file. Copy a task first.")
    if fast:
        must_be_simulated(wanted)
    kind_of(wanted.robot)[0].check_installed()
    check_fits(wanted, arm_of(wanted), where=find_file("task", task).name)
    if record:
        claim_recording(record)
    if not unchecked:
        guard_start(wanted)
    compile_first("batch" if fast else "loop", *law_groups(laws_of(wanted)), task=wanted)
    for note in unused(wanted, assign or []):
        out.print(note)
    if fast:
        return run_fast(wanted, record, unchecked=unchecked)
    watched = Path(task) if watch else None
    return run_paced(wanted, record, watch=watched, name=name, unchecked=unchecked, ros2=ros2, yes=yes)
