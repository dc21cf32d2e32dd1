"""The wrench of a UR becomes ours, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.control.parameters import Parameters, record_of
from pliant.control.sense.external_wrench import external
from pliant.model.arm import Arm
from pliant.model.kinematics import forward_at
from pliant.model.tool import Tool
from pliant.robots.ur.wrench_sign import to_sensor
from support.properties import examples

TURNED = (0.5, 0.5, -0.5, 0.5)
TOOL = Tool(mass_kg=1.2, com_m=(0.01, -0.02, 0.05), tcp_m=(0.03, 0.0, 0.18), tcp_quat=TURNED,
            sensor_m=(0.0, 0.005, 0.02), sensor_quat=(0.5, -0.5, 0.5, 0.5))  # fmt: skip


def felt(arm: Arm, q: Any, tcp_force: Any) -> np.ndarray[Any, Any]:
    """What the law feels of what the controller reports: through the reading and the sense pipeline."""
    raw, out, work = np.zeros(6), np.zeros(6), np.zeros(3)
    to_sensor(arm, q, tcp_force, raw)
    forward_at(arm.handle, q)
    external(arm.handle[0], record_of(Parameters())[0].sense, raw, work, out)
    return out


@examples(60)
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.lists(st.floats(-80, 80), min_size=6, max_size=6))
def test_the_law_feels_exactly_what_the_controller_reports_in_every_pose(q: list[float], force: list[float]) -> None:
    arm = Arm.load("ur5e", TOOL)
    assert felt(arm, np.array(q), force) == pytest.approx(force, abs=1e-10)


def test_push_up_read_plus_z() -> None:
    arm = Arm.load("ur5e", TOOL)
    assert felt(arm, arm.q_home.copy(), [0, 0, 10.0, 0, 0, 0])[2] == pytest.approx(10.0)


def test_at_rest_the_reading_is_the_weight_of_the_tool_on_the_sensor() -> None:
    arm, raw = Arm.load("ur5e", TOOL), np.zeros(6)
    q = arm.q_home + np.array([0.1, 0.2, -0.3, 0.4, 0.5, 0.6])
    to_sensor(arm, q, [0.0] * 6, raw)
    assert raw == pytest.approx(arm.tool_weight(q), abs=1e-12)
