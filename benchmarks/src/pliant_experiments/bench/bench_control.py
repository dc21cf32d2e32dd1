"""Benchmarks: each compares with an alternative in the same run, because absolute times depend on the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.control.controller import Controller
from pliant.control.tick import step
from pliant.kernel import kernel, mj_step
from pliant.model.kinematics import forward, jacobian
from pliant.session.in_process.simulation import Simulation
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.bench.allocation import heap_in_use, numba_allocations
from pliant_experiments.bench.bench_impedance import impedance_tick
from pliant_experiments.bench.lateness import Stop, busy_reader, cyclictest, lateness, plain_loop, studio_with_pages
from pliant_experiments.bench.mujoco_kinematics import by_mujoco, largest_gap, places_of
from pliant_experiments.bench.same_reading import accept_same_reading
from pliant_experiments.bench.upkeep import upkeep
from pliant_experiments.scenes.probe_tool import TOOL


@kernel
def _many_ticks(handle, parameters, state, reading, goal, command, observed, work, mode, dt, n):
    h, p, s, r = handle[0], parameters[0], state[0], reading[0]
    g, c, o, w = goal[0], command[0], observed[0], work[0]
    for _ in range(n):
        r.stamp_s += dt
        r.wrench_stamp_s += dt
        step(h, p, s, r, g, c, o, w, mode, dt)


@kernel
def _many_kinematics(handle, reading, n):
    """One forward kinematics and Jacobian, n times."""
    h, r = handle[0], reading[0]
    for _ in range(n):
        forward(h, r.q)
        jacobian(h)


@kernel
def _many_by_mujoco(handle, places, reading, n):
    """The same with MuJoCo's function."""
    for _ in range(n):
        by_mujoco(handle[0], places[0], reading[0].q)


@kernel
def _many_steps(model, data, n):
    for _ in range(n):
        mj_step(model, data)


def _moving_controller() -> Controller:
    """A UR5e controller in the middle of a push, away from limits and singularities: the ordinary tick."""
    task = Task(
        law="admittance", tool=TOOL, sim=SimConfig(pushes=(Push(at_s=0.0, wrench=(20.0, 5.0, -10.0, 0.5, 0.0, 0.0)),))
    )
    simulation = Simulation(task)
    simulation.advance(100)
    return accept_same_reading(simulation.runner.controller)


def _hard_tick(controller: Controller) -> float:
    """Time of a tick [s] in which gains are ramped and the stopping distance to a face must be computed."""
    parameters, state = controller.parameters.copy(), controller.state.copy()
    controller.parameters[0].limits.workspace_max_m[:] = state[0].pose[:3] + 0.02

    def move() -> None:
        controller.state[:] = state
        controller.state[0].ramp = 0.0
        _many_ticks(*controller.arguments, 100)

    taken = _best(move, 100) / 100
    controller.parameters[:], controller.state[:] = parameters, state
    return taken


def _sliding_controller() -> Controller:
    """A UR5e controller in the middle of a slide over a dome, for longer than any benchmark takes."""
    from pliant_experiments.scenes.contact_trial import QUICK, dome, task

    simulation = Simulation(task((dome(2e4),), QUICK, 0, 60.0, dwell_s=0.2, length_m=10.0, speed_m_s=1e-4))
    simulation.advance(1500)
    return accept_same_reading(simulation.runner.controller)


def _allocated_by(controller: Controller) -> tuple[int, int]:
    """Blocks and bytes that 100,000 ticks allocate beyond what one compiled call takes for its arguments."""

    def blocks(ticks: int) -> int:
        before = numba_allocations()
        _many_ticks(*controller.arguments, ticks)
        return numba_allocations() - before

    one, many = blocks(1), blocks(100001)
    grown = []
    for _ in range(3):  # the interpreter may allocate a block of its own now and then
        before = heap_in_use()
        _many_ticks(*controller.arguments, 100000)
        grown.append(heap_in_use() - before)
    return many - one, min(grown)


def _best(function: Any, repeat: int = 7) -> float:
    """The shortest of several timings [s]: the one least disturbed by other programs."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        function()
        taken.append(time.perf_counter() - began)
    return min(taken)


def tick(seconds: float, progress: Progress) -> Outcome:
    """Time of a tick, inside compiled code and called from Python, compared with NumPy and Pinocchio."""
    began = time.perf_counter()
    controller = _moving_controller()
    n, arguments, state = 400, controller.arguments, controller.state.copy()

    def move() -> None:  # the same part of the push every time
        controller.state[:] = state
        _many_ticks(*arguments, n)

    move()
    inside = _best(move, 300) / n
    arm, places = controller.arm, places_of(controller.arm)
    by_its_own = _best(lambda: _many_by_mujoco(arm.handle, places, controller.reading, n), 300) / n
    kinematics = _best(lambda: _many_kinematics(arm.handle, controller.reading, n), 300) / n
    hard = _hard_tick(controller)
    progress(0.3)
    from pliant.control.tick import tick as compiled

    outside = _best(lambda: [compiled(*arguments) for _ in range(2000)]) / 2000
    blocks, grown = _allocated_by(controller)
    controller.state[:] = state
    sliding = _sliding_controller()
    contact = _best(lambda: _many_ticks(*sliding.arguments, n)) / n
    progress(0.6)
    figures: list[Figure] = [
        at_most("admittance tick inside compiled code", inside * 1e6, "µs", 2.0),
        reported("forward kinematics and Jacobian by MuJoCo, once", by_its_own * 1e6, "µs"),
        at_most("admittance tick relative to that", inside / by_its_own, "×", 2.6),
        at_most("tick of the contact law, sliding, relative to that", contact / by_its_own, "×", 3.2),
        reported("forward kinematics and Jacobian of a tick, once (a tick needs them twice)", kinematics * 1e6, "µs"),
        reported("admittance tick relative to that", inside / kinematics, "×"),
        at_most("largest difference of that Jacobian from MuJoCo's", largest_gap(arm, places), "m, -", 1e-12),
        reported("the same while gains change at a face of the workspace", hard * 1e6, "µs"),
        at_most("tick of the contact law, sliding", contact * 1e6, "µs", 5.0),
        at_most("tick called from Python", outside * 1e6, "µs", 12.0),
        at_most("blocks allocated by 100,000 ticks", blocks, "", 0.0),
        at_most("growth of the C heap over 100,000 ticks", grown, "bytes", 0.0),
        impedance_tick(_many_ticks, _best),
    ]
    notes = [
        "Allocation: Numba's block count of a compiled call with 100,001 ticks minus one with 1; heap by mallinfo2."
    ]
    try:
        from pliant_experiments.rivals.rival_tick import RivalTick
    except ImportError:
        figures.append(reported("times faster than NumPy + Pinocchio", float("nan"), "×"))
        notes.append("Pinocchio is not installed. To compare, run pip install -e '.[dev]' in Pliant's folder.")
    else:
        rival = RivalTick(controller)
        gap = rival.largest_difference(200)
        slow = _best(lambda: [rival.tick() for _ in range(200)], 5) / 200
        figures += [
            reported("the same tick in NumPy + Pinocchio", slow * 1e6, "µs"),
            at_least("times faster than NumPy + Pinocchio, inside compiled code", slow / inside, "×", 10.0),
            reported("times faster than NumPy + Pinocchio, called from Python", slow / outside, "×"),
            at_most("largest difference between the two", gap, "rad", 1e-9),
        ]
    figures += upkeep()
    progress(1.0)
    return Outcome("tick", 0, time.perf_counter() - began, figures, notes)


def sim(seconds: float, progress: Progress) -> Outcome:
    """Speed of the closed-loop simulation relative to real time and to bare mj_step, and with two threads."""
    began = time.perf_counter()
    task = Task(
        law="admittance", tool=TOOL, sim=SimConfig(pushes=(Push(at_s=0.1, for_s=60, wrench=(10.0, 0, 0, 0, 0, 0)),))
    )
    ticks = round(seconds * task.rate_hz)
    one, two = Simulation(task), Simulation(task)
    one.advance(10)
    alone = _best(lambda: one.advance(ticks), 3)
    progress(0.3)
    world = Simulation(task).world
    world.model.opt.gravity[:] = 0.0  # nothing moves, but every step is computed in full
    world.data.qfrc_applied[:] = 0.0
    substeps = int(world.record[0].substeps)
    bare = _best(lambda: _many_steps(world.model._address, world.data._address, ticks * substeps), 3)
    progress(0.6)

    def both() -> None:
        threads = [threading.Thread(target=each.advance, args=(ticks,)) for each in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    scaling = max(2 * _best(lambda: one.advance(ticks), 1) / _best(both, 1) for _ in range(3))
    progress(1.0)
    simulated = ticks * task.dt
    figures = [
        at_least("closed loop, UR5e, 500 Hz", simulated / alone, "× real time", 50.0),
        reported("physics steps per tick", substeps),
        reported("bare mj_step with the same steps", simulated / bare, "× real time"),
        reported("closed loop relative to bare mj_step", alone / bare, "× the time"),
        at_least("two runs in two threads relative to one thread", scaling, "×", 1.7),
    ]
    return Outcome("sim", 0, time.perf_counter() - began, figures)


# Pages that look at the loop at the same time, push its arm and tune it.
_PAGES = 3
# A stop must reach the loop within this time [ms].
_STOP_MS = 200.0
# The pages must not slow the loop: largest factor of its lateness compared with no pages.
_SLOWER = 1.5


def loop(seconds: float, progress: Progress) -> Outcome:
    """Wake-up lateness of the control process, idle and under load, compared with a plain loop and cyclictest."""
    began = time.perf_counter()
    task = Task(law="admittance", tool=TOOL)
    figures: list[Figure] = []
    notes: list[str] = []
    idle, cpu, note = _paced(task, seconds)
    figures += lateness("loop, idle", idle)
    progress(0.2)
    busy, _, _ = _paced(task, seconds, busy_reader)
    figures += lateness("loop, with a busy reader", busy)
    progress(0.4)
    studio, studio_cpu = _in_studio(task, seconds, idle)
    figures += studio
    progress(0.6)
    figures += lateness("plain Python loop, idle", plain_loop(task.dt, seconds, threads=0))
    figures += lateness("plain Python loop, with a busy thread", plain_loop(task.dt, seconds, threads=1))
    progress(0.8)
    found = cyclictest(task.dt, seconds)
    if found is None:
        notes.append("cyclictest is not installed (Debian: rt-tests), so it was not compared.")
    else:
        figures += lateness("cyclictest", found)
    resident, private = note["resident_kib"] / 1024, note["private_kib"] / 1024
    figures += [
        at_most("share of one core at 500 Hz, simulated robot included", 100 * cpu, "%", 5.0),
        reported("the same in the Studio", 100 * studio_cpu, "%"),
        reported("resident memory of the loop", resident, "MiB"),
        reported("private memory of the loop", private, "MiB"),
    ]
    notes.append(f"Real-time scheduling: {', '.join(note['granted'].values())}.")
    progress(1.0)
    return Outcome("loop", 0, time.perf_counter() - began, figures, notes)


def _in_studio(task: Task, seconds: float, idle: np.ndarray[Any, Any]) -> tuple[list[Figure], float]:
    """The loop while pages watch, push, tune and stop it; and its share of a core."""
    stops: list[Stop] = []
    late, share, _ = _paced(task, seconds, lambda session: studio_with_pages(session, _PAGES, stops))
    sent, arrived = 1e3 * np.array([(stop.from_page_s, stop.from_arrival_s) for stop in stops]).T
    ratio = {part: float(np.percentile(late, part) / np.percentile(idle, part)) for part in (50, 99, 99.9)}
    return [
        *lateness(f"loop, in the Studio with {_PAGES} pages", late),
        at_most("the same relative to idle, median", ratio[50], "×", _SLOWER),
        reported("the same relative to idle, 99 %", ratio[99], "×"),
        reported("the same relative to idle, 99.9 %", ratio[99.9], "×"),
        at_most("in the Studio, 99.9 % as a share of the period", float(np.percentile(late, 99.9)) / task.dt, "", 1.0),
        reported("stop from a page until it reaches the loop, median", np.median(sent), "ms"),
        at_most(f"stop from a page until it reaches the loop, worst of {len(stops)}", sent.max(), "ms", _STOP_MS),
        at_most("stop from its arrival at the Studio until it reaches the loop, worst", arrived.max(), "ms", _STOP_MS),
    ], share


def _paced(
    task: Task, seconds: float, beside: Callable[[Session], AbstractContextManager[None]] = lambda _: nullcontext()
) -> tuple[np.ndarray[Any, Any], float, dict[str, Any]]:
    """Lateness [s] of every tick of a paced loop while something else runs, its share of a core, and its notes."""
    with Session(task) as session, beside(session):
        session.wait(0.5)
        session.read()
        ran, clock = _cpu_s(int(session.board.header.loop_pid)), time.monotonic()
        parts, until = [], session.board.head + round(seconds * task.rate_hz)
        while session.board.head < until:  # the ring is too short for a long measurement
            session.wait(min(1.0, seconds))
            parts.append(session.read())
        used = _cpu_s(int(session.board.header.loop_pid)) - ran
        share = used / (time.monotonic() - clock)
        records, note = np.concatenate(parts), session.notes
    return records["timing"]["late_s"], share, note


def _cpu_s(pid: int) -> float:
    """Processor time that a process has used [s]."""
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 (a pseudo-file)
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(seconds: float, progress: Progress) -> Outcome:
    """Start-up time of the commands with compiled kernels."""
    began = time.perf_counter()
    executable = shutil.which("pliant")
    base = [executable] if executable else [sys.executable, "-m", "pliant.cli.main"]
    # Python keeps the bytecode of what it imports, unless someone forbids it
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ordinary: dict[str, Any] = {"check": True, "capture_output": True, "env": surroundings}
    figures = []
    for i, (words, target) in enumerate(((["--help"], 1.0), (["experiment"], 1.0), (["demo"], 8.0))):
        taken = _best(lambda words=words: subprocess.run([*base, *words], **ordinary), 3)
        figures.append(at_most(f"pliant {' '.join(words)}", taken, "s", target))
        progress((i + 1) / 3)
    figures.append(at_most("kernels compiled again by a second start", _compiled_by_a_second_start(), "", 0.0))
    return Outcome("start", 0, time.perf_counter() - began, figures)


def _compiled_by_a_second_start() -> float:
    """Start a process that loads every kernel, and count what it has to compile."""
    code = """
from pliant.compiling.ahead import load_group
from pliant.compiling.entry_points import ALL_LAWS
from pliant.kernel import on_compile
names = []
with on_compile(names.append):
    for group in ("loop", "batch", "replay", *ALL_LAWS):
        load_group(group)
print(len(names))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)
