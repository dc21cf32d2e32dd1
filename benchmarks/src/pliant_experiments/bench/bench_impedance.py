"""Time of a tick of the torque law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.analysis.targets import Figure, at_most
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.bench.same_reading import accept_same_reading
from pliant_experiments.scenes.probe_tool import TOOL


def impedance_tick(many_ticks: Any, best: Callable[[Callable[[], Any], int], float]) -> Figure:
    """Time of the whole impedance tick of a UR5e during a push, inside compiled code."""
    task = Task(
        law="impedance", interface="torque", tool=TOOL,
        sim=SimConfig(pushes=(Push(at_s=0.0, wrench=(20.0, 5.0, -10.0, 0.5, 0.0, 0.0)),)),
    )  # fmt: skip
    simulation = Simulation(task)
    simulation.advance(100)
    controller = accept_same_reading(simulation.runner.controller)
    n, state = 400, controller.state.copy()

    def move() -> None:  # the same part of the push every time, short enough to fit between other programs
        controller.state[:] = state
        many_ticks(*controller.arguments, n)

    move()
    taken = best(move, 300) / n
    return at_most("impedance by torque, six joints, inside compiled code", taken * 1e6, "µs", 5.0)
