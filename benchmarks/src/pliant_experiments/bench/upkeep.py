"""Overhead of a tick besides control: telemetry, checking for new parameters, applying them."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from pliant.analysis.targets import Figure, at_most, reported
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import record_of
from pliant.control.published import Published
from pliant.kernel import kernel
from pliant.loop.board import Board
from pliant.loop.pacing import PACE
from pliant.loop.periods import finish
from pliant.loop.slots import has_request
from pliant.loop.task_runner import TaskRunner
from pliant.params.declare import changed
from pliant.records import copied
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Task
from pliant_experiments.scenes.probe_tool import TOOL

_SLOTS, _TICKS = 2500, 5000  # five seconds at 500 Hz, as on the board


@kernel
def _publish(at, ring, r, g, o, c, s, w, dt, pace, n):
    for number in range(n):
        finish(at, ring, r, g, o, c, s, w, dt, number, 0, pace)


def _shortest(function: Any, *args: Any, repeat: int = 9) -> float:
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        function(*args)
        taken.append(time.perf_counter() - began)
    return min(taken)


def _change(simulation: Simulation, name: str, value: float) -> float:
    """Time of a change from Python [s], from the dictionary to the controller's record, with every check."""
    times = []
    for i in range(200):
        began = time.perf_counter()
        simulation.set({name: value * (1 + i % 2)})
        times.append(time.perf_counter() - began)
    return min(times)


def _adoption(task: Task, *changes: tuple[str, float]) -> list[float]:
    """Time [s] for which the loop adopts a proposed set with each of these changes: checks, matrices, publishing."""
    board = Board.create(f"bench-{os.getpid()}", {}, _SLOTS)
    try:
        runner = TaskRunner(task, board.adopt)
        runner.begin()
        found = []
        for name, value in changes:
            both = [record_of(changed(task.params, {name: value * factor})) for factor in (1, 2)]
            times = []
            for number in range(200):
                began = time.perf_counter()
                parameters = copied(both[number % 2])
                if not runner.accepts(parameters):
                    raise AssertionError(f"a good set was rejected: {name}")
                runner.adopt(parameters, number)
                times.append(time.perf_counter() - began)
            found.append(min(times))
        return found
    finally:
        board.remove()


def _one_step(simulation: Simulation) -> tuple[float, float]:
    """A period in compiled code, and what a call of `step` from Python adds to it [s]; both in turn."""
    simulation.step(_TICKS // 10)
    inside, outside = [], []
    for _ in range(30):
        began = time.perf_counter()
        simulation.step(200)
        middle = time.perf_counter()
        for _ in range(200):
            simulation.step()
        inside.append((middle - began) / 200)
        outside.append((time.perf_counter() - middle) / 200)
    return min(inside), min(outside) - min(inside)


def upkeep() -> list[Figure]:
    """Figures of the overhead."""
    simulation = Simulation(Task(law="admittance", tool=TOOL))
    simulation.advance(10)
    period, call = _one_step(simulation)
    controller, head, words = simulation.runner.controller, np.zeros(1, np.int64), np.zeros(3, np.int64)
    t = controller.telemetry.new()
    published = Published.of(controller.arm.n, simulation.task.interface, type(simulation.task.params))
    ring = np.zeros(_SLOTS * (published.step + 8), np.uint8)
    place = (head.ctypes.data, ring.ctypes.data, _SLOTS, published.plan.ctypes.data, published.step)
    where = (place, *controller.results, simulation.task.dt, PACE.new())
    _publish(t.ctypes.data, *where, 1)
    telemetry = _shortest(_publish, t.ctypes.data, *where, _TICKS) / _TICKS
    door = [words.ctypes.data + 8 * i for i in range(3)]
    has_request(*door, 0)
    look = (
        _shortest(lambda: [has_request(*door, 0) for _ in range(_TICKS)]) / _TICKS
    )  # called from Python, as in the loop
    plain, gains = _adoption(simulation.task, ("sense.cutoff_hz", 10.0), ("admittance.stiffness", 150.0))
    set_plain = _change(simulation, "sense.cutoff_hz", 10.0)
    set_gains = _change(simulation, "admittance.stiffness", 150.0)
    bytes_of = {name: published.bytes_of(LAWS[name].number) for name in ("admittance", "contact")}
    return [
        at_most("telemetry of a tick, filled and published", telemetry * 1e6, "µs", 2.0),
        at_most("published telemetry of a tick, admittance", bytes_of["admittance"], "bytes", 1500.0),
        reported("published telemetry of a tick, contact", bytes_of["contact"], "bytes"),
        at_most("check for new parameters and requests, every tick", look * 1e6, "µs", 2.0),
        reported("period of a simulated robot, inside compiled code", period * 1e6, "µs"),
        at_most("one step of a Simulation from Python, beyond that period", call * 1e6, "µs", 6.0),
        at_most("adopting a set without new gains in the loop, once", plain * 1e6, "µs", 100.0),
        at_most("adopting a set with new gains in the loop, once", gains * 1e6, "µs", 100.0),
        at_most("a change without new gains from Python (set of a Simulation)", set_plain * 1e6, "µs", 150.0),
        at_most("a change with new gains from Python (set of a Simulation)", set_gains * 1e6, "µs", 300.0),
    ]
