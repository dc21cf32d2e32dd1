"""A protective stop of the simulated robot's own controller ends the run, with the reason in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import LoopError


def pushed(**stop: float) -> pliant.Task:
    """An arm that is pushed with 25 N from 0.35 s on, with a robot that supervises itself."""
    changes: dict[str, Any] = {"law": "admittance", "events": [], "sim.realism": "ideal", "sim.effects.stop": stop}
    return pliant.load_task("demo").replace(changes)


CASES = [
    ({"force_n": 15.0}, r"the force on the tool was \d+ N, and the limit is 15 N \(sim\.effects\.stop\.force_n\)"),
    ({"deviation_rad": 1e-5}, r"joint \w+ was [\d.e-]+ rad from its reference, and the limit is 1e-05 rad"),
    ({"speed_share": 0.01}, r"joint \w+ moved at [\d.]+ rad/s, and the limit is [\d.]+ rad/s"),
]


@pytest.mark.parametrize(("stop", "words"), CASES)
def test_a_protective_stop_ends_a_simulation_with_its_reason(stop: dict[str, float], words: str) -> None:
    arm = pliant.Simulation(pushed(**stop))
    with pytest.raises(LoopError, match=words):
        arm.step(1000)
    assert not arm.running
    assert 0.35 <= arm.time_s < 1.0
    assert len(arm.advance(10)) == 0


def test_a_run_that_the_robot_stopped_says_so() -> None:
    run = pliant.simulate(pushed(force_n=15.0))
    assert "made a protective stop" in run.fault
    assert run.records["time_s"][-1] < 1.0


def test_a_robot_within_its_limits_does_not_stop() -> None:
    arm = pliant.Simulation(pushed(force_n=60.0, deviation_rad=0.1, speed_share=1.1))
    arm.step(600)
    assert (arm.fault, arm.running) == ("", True)
    assert np.isfinite(arm.state.reading.q).all()


def test_a_protective_stop_ends_a_paced_loop() -> None:
    with (
        pliant.Session(pushed(force_n=15.0)) as arm,
        pytest.raises(LoopError, match="made a protective stop: the force"),
    ):
        arm.wait(3.0)
