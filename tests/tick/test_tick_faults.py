"""Numbers that are none and sensors that fail: the arm comes to rest, and nothing bad reaches the command."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ideal_cell import DT, INTERFACES, Cell, finite, moving
from numpy.testing import assert_allclose, assert_array_equal

from pliant.records import (
    FAULT_NUMBER,
    FAULT_SENSOR,
    IDLE,
    MODES,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_OK,
    WRENCH_SATURATED,
)

# ---- bad numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("field", ["q", "qd"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_bad_joint_reading_is_a_fault_and_never_reaches_the_command(interface: str, field: str, value: float) -> None:
    cell = moving(interface)
    q, qd = cell.state.q_cmd.copy(), cell.state.qd_cmd.copy()
    cell.reading[field][2] = value
    for _ in range(500):
        cell.tick(follow=False, sense=False)
        assert cell.state.fault == FAULT_NUMBER
        assert finite(cell)
        assert cell.command.mode == (IDLE if interface == "torque" else MODES[interface])
    assert cell.controller.at_rest
    if interface != "torque":
        assert_array_equal(cell.command.qd, 0.0)
    assert cell.hardest <= 1 + 1e-6
    assert np.abs(cell.state.q_cmd - q).max() < np.abs(qd).max() ** 2 / 7.0 + 1e-3


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_bad_joint_reading_before_the_start_leaves_the_robot_idle(interface: str) -> None:
    cell = Cell(interface)
    cell.reading.q[0] = math.nan
    cell.tick(10, sense=False)
    assert (cell.state.fault, cell.command.mode) == (FAULT_NUMBER, IDLE)
    cell.reading.q[0] = 0.0
    cell.tick(10, sense=False)
    assert (cell.state.fault, cell.command.mode) == (FAULT_NUMBER, IDLE)
    assert finite(cell)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_bad_joint_reading_after_a_lost_sensor_does_not_reach_the_command_either(interface: str) -> None:
    cell = moving(interface)
    cell.reading.wrench_state = WRENCH_MISSING
    cell.tick(15)
    assert cell.state.fault == FAULT_SENSOR + WRENCH_MISSING
    cell.reading.q[:6] = math.nan
    for _ in range(300):
        cell.tick(follow=False, sense=False)
        assert finite(cell)
    assert cell.controller.at_rest
    assert np.isfinite(cell.observed.pose).all()


def test_a_fault_is_latched() -> None:
    cell = moving()
    good = cell.reading.q.copy()
    cell.reading.q[0] = math.nan
    cell.tick(follow=False, sense=False)
    cell.reading.q[:] = good
    cell.tick(1000)
    assert cell.state.fault == FAULT_NUMBER
    assert cell.controller.at_rest


def test_joints_that_the_arm_does_not_have_are_not_looked_at() -> None:
    cell = moving()
    cell.reading.q[6:] = math.nan
    cell.tick(follow=False)
    assert cell.state.fault == 0
    assert finite(cell)


# ---- a sensor that fails -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("how", ["missing", "saturated", "nan"])
def test_a_lost_sensor_is_held_then_stops_the_arm_within_its_limits(interface: str, how: str) -> None:
    cell = moving(interface)
    held = cell.observed.wrench.copy()
    if how == "nan":
        cell.reading.wrench[3] = math.nan
    else:
        cell.reading.wrench_state = WRENCH_MISSING if how == "missing" else WRENCH_SATURATED
        cell.reading.wrench[:] = 0.0
    ticks = []
    for _ in range(400):
        cell.tick(sense=False)
        ticks.append(bool(cell.state.fault))
        assert_array_equal(cell.observed.wrench, held)
        assert finite(cell)
    assert ticks.index(True) * DT == pytest.approx(0.02, abs=DT)
    troubles = {"missing": WRENCH_MISSING, "saturated": WRENCH_SATURATED, "nan": WRENCH_NAN}
    assert cell.state.fault == FAULT_SENSOR + troubles[how]
    assert cell.controller.at_rest
    assert cell.hardest <= 1 + 1e-6


def test_a_short_dropout_does_not_change_the_wrench_that_the_law_feels() -> None:
    cell = Cell()
    cell.push[0] = 15.0
    cell.tick(500)
    cell.reading.wrench_state, filtered = WRENCH_MISSING, cell.state.wrench_lp.copy()
    cell.reading.wrench[:] = 0.0
    cell.tick(8, sense=False)
    cell.reading.wrench_state = WRENCH_OK
    cell.tick(500)
    assert cell.state.fault == 0
    assert_allclose(cell.state.wrench_lp, filtered, atol=1e-6)


@pytest.mark.parametrize("interface", INTERFACES)
def test_without_a_first_good_wrench_the_robot_is_not_driven(interface: str) -> None:
    cell = Cell(interface)
    cell.push[0] = 30.0
    cell.reading.wrench_state = WRENCH_MISSING
    for _ in range(5):
        cell.tick()
        assert (cell.command.mode, cell.state.started) == (IDLE, 0)
        assert_array_equal(cell.state.qd_cmd, 0.0)
    cell.reading.wrench_state = WRENCH_OK
    cell.tick()
    assert (cell.command.mode, cell.state.started, cell.state.fault) == (MODES[interface], 1, 0)
    assert_allclose(cell.state.q_cmd[:6], cell.arm.q_home, atol=1e-4)
    # the filter starts at what is felt, not at zero
    assert cell.state.wrench_lp[0] == pytest.approx(30.0)


def test_a_sensor_that_never_answers_is_a_fault_of_a_robot_that_never_moved() -> None:
    cell = Cell()
    cell.reading.wrench_state = WRENCH_MISSING
    cell.tick(100)
    assert (cell.state.fault, cell.command.mode) == (FAULT_SENSOR + WRENCH_MISSING, IDLE)
