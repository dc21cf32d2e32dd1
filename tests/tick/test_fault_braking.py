"""After a latched fault, an arm driven by torques brakes: no joint gets faster than it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant import Simulation, Task
from pliant.model import Tool
from pliant.params.declare import Six
from pliant.records import FAULT_SENSOR
from pliant.world.world_config import Failure, Push, Sensor, SimConfig
from support.properties import examples

Three = tuple[float, float, float]

TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
# Torques take effect so many ticks late: 4 ms, and the tick in which the fault is found.
LATE = 3
# A joint that hardly moved may still be moved so fast [rad/s]: the brake learns of it as late. The torques that brake
# the fastest joint act on the others, too, and what compensates this is late as well: a share of the fastest speed.
STILL, COUPLED = 0.01, 0.01
# The push rises at 0.05 s. From this time on the sensor has measured it: an arm cannot brake against an unknown load.
KNOWN_S = 0.12


def braking(law: str, wrench: Six, at_s: float, seed: int) -> np.ndarray[Any, Any]:
    """Joint speeds of every tick from the fault on."""
    sim = SimConfig(
        seed=seed, realism="ideal", pushes=(Push(at_s=0.05, for_s=10.0, wrench=wrench),),
        # without noise: that of the last reading goes on acting after the fault, as a push that nobody makes
        sensor=Sensor(noise_n=0.0, noise_nm=0.0, failures=(Failure(kind="missing", at_s=at_s),)),
    )  # fmt: skip
    params = {"sense": {"frozen_s": 0.0}}
    task = Task.model_validate(
        {"robot": "sim:ur5e", "law": law, "interface": "torque", "tool": TOOL, "duration_s": 4.0, "sim": sim}
        | {"params": params}
    )
    records = Simulation(task, unchecked=True).advance(1500)
    faults = records["state"]["fault"]
    assert faults[-1] == FAULT_SENSOR + 1
    return np.abs(records["reading"]["qd"][np.argmax(faults != 0) :, :6])


@pytest.mark.parametrize("law", ["admittance", "impedance"])
@examples(10, deadline=None)
@given(
    force=st.tuples(*[st.floats(-60.0, 60.0)] * 3), moment=st.tuples(*[st.floats(-4.0, 4.0)] * 3),
    at_s=st.floats(KNOWN_S, 0.5), seed=st.integers(0, 1000),
)  # fmt: skip
def test_no_joint_gets_faster_after_a_fault(law: str, force: Three, moment: Three, at_s: float, seed: int) -> None:
    speeds = braking(law, force + moment, at_s, seed)
    at_first = speeds[: LATE + 1].max(axis=0)
    assert (speeds - at_first).max() < STILL + COUPLED * at_first.max()
    assert speeds[-1].max() < STILL


def test_an_arm_in_fast_motion_stops_within_its_acceleration_limits() -> None:
    speeds = braking("admittance", (60.0, 40.0, -50.0, 0.0, 0.0, 0.0), 0.4, 0)
    assert speeds[0].max() > 0.15
    assert (np.diff(speeds[LATE:], axis=0).max(axis=1) < STILL).all()
