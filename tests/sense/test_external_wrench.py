"""From the raw sensor to the wrench at the tool: weight, bias, lever arms, low-pass, deadband."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from pliant.control.parameters import Sense
from pliant.control.sense import external_wrench
from pliant.kernel import kernel
from pliant.model import HANDLE, Arm, Tool
from pliant.params.packing import to_record
from pliant.records import STATE
from support.properties import examples

Array = np.ndarray[Any, Any]


def sense(**values: Any) -> Any:
    return to_record(Sense(**values))[0]


def external(handle: Any, raw: Any, **values: Any) -> Array:
    out = np.full(6, np.nan)
    external_wrench.external(handle, sense(**values), np.asarray(raw, float), np.zeros(3), out)
    return out


def random_handle(random: np.random.Generator) -> Any:
    """A tool and a sensor anywhere, in a gravity that points anywhere."""
    h = HANDLE.new()[0]
    for pose in (h.X_tool, h.X_sensor):
        pose[:3] = random.uniform(-1, 1, 3)
        pose[3:] = Rotation.from_quat(random.normal(size=4)).as_quat(scalar_first=True)
    h.gravity[:] = random.uniform(-10, 10, 3)
    h.tool_mass, h.tool_com[:] = random.uniform(0, 5), random.uniform(-0.3, 0.3, 3)
    return h


def rotation(pose: Any) -> Array:
    return Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()


def raw_wrench(h: Any, outside: Array, bias: Array) -> Array:
    """What a sensor shows: the outside wrench (base axes, at the tool) and the tool's weight, moved to its origin."""
    R, weight = rotation(h.X_sensor), h.tool_mass * h.gravity
    arm = h.X_tool[:3] - h.X_sensor[:3]
    force = outside[:3] + weight
    moment = outside[3:] + np.cross(arm, outside[:3]) + np.cross(R @ h.tool_com, weight)
    return np.concatenate([R.T @ force, R.T @ moment]) + bias


# ---- weight, bias, transport ---------------------------------------------------------------------------------------


def test_weight_and_bias_are_removed_exactly_in_any_pose() -> None:
    random = np.random.default_rng(1)
    for _ in range(500):
        h, outside, bias = random_handle(random), random.uniform(-20, 20, 6), random.uniform(-5, 5, 6)
        found = external(h, raw_wrench(h, outside, bias), bias=tuple(bias))
        assert_allclose(found, outside, rtol=0, atol=1e-12)


def test_weight_is_removed_exactly_from_a_real_arm_in_any_pose() -> None:
    tool = Tool(
        mass_kg=1.3,
        com_m=(0.02, -0.01, 0.07),
        tcp_m=(0.01, 0.02, 0.2),
        sensor_m=(0, 0, 0.03),
        sensor_quat=(0.6, 0, 0, 0.8),
    )
    arm, random = Arm.load("ur5e", tool, mount_rpy_deg=(30, 20, 10)), np.random.default_rng(2)
    for q in random.uniform(-3, 3, (200, 6)):
        arm.pose(q)
        outside = random.uniform(-20, 20, 6)
        assert_allclose(external(arm.handle[0], raw_wrench(arm.handle[0], outside, np.zeros(6))), outside, atol=1e-12)


def test_lever_arm_of_254_mm_turns_10_n_into_254_centimetre_newtons() -> None:
    h = HANDLE.new()[0]
    h.X_tool[:], h.X_sensor[:] = (0, 0, 0, 1, 0, 0, 0), (0, 0, -0.254, 1, 0, 0, 0)
    assert_array_equal(external(h, (10, 0, 0, 0, 0, 0)), (10, 0, 0, 0, -2.54, 0))
    assert_array_equal(external(h, (0, 10, 0, 0, 0, 0)), (0, 10, 0, 2.54, 0, 0))
    # a pure push at the tip, as the sensor sees it, has no moment at the tip
    assert_array_equal(external(h, (10, 0, 0, 0, 2.54, 0)), (10, 0, 0, 0, 0, 0))


def test_a_push_at_the_tool_has_no_moment_wherever_the_base_is() -> None:
    h = HANDLE.new()[0]
    h.X_tool[:], h.X_sensor[:] = (0.492, 0.133, 0.205, 1, 0, 0, 0), (0.492, 0.133, 0.205, 1, 0, 0, 0)
    assert_array_equal(external(h, (10, 0, 0, 0, 0, 0)), (10, 0, 0, 0, 0, 0))


def test_a_push_up_reads_positive_z_although_the_tool_points_down() -> None:
    arm = Arm.load("ur5e")
    arm.pose(arm.q_home)
    R = rotation(arm.handle[0].X_sensor)
    assert_allclose(R[:, 2], (0, 0, -1), atol=1e-12)
    felt = R.T @ (0, 0, 5.0)
    assert felt[2] < 0
    assert_allclose(external(arm.handle[0], (*felt, 0, 0, 0)), (0, 0, 5, 0, 0, 0), atol=1e-12)


def test_power_is_the_same_at_the_sensor_and_at_the_tool() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        h = random_handle(random)
        h.tool_mass = 0.0
        raw, v, omega = random.normal(size=6), random.normal(size=3), random.normal(size=3)
        R = rotation(h.X_sensor)
        v_sensor = v + np.cross(omega, h.X_sensor[:3] - h.X_tool[:3])
        at_sensor = raw[:3] @ R.T @ v_sensor + raw[3:] @ R.T @ omega
        assert math.isclose(external(h, raw) @ np.concatenate([v, omega]), at_sensor, abs_tol=1e-12)


def test_the_raw_reading_is_left_alone() -> None:
    raw = np.arange(6.0)
    h = random_handle(np.random.default_rng(4))
    external(h, raw)
    assert_array_equal(raw, np.arange(6.0))


# ---- low-pass ------------------------------------------------------------------------------------------------------


@kernel
def _filtered(p, s, inputs, dt, outputs):
    for k in range(inputs.shape[0]):
        external_wrench.low_pass(p[0], s[0], inputs[k], dt)
        outputs[k] = s[0].wrench_lp


def filtered(inputs: Array, cutoff: float, rate: float) -> Array:
    outputs, six = np.zeros((len(inputs), 6)), np.repeat(inputs[:, None], 6, 1)
    _filtered(to_record(Sense(cutoff_hz=cutoff)), STATE.new(), six, 1 / rate, outputs)
    assert_array_equal(outputs, np.repeat(outputs[:, :1], 6, 1))
    return outputs[:, 0]


@pytest.mark.parametrize("rate", [250.0, 500.0, 1000.0])
@pytest.mark.parametrize("cutoff", [1.0, 2.0, 4.0])
def test_step_response_is_that_of_a_first_order_lag_far_below_the_rate(rate: float, cutoff: float) -> None:
    answer = filtered(np.ones(400), cutoff, rate)
    times = np.arange(1, 401) / rate
    assert_allclose(answer, 1 - np.exp(-2 * np.pi * cutoff * times), atol=0.003)


@pytest.mark.parametrize("rate", [125.0, 500.0, 1000.0])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.4])
def test_a_swing_at_the_cutoff_arrives_with_minus_three_decibels_at_any_rate(rate: float, share: float) -> None:
    cutoff = share * rate
    times = np.arange(round(400 / share)) / rate
    answer = filtered(np.sin(2 * np.pi * cutoff * times), cutoff, rate)
    half = len(times) // 2
    basis = np.column_stack([np.sin(2 * np.pi * cutoff * times), np.cos(2 * np.pi * cutoff * times)])[half:]
    gain = np.linalg.norm(np.linalg.lstsq(basis, answer[half:], rcond=None)[0])
    assert gain == pytest.approx(math.sqrt(0.5), rel=1e-6)


@pytest.mark.parametrize(("coefficient", "hertz"), [(0.10, 8.4), (0.15, 13.0), (0.2, 17.8), (0.8, 176.0)])
def test_the_share_of_a_new_sample_follows_from_the_cutoff(coefficient: float, hertz: float) -> None:
    assert external_wrench.smoothing(hertz, 0.002) == pytest.approx(coefficient, rel=0.01)


def test_a_constant_passes_the_filter_unchanged() -> None:
    assert abs(filtered(np.full(20000, 7.5), 20.0, 500.0)[-1] - 7.5) < 1e-12


@pytest.mark.parametrize("cutoff", [0.1, 400.0])
def test_the_filter_never_overshoots_at_either_end_of_its_bounds(cutoff: float) -> None:
    answer = filtered(np.ones(1000), cutoff, 125.0)
    assert (np.diff(answer) >= 0).all()
    assert answer.max() <= 1.0


# ---- deadband ------------------------------------------------------------------------------------------------------

directions = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda v: np.linalg.norm(v) > 0.1)


def after_deadband(force: Any, moment: Any, **values: Any) -> Array:
    out = np.full(6, np.nan)
    external_wrench.deadband(sense(**values), np.concatenate([force, moment]).astype(float), out)
    return out


@given(directions, directions, st.floats(0, 40), st.floats(0, 5), st.floats(0, 50), st.floats(0, 5))
@examples(200)
def test_deadband_shortens_force_and_moment_by_its_width_and_keeps_their_direction(
    f: list[float], t: list[float], force: float, moment: float, width_n: float, width_nm: float
) -> None:
    f_unit, t_unit = np.array(f) / np.linalg.norm(f), np.array(t) / np.linalg.norm(t)
    found = after_deadband(force * f_unit, moment * t_unit, deadband_n=width_n, deadband_nm=width_nm)
    assert_allclose(found[:3], max(0.0, force - width_n) * f_unit, atol=1e-12)
    assert_allclose(found[3:], max(0.0, moment - width_nm) * t_unit, atol=1e-12)


def test_deadband_is_continuous_at_its_edge() -> None:
    for excess in (1e-3, 1e-6, 1e-9):
        assert_allclose(after_deadband((0, 0, 1 + excess), (0, 0, 0), deadband_n=1.0)[2], excess, rtol=1e-6)
        assert after_deadband((0, 0, 1 - excess), (0, 0, 0), deadband_n=1.0)[2] == 0.0


def test_force_and_moment_have_deadbands_of_their_own() -> None:
    found = after_deadband((0.5, 0, 0), (0, 2, 0), deadband_n=1.0, deadband_nm=0.1)
    assert_allclose(found, (0, 0, 0, 0, 1.9, 0))


def test_deadband_of_nothing_is_nothing() -> None:
    assert_array_equal(after_deadband((0, 0, 0), (0, 0, 0)), np.zeros(6))
    assert_array_equal(after_deadband((0, 0, 0), (0, 0, 0), deadband_n=0.0, deadband_nm=0.0), np.zeros(6))


def test_deadband_of_zero_width_lets_everything_through() -> None:
    given = np.array([1e-9, 2.0, -3.0, 0.1, 1e-12, 4.0])
    assert_allclose(after_deadband(given[:3], given[3:], deadband_n=0.0, deadband_nm=0.0), given, rtol=1e-15)
