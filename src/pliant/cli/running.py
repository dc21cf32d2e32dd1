"""Running a task for the command line: in real time or as fast as possible, with progress and a summary."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np
from rich.text import Text

from pliant.cli.show import claim, err, figures_table, out, progress
from pliant.errors import LoopError
from pliant.params.declare import changed, parse_assignment, validated
from pliant.runtime.batch import simulate
from pliant.runtime.save import save_last_seconds, save_run
from pliant.runtime.session import Session
from pliant.runtime.task import Task, located
from pliant.runtime.watch import FileWatch


def change_task(task: Task, changes: dict[str, Any], assignments: list[str]) -> Task:
    """The task with other robot, rate, duration or seed, and with ``--set`` values; validated as a whole."""
    data = task.model_dump()
    for name, value in changes.items():
        if value is not None:
            (data["sim"] if name == "seed" else data)[name] = value
    data["params"] = changed(task.params, dict(parse_assignment(text) for text in assignments)).model_dump()
    return located(validated(Task, data))


def say_start(task: Task, loop: str = "") -> None:
    """What is about to move, in which loop, and within which limits."""
    limits = task.params.limits
    kind, _, which = task.robot.partition(":")
    out.print(
        Text(task.name, "bold"),
        f"{task.law} on {kind}:{Path(which).name} by {task.interface} at {task.rate_hz:g} Hz for "
        f"{task.duration_s:g} s; joint speed ≤ {limits.speed_scale:.0%} and acceleration ≤ "
        f"{limits.acceleration_scale:.0%} of the robot's own limits, tool speed ≤ {limits.linear_speed_m_s:g} m/s and "
        f"{limits.angular_speed_rad_s:g} rad/s." + (f" Loop {loop}." if loop else ""),
        sep=": ",
    )
    for note in task.notes:
        out.print(f"  {note}")


def run_fast(task: Task, record: Path | None) -> int:
    """Simulate the whole task in compiled code."""
    claim(record)
    say_start(task)
    began = time.perf_counter()
    with progress("simulating") as update:
        run = simulate(task, update)
    taken = time.perf_counter() - began
    if record:
        save_run(run, record)
    done = len(run.records) * task.dt
    out.print(f"{done:.2f} s simulated in {taken:.2f} s ({done / taken:.0f}× real time).")
    _summary(task, run.records)
    if record:
        out.print(f"Recording: {record}")
    if run.fault:
        raise LoopError(run.fault, record or save_last_seconds(run))
    return 0


def run_paced(
    task: Task,
    record: Path | None,
    *,
    meanwhile: Callable[[], object] | None = None,
    watch: Path | None = None,
    name: str | None = None,
    unchecked: bool = False,
) -> int:
    """Run the task in the control process, in real time; `meanwhile` is called once it runs.

    `watch` names a task file whose parameters are applied whenever it is saved, `name` the loop. A run that a fault
    has ended is summed up too, before the error is raised.
    """
    session = Session(task, record=record, ticks=task.ticks, name=name, unchecked=unchecked)
    say_start(task, session.name)
    parts, fault = [], None
    with session:
        granted = session.notes.get("granted", {})
        out.print(f"The loop was granted: {', '.join(granted.values())}.")
        with progress("running") as update:
            try:
                if meanwhile:
                    meanwhile()
                watcher = FileWatch(watch, session) if watch else None
                while session.running:
                    if watcher and (said := watcher.poll()):
                        err.print(said)
                    parts.append(session.read())
                    update(session.board.head / task.ticks)
                    time.sleep(0.05)
            except KeyboardInterrupt:
                err.print("Stopping.")
        try:
            session.stop()
        except LoopError as error:
            fault = error
        parts.append(session.read())
        if session.lost:
            err.print(f"{session.lost} records came too late to be shown.")
    _summary(task, np.concatenate(parts))
    if record:
        out.print(f"Recording: {record}")
    if fault is not None:
        raise fault
    return 0


def _mm(metres: SupportsFloat) -> float:
    """In millimetres, to the micrometre: what is less is nothing to a reader."""
    return round(float(metres) * 1e3, 3)


def _summary(task: Task, records: np.ndarray[Any, Any]) -> None:
    from pliant.analysis.figures import told

    if not len(records):
        out.print("Nothing was recorded.")
        return
    moved = records["observed"]["pose"][:, :3] - records["observed"]["pose"][0, :3]
    force = np.linalg.norm(records["observed"]["wrench"][:, :3], axis=1)
    figures = [
        told("peak external force", round(force.max(), 6), "N"),
        told("farthest from the start", _mm(np.linalg.norm(moved, axis=1).max()), "mm"),
        told("distance from the start at the end", _mm(np.linalg.norm(moved[-1])), "mm"),
        told("peak tool speed", _mm(np.linalg.norm(records["observed"]["twist"][:, :3], axis=1).max()), "mm/s"),
    ]
    silent = int((records["state"]["trouble"] != 0).sum())
    if silent:
        figures.append(told("ticks without a good force reading", silent))
    if records["revision"].max() > 0:
        figures.append(told("changes of parameters", records["revision"].max()))
        figures.append(told("energy that they took from the tank", round(records["state"]["injected_j"][-1], 6), "J"))
    timing = records["timing"]
    if timing["wall_ns"][0]:
        late = timing["late_s"] * 1e6
        figures += [
            told("wake-up lateness, median", np.median(late), "µs"),
            told("wake-up lateness, 99 %", np.percentile(late, 99), "µs"),
            told("periods missed", timing["overruns"][-1]),
        ]
    out.print(figures_table(figures, f"{len(records) * task.dt:.2f} s, {len(records)} ticks"))
