"""Runs on the emulated controller: pushes, a contact, and a killed loop, each with the true signals."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_states import DONE
from pliant.errors import LoopError
from pliant.params.declare import changed
from pliant.session.in_process.fast_run import simulate
from pliant.session.session import Session
from pliant.task.schema import Task, load_task
from pliant.world.world_config import Push
from pliant_experiments.robots.emulator_process import Emulator
from pliant_experiments.scenes.contact_trial import Trace

Array = np.ndarray[Any, Any]

PUSHES, EVERY_S, FORCE_N, MOVED_M = 16, 0.8, 10.0, 2e-4
# How late packets may be here, and how long the last wrench is held then [s].
STALE_S, HOLD_S = 0.5, 0.5
# A joint slower than this is at rest [rad/s].
STANDS = 2e-3
# Fault for runs that do not test the watchdog: both ends share a machine that may stall.
PATIENT = {"fault": "watchdog slow 2"}
# And where it is.
WATCHED: dict[str, str] = {}
# How long an arm may take to stop after a fault on a busy machine [s].
_REST_S = 60.0
_AXES = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])


def patient(name: str) -> Task:
    """A preset task that tolerates stalls of the emulator, which shares this machine; a real controller does not."""
    task = load_task(name)
    params = changed(task.params, {"sense.stale_s": STALE_S, "sense.hold_s": HOLD_S})
    return task.model_copy(update={"params": params})


def task_file(task: Task, folder: str) -> str:
    """The task as a file for `pliant emulate --task`."""
    path = Path(folder) / "task.yaml"
    path.write_text(json.dumps(task.model_dump(mode="json")))  # JSON is YAML
    return str(path)


# ---- from force to motion ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Latency:
    """Times from the start of a push until the tool moves [ms], for all pushes that moved it."""

    times_ms: Array
    missed: int = 0

    @property
    def p50_ms(self) -> float:
        return float(np.percentile(self.times_ms, 50)) if len(self.times_ms) else float("nan")

    @property
    def p99_ms(self) -> float:
        return float(np.percentile(self.times_ms, 99)) if len(self.times_ms) else float("nan")


def pushed_task(seed: int) -> tuple[Task, Array]:
    """Hand guiding with force steps at random times, and their start times [s]."""
    random, base = np.random.default_rng(seed), patient("hand_guiding")
    at = 0.5 + EVERY_S * np.arange(PUSHES) + np.round(random.uniform(0.0, 0.1, PUSHES), 3)
    pushes = tuple(
        Push(at_s=float(t), for_s=0.1, ramp_s=0.0, wrench=(*(FORCE_N * _AXES[i % 4]).tolist(), 0.0, 0.0, 0.0))
        for i, t in enumerate(at)
    )
    sim = base.sim.model_copy(update={"pushes": pushes, "seed": seed})
    return base.model_copy(update={"sim": sim, "duration_s": float(at[-1] + 0.6)}), at


def _latencies(times: Array, tip: Array, began: Array) -> list[float]:
    """From the first period of each push until the tip has deviated from its course by `MOVED_M` [ms]."""
    found = []
    for i, start in enumerate(began):
        first = int(np.searchsorted(times, start))
        seen = slice(first, first + 60)
        course = tip[first] + np.outer(times[seen] - times[first], (tip[first] - tip[first - 10]) / (10 * 0.002))
        moved = (tip[seen] - course) @ _AXES[i % 4] > MOVED_M
        if moved.any():
            found.append(1e3 * float(times[seen][np.argmax(moved)] - times[first]))
    return found


def simulated_latency(seed: int, rounds: int) -> Latency:
    """The same pushes on sim:ur5e."""
    found: list[float] = []
    for i in range(rounds):
        task, at = pushed_task(seed + i)
        records = simulate(task).records
        found += _latencies(records["reading"]["stamp_s"], records["observed"]["pose"][:, :3], at)
    return Latency(np.array(found))


def emulated_latency(seed: int, rounds: int) -> Latency:
    """Pushes on the emulated arm, measured inside the emulator."""
    found, missed = [], 0
    for i in range(rounds):
        task, _ = pushed_task(seed + i)
        records, trace = _run(task)
        missed += int(records["timing"]["overruns"][-1])
        acts = np.linalg.norm(trace["pushed_n"], axis=1) > 0.5 * FORCE_N
        began = trace["time_s"][np.flatnonzero(np.diff(acts.astype(int)) > 0) + 1]
        found += _latencies(trace["time_s"], trace["tip"], began)
    return Latency(np.array(found), missed)


def _run(task: Task) -> tuple[Array, Array]:
    """The task through the emulated controller: the loop's recording, and the true signals."""
    with tempfile.TemporaryDirectory() as folder, Emulator(traced=True, task=task_file(task, folder), **PATIENT) as ur:
        parts = []
        with Session(task.model_copy(update={"robot": ur.robot}), ticks=task.ticks) as session:
            while session.running:
                parts.append(session.read())
                time.sleep(0.05)
                if len(parts[-1]) and parts[-1]["contact"]["state"][-1] == DONE:
                    break
            parts.append(session.read())
        ur.end()
        return np.concatenate(parts), ur.trace()


# ---- a contact -----------------------------------------------------------------------------------------------------


def emulated_contact(task: Task) -> Trace:
    """A contact through the emulated controller, with the true force at the moment of every reading."""
    records, trace = _run(task)
    at = np.clip(np.searchsorted(trace["time_s"], records["reading"]["wrench_stamp_s"] - 1e-6), 0, len(trace) - 1)
    return Trace(records["time_s"], trace["press_n"][at], trace["tip"][at], records)


# ---- by torque -----------------------------------------------------------------------------------------------------


def yielding_task() -> Task:
    """Impedance by joint torques, pushed sideways and released."""
    base = patient("hand_guiding")
    push = Push(at_s=0.5, for_s=1.5, ramp_s=0.2, wrench=(0.0, FORCE_N, 0.0, 0.0, 0.0, 0.0))
    return Task(
        law="impedance", interface="torque", tool=base.tool, duration_s=4.0, params=base.params,
        sim=base.sim.model_copy(update={"pushes": (push,)}),
    )  # fmt: skip


def yielded(emulated: bool) -> tuple[float, float]:
    """True deflection of the tool, and its final distance from the start [mm]."""
    task = yielding_task()
    if emulated:
        trace = _run(task)[1]
        pushed = np.linalg.norm(trace["pushed_n"], axis=1) > 0.0
        tip = trace["tip"][int(np.argmax(pushed)) - 1 :]  # before, the controller may not know of the tool yet
    else:
        tip = simulate(task).records["observed"]["pose"][:, :3]
    away = 1e3 * np.linalg.norm(tip - tip[0], axis=1)
    return float(away.max()), float(away[-1])


# ---- stopping ------------------------------------------------------------------------------------------------------


def settled(ur: Emulator) -> dict[str, Any]:
    """The state of the controller after its program has ended and the arm has stopped, or after a timeout."""
    deadline = time.monotonic() + _REST_S
    while ((state := ur.state)["plays"] or max(map(abs, state["qd"])) >= STANDS) and time.monotonic() < deadline:
        time.sleep(0.02)
    return state


# ---- a loop that is killed -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """How the emulated arm stopped after an event at time 0."""

    speed_rad_s: float
    stopped_s: float
    stands_s: float
    by_watchdog: bool
    since_s: Array
    speed: Array


def stop_of(trace: Array, wall_s: float, why: str) -> Stop:
    """How the arm stopped after the system time `wall_s`."""
    since, speed = trace["wall_s"] - wall_s, np.abs(trace["qd"]).max(axis=1)
    after = since >= 0.0
    stopped = np.flatnonzero(after & (trace["plays"] == 0))
    moving = np.flatnonzero(after & (speed > STANDS))
    last = int(moving[-1]) if len(moving) else int(np.argmax(after))
    stands = last + 1 < len(trace) and bool(after.any())
    near = (since > -0.1) & (since < 0.5)
    return Stop(
        speed_rad_s=float(speed[np.searchsorted(since, 0.0) - 1]),
        stopped_s=float(since[stopped[0]]) if len(stopped) else float("nan"),
        stands_s=float(since[last + 1]) if stands else float("nan"),
        by_watchdog="watchdog" in why and stands,
        since_s=since[near],
        speed=speed[near],
    )


def killed(interface: str) -> Stop:
    """Kill the loop while a push moves the arm, and observe the controller."""
    base = patient("hand_guiding")
    push = Push(at_s=0.3, for_s=60.0, ramp_s=0.1, wrench=(0.0, 8.0, 0.0, 0.0, 0.0, 0.0))
    task = base.model_copy(update={
        "sim": base.sim.model_copy(update={"pushes": (push,)}), "interface": interface, "duration_s": 30.0,
    })  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, Emulator(traced=True, task=task_file(task, folder), **WATCHED) as ur:
        session = Session(task.model_copy(update={"robot": ur.robot})).start()
        session.wait(0.9)
        wall = time.monotonic()
        os.kill(int(session.board.header.loop_pid), signal.SIGKILL)
        why = settled(ur)["why"]
        with suppress(LoopError):
            session.stop()
        ur.end()
        return stop_of(ur.trace(), wall, why)
