"""Run a mission for the command line: in simulation, as fast as possible, with a picture and an animation."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from pliant.cli.show import claim, compile_first, err, figures_table, out, progress
from pliant.errors import MissionError, RejectedError
from pliant.loop.saving import claim_recording, output_folder
from pliant.mobile.mission.mission_task import MissionTask, begun, changed_mission, find_mission, place_of

if TYPE_CHECKING:
    from pliant.mobile.mission.stage_machine import Change, Mission
    from pliant.mobile.planning.grid import OccupancyGrid
    from pliant.mobile.whole_body.kinematic_body import Body

STAGE_WORDS = {
    "A": "A: the arm is parked, the base is locked",
    "B": "B: the base drives",
    "C": "C: base and arm move the tool to its goal",
}


@contextmanager
def until_ctrl_c() -> Iterator[Callable[[], bool]]:
    """Whether to continue. The first Ctrl-C stops the robot properly; a second one interrupts as usual."""
    stopped: list[bool] = []
    before = signal.getsignal(signal.SIGINT)

    def notice(*_: Any) -> None:
        stopped.append(True)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, notice)
    try:
        yield lambda: not stopped
    finally:
        signal.signal(signal.SIGINT, before)


def _refuse(given: dict[str, Any]) -> None:
    """Reject the options of `pliant run` that a mission does not have."""
    for option, value in given.items():
        if value:
            said = f"{option} does not apply to a mission, which runs until it ends. Leave it out."
            raise RejectedError(said, field=option)


def run_mission(
    name: str,
    assignments: list[str],
    record: Path | None,
    idle: dict[str, Any],
    changes: dict[str, Any],
    live: dict[str, Any] | None = None,
) -> int:
    """Run the mission `name` with some values changed, and write a recording, a picture and an animation.

    `idle` are options that a mission does not have; they are rejected if given. `live` are the options of a mission in
    real time with the ROS 2 bridge.
    """
    _refuse(idle)
    task = find_mission(name)
    assert task is not None
    task = changed_mission(task, assignments, changes)
    place_of(task)
    folder = output_folder()
    files = record or folder / f"{task.name}.mcap", folder / f"{task.name}.png", folder / f"{task.name}.gif"
    claim_recording(files[0])
    claim(*files[1:])
    compile_first("loop", "body", "planner")
    prepared = begun(task)  # what cannot be done is rejected before anything is printed
    if live is None:
        return _run(task, prepared, *files)
    from pliant.cli.running.mission_live import run_live

    return run_live(task, *files[:2], **live)


def say_mission(task: MissionTask, how: str = "simulated") -> None:
    """Print what is about to happen, where, and within which limits."""
    kind = "a wheeled base" if task.sim.wheels else "a planar base"
    x, y, z = task.goal_m
    where = f"start ({task.start[0]:g} m, {task.start[1]:g} m, {task.start[2]:g}°), goal ({x:g}, {y:g}, {z:g}) m"
    limits = f"≤ {task.base.forward_m_s:g} m/s, {task.base.turn_rad_s:g} rad/s, {task.base.acceleration_m_s2:g} m/s²"
    said = f"{task.robot} on {kind}, map {Path(task.map).name}, {where}; base {limits}."
    out.print(Text.assemble((task.name, "bold"), f" ({how}): {said}"))


def _run(
    task: MissionTask, prepared: tuple[Body, OccupancyGrid, Mission], recording: Path, picture: Path, animation: Path
) -> int:
    from pliant.analysis.mission_figures import mission_figures, mission_history, save_picture
    from pliant.analysis.pictures.mission_animation import save_animation
    from pliant.mobile.mission.simulated_mission import save_mission, simulate_mission

    with until_ctrl_c() as go_on:
        say_mission(task)
        began = time.perf_counter()
        with progress("simulating") as update:
            run = simulate_mission(task, update, go_on=go_on, prepared=prepared)
        interrupted = not go_on()
    if interrupted:
        err.print("Stopping.")
    taken, seconds = time.perf_counter() - began, len(run.records) * task.dt
    out.print(f"{seconds:.2f} s simulated in {taken:.2f} s ({seconds / taken:.1f}× real time).")
    out.print(stages_table(run.log))
    save_mission(run, recording)
    mission_log = mission_history(run)
    figures = mission_figures(mission_log, run.tool)
    out.print(figures_table(figures, task.name))
    out.print(f"Recording: {recording}")
    if interrupted:
        out.print("Stopped by Ctrl-C: base and arm stopped before the goal.")
        return 0
    with progress("drawing") as update:
        save_picture(mission_log, picture)
        update(0.25)
        speed = save_animation(mission_log, animation)
    out.print(f"Picture: {picture}\nAnimation, {pace_words(speed)}: {animation}")
    if not run.done:
        raise MissionError(run.reason)
    return 0 if all(figure.met for figure in figures) else 1


def pace_words(speed: float) -> str:
    """The speed of an animation, in words."""
    return "in real time" if speed == 1 else f"at {speed:g}× real time"


def stages_table(log: list[Change]) -> Table:
    """When a mission entered which stage, and why."""
    table = Table(title="Stages", title_justify="left", box=None, pad_edge=False)
    table.add_column("time [s]", justify="right")
    table.add_column("stage")
    table.add_column("reason")
    for change in log:
        table.add_row(f"{change.time_s:.3f}", STAGE_WORDS.get(change.stage, change.stage), change.reason)
    return table
