"""Run a task for the command line: in real time or as fast as possible, with progress and a summary."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from pliant.cli.assigning import assigned
from pliant.cli.show import ask_once, err, figures_table, out, progress
from pliant.control.laws.law import TOOL_VELOCITY
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import parameters_of
from pliant.errors import LawError, LoopError, RecordingError, RejectedError, UnwritableError
from pliant.loop.fault_text import starved_warning
from pliant.model.arm import Arm
from pliant.model.catalogue import available_models
from pliant.params.declare import parse_assignment
from pliant.params.plugin_files import is_file
from pliant.robots import is_simulated, model_of
from pliant.robots.robot_registry import KINDS
from pliant.session.idle_parameters import without_effect
from pliant.session.in_process.fast_run import Run, save_last_seconds, simulate
from pliant.session.session import Session
from pliant.session.watch_file import FileWatch
from pliant.task.bundled_files import find_bundled
from pliant.task.schema import Task, arm_model, arm_of, located

# A law that jumps between states changes it hundreds of times: so many lines are shown.
_MOST = 30
# Directions of a tool: along x y z, and about x y z.
_DIRECTIONS = 6


def change_task(task: Task, changes: dict[str, Any], assignments: list[str]) -> Task:
    """The task with changed robot, law, rate, duration or seed, and with ``--set`` values; validated as a whole."""
    if (robot := changes.get("robot")) in KINDS and KINDS[robot].takes_model:  # the task's arm, simulated or over ROS 2
        changes = {**changes, "robot": f"{robot}:{arm_model(task)}"}
    if robot := changes.get("robot"):
        _must_suit(task, robot)
    task = task.replace({name: value for name, value in changes.items() if value is not None})
    # afterwards: another law may bring parameters of its own
    return located(task.model_copy(update={"params": assigned(task.params, assignments, task.law)}))


def unused(task: Task, assignments: list[str]) -> list[str]:
    """A note for each of these ``--set`` values that no law of the task uses."""
    laws = (task.law, *(event.law for event in task.events if event.law))
    notes = []
    for name in (parse_assignment(text)[0] for text in assignments):
        said = [without_effect([name], task.params, law, task.interface) for law in laws]
        if all(said):
            notes.append(f"Note: {said[0][0]}")
    return notes


def _must_suit(task: Task, robot: str) -> None:
    """Raise if another robot has another number of joints than the task's arm, before anything connects to it."""
    if find_bundled("task", robot) is not None:
        raise RejectedError(f"{robot} is a task, not a robot. Example: --robot sim:ur5e.", field="--robot", value=robot)
    before, after = arm_model(task), "" if is_file(robot.partition(":")[0]) else model_of(robot)
    if not {before, after} <= set(available_models()):
        return
    joints, others = Arm.load(before).n, Arm.load(after).n
    if joints != others:
        raise RejectedError(
            f"Task {task.name} is for {before} ({joints} joints), but {robot} is a {after} with {others}. "
            "Choose another task or robot.",
            field="--robot",
            value=robot,
        )


def must_be_simulated(task: Task) -> None:
    """Raise unless the robot can be simulated as fast as possible."""
    if not is_simulated(task.robot):
        said = f"--fast simulates; it cannot drive {task.robot}. To simulate, use a simulated robot: --robot sim."
        raise RejectedError(f"{said} To drive the robot, leave out --fast.", field="--fast")


def say_start(task: Task, arm: Arm, loop: str = "") -> None:
    """Print what is about to move, in which loop, within which limits, and what is assumed about the arm."""
    limits = task.params.limits
    kind, _, which = task.robot.partition(":")
    out.print(
        Text(task.name, "bold"),
        f"{task.law} on {Path(kind).name}:{Path(which).name}, {task.interface} commands at {task.rate_hz:g} Hz for "
        f"{task.duration_s:g} s; joint speed ≤ {limits.speed_scale:.0%} and acceleration ≤ "
        f"{limits.acceleration_scale:.0%} of the robot's limits, tool speed ≤ {limits.linear_speed_m_s:g} m/s and "
        f"{limits.angular_speed_rad_s:g} rad/s." + (f" Loop {loop}." if loop else ""),
        sep=": ",
    )
    for note in (*task.notes, *arm.notes, *_missing_directions(task, arm)):
        out.print(f"  {note}")


def _missing_directions(task: Task, arm: Arm) -> list[str]:
    """A note about an arm that has fewer joints than a tool has directions, under a law that moves the tool."""
    if LAWS[task.law].output != TOOL_VELOCITY or arm.n >= _DIRECTIONS:
        return []
    return [
        f"Note: {arm.name} has {arm.n} joint{'s' * (arm.n != 1)}, but {task.law} controls six directions. The tool "
        "follows a least-squares compromise and does not settle at force / stiffness. Use impedance for this arm."
    ]


def _warn_of_starving(task: Task, records: np.ndarray[Any, Any]) -> bool:
    """Print a warning if a limit starved the law in these records; returns whether it did."""
    if said := starved_warning(records, task.params.limits.starved_warn_s):
        err.print(f"Warning: {said}")
    return bool(said)


def _ask_and_bridge(session: Session, *, yes: bool) -> AbstractContextManager[None]:
    """Ask now whether subscribers over ROS 2 may follow; the bridge starts when the context is entered."""
    from pliant.cli.running.bridging import bridge, may_follow

    return bridge(session, agreed=may_follow(session.task, yes=yes))


def run_fast(task: Task, record: Path | None, *, unchecked: bool = False) -> int:
    """Simulate the whole task in compiled code."""
    say_start(task, arm_of(task))
    began, first = time.perf_counter(), list[float]()
    with progress("simulating") as update:

        def advanced(share: float) -> None:
            first.append(time.perf_counter())
            update(share)

        run = simulate(task, advanced, lift_off=True, unchecked=unchecked)
    taken, start_s = time.perf_counter() - began, first[0] - began
    unsaved = _unsaved(run, record) if record else None
    done = len(run.records) * task.dt
    out.print(
        f"{done:.3g} s simulated in {taken:.2f} s, of which {start_s:.2f} s were start-up "
        f"({done / (taken - start_s):.3g}× real time without it)."
    )
    _summary(task, run.records, run.normal_n)
    _warn_of_starving(task, run.records)
    if record and unsaved is None:
        out.print(f"Recording: {record}")
    if run.fault:
        raise _fault_of(run, record, unsaved)
    if unsaved is not None:
        raise unsaved
    _must_not_fail(run.records, parameters_of(type(task.params), run.sets[-1][2][0]))
    return 0


def _unsaved(run: Run, path: Path) -> UnwritableError | None:
    """Write a run to a file; returns the error if that fails. A fault of the run matters more than its file."""
    try:
        run.save(path)
    except UnwritableError as error:
        return error
    return None


def _fault_of(run: Run, record: Path | None, unsaved: UnwritableError | None) -> LoopError:
    """The error of a run that ended in a fault, with the file that shows it, or why there is none."""
    try:
        if unsaved is not None:
            raise unsaved
        return LoopError(run.fault, record or save_last_seconds(run))
    except (OSError, UnwritableError) as error:
        return LoopError(f"{run.fault} (the last seconds could not be saved: {str(error).rstrip('.')})")


def run_paced(
    task: Task,
    record: Path | None,
    *,
    meanwhile: Callable[[], object] | None = None,
    watch: Path | None = None,
    name: str | None = None,
    unchecked: bool = False,
    ros2: bool = False,
    yes: bool = False,
) -> int:
    """Run the task in the control process, in real time; `meanwhile` is called once it runs.

    Before a real robot moves, or one that subscribes over ROS 2, the user is asked once, unless `yes`. `watch` is a
    task file whose parameters are applied whenever it is saved, `name` names the loop, `ros2` starts the bridge. A run
    that ends in a fault is summarised too, before the error is raised.
    """
    session = Session(task, record=record, ticks=task.ticks, name=name, unchecked=unchecked)
    say_start(task, session.arm, session.name)
    ask_once(task, yes=yes)
    parts: list[np.ndarray[Any, Any]] = []
    watcher = FileWatch(watch, session) if watch else None  # now: what is saved while the loop starts counts too
    beside = _ask_and_bridge(session, yes=yes) if ros2 else nullcontext()
    with session:
        granted = session.notes.get("granted", {})
        pid = int(session.board.header.loop_pid)
        out.print(f"Real-time scheduling: {', '.join(granted.values())}. Process ID (PID) of the control loop: {pid}.")
        with beside:  # the loop runs: now the bridge starts
            parts += _until_it_ends(session, meanwhile, watcher)
            parameters = session.parameters
            fault = _stopped(session)
            parts.append(session.read())
        if session.lost:
            err.print(f"{session.lost} records were lost and are not in the summary: reading was too slow.")
    records = np.concatenate(parts)
    _summary(task, records)
    if record:
        out.print(f"Recording: {record}")
        if session.recording_problem and not isinstance(fault, RecordingError):
            err.print(f"Warning: {session.recording_problem}")
    if fault is not None:
        raise fault
    _must_not_fail(records, parameters)
    return 0


def _stopped(session: Session) -> LoopError | RecordingError | None:
    """Stop the loop; returns the fault that it has ended by, or what is wrong with its recording."""
    try:
        session.stop()
    except (LoopError, RecordingError) as error:
        return error
    return None


def _until_it_ends(
    session: Session, meanwhile: Callable[[], object] | None, watcher: FileWatch | None
) -> list[np.ndarray[Any, Any]]:
    """Show how far the loop is until it ends, or Ctrl-C; returns its records."""
    parts, warned, lost_recorder = [], False, False
    with progress("running") as update:
        try:
            if meanwhile:
                meanwhile()
            while session.running:
                if watcher and (said := watcher.poll()):
                    err.print(said)
                parts.append(session.read())
                warned = warned or _warn_of_starving(session.task, parts[-1])
                if not lost_recorder and (problem := session.recording_problem):
                    lost_recorder = True
                    err.print(f"Warning: {problem} The loop keeps running.")
                update(session.board.head / session.task.ticks)
                time.sleep(0.05)
        except KeyboardInterrupt:
            err.print("Stopping.")
    return parts


def _must_not_fail(records: np.ndarray[Any, Any], parameters: Any) -> None:
    """Raise if the law of a run failed: the loop went on, but what was asked for was not done."""
    from pliant.analysis.transitions import failure, laws_with_states

    if reason := failure(records, parameters):
        raise LawError(" and ".join(law.subject for law in laws_with_states(records)), reason)


def _summary(task: Task, records: np.ndarray[Any, Any], normal_n: np.ndarray[Any, Any] | None = None) -> None:
    from pliant.analysis.run_figures import run_figures

    if not len(records):
        out.print("The loop did not tick.")
        return
    out.print(figures_table(run_figures(records, normal_n), f"{len(records) * task.dt:.3g} s, {_ticks(len(records))}"))
    _states_table(task, records)


def _ticks(n: int) -> str:
    return f"{n} tick{'s' * (n != 1)}"


def _states_table(task: Task, records: np.ndarray[Any, Any]) -> None:
    """Every state change and rejected command of the laws that have states."""
    from pliant.analysis.transitions import laws_with_states, transitions

    found = transitions(records, task.ticks)
    if not found:
        return
    subjects = ", ".join(law.subject for law in laws_with_states(records))
    table = Table(title=subjects[:1].upper() + subjects[1:], title_justify="left", box=None, pad_edge=False)
    table.add_column("time [s]", justify="right")
    table.add_column("state")
    table.add_column("reason")
    shown = found if len(found) <= _MOST else [*found[: _MOST // 2], *found[-_MOST // 2 :]]
    for i, one in enumerate(shown):
        if len(found) > _MOST and i == _MOST // 2:
            table.add_row("…", "", f"{len(found) - len(shown)} more; a recording contains all of them")
        table.add_row(f"{one.time_s:.3f}", one.state, one.reason)
    out.print(table)
