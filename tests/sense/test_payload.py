"""A tool's mass, centre and the sensor's bias from readings at rest: exact, with an honest spread, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from pliant.identify.payload_fit import Payload, PayloadError, check, identify
from pliant.identify.payload_motion import com_in_flange, gravity_in_sensor, payload_settings
from pliant.model import Arm, Tool
from support.properties import examples

Array = np.ndarray[Any, Any]

BIAS = np.array([4.0, -6.0, 9.0, 0.3, -0.2, 0.1])
NOISE = np.repeat([0.0126, 0.0003], 3)
MASS, COM = 1.2, np.array([0.02, -0.03, 0.08])


def turns(number: int, seed: int) -> Rotation:
    """Random rotations."""
    return Rotation.from_quat(np.random.default_rng(seed).normal(size=(number, 4)))


def gravity(poses: int = 12, seed: int = 0) -> Array:
    """Gravity in the sensor axes of random orientations."""
    return turns(poses, seed).apply([0.0, 0.0, -9.81])


def readings(g: Array, mass: float = MASS, com: Any = COM, bias: Any = BIAS) -> Array:
    return np.hstack([mass * g, np.cross(mass * np.asarray(com), g)]) + bias


def found(wrenches: Array, g: Array, **options: Any) -> Payload:
    payload = identify(wrenches, g, **options)
    check(payload, max_mass_kg=5.0)
    return payload


# ---- what is found -------------------------------------------------------------------------------------------------


@examples(50)
@given(
    mass=st.floats(0.05, 20), com=st.tuples(*[st.floats(-0.3, 0.3)] * 3), bias=st.tuples(*[st.floats(-20, 20)] * 6),
    poses=st.integers(6, 20), seed=st.integers(0, 1000),
)  # fmt: skip
def test_without_noise_everything_is_found_exactly(mass: float, com: Any, bias: Any, poses: int, seed: int) -> None:
    g = gravity(poses, seed)
    payload = identify(readings(g, mass, com, bias), g)
    assert_allclose(payload.mass_kg, mass, rtol=1e-9)
    assert_allclose(payload.com_m, com, atol=1e-9)
    assert_allclose(payload.bias, bias, atol=1e-8)
    assert_array_equal(payload.mount, np.eye(3))
    assert payload.residual_n < 1e-9
    assert payload.poses == poses


@examples(50)
@given(turn=st.integers(0, 1000), seed=st.integers(0, 1000))
def test_without_noise_the_mount_is_found_exactly_however_it_is_turned(turn: int, seed: int) -> None:
    R, g = turns(1, turn).as_matrix()[0], gravity(8, seed)
    payload = identify(readings(g @ R.T), g, find_mount=True)
    assert_allclose(payload.mount, R, atol=1e-9)
    assert_allclose(payload.com_m, COM, atol=1e-9)
    assert_allclose(payload.bias, BIAS, atol=1e-8)


def test_it_is_the_inverse_of_the_weight_that_the_model_takes_off() -> None:
    half = np.sqrt(0.5)
    tool = Tool(mass_kg=1.7, com_m=(0.03, 0.01, 0.09), sensor_m=(0.0, 0.01, 0.04), sensor_quat=(half, 0.0, 0.0, half))
    arm, blank = Arm.load("ur5e", tool), Tool(sensor_m=tool.sensor_m, sensor_quat=tool.sensor_quat)
    poses = np.random.default_rng(0).uniform(-3, 3, (10, 6))
    payload = identify(
        np.array([arm.tool_weight(q) for q in poses]), np.array([gravity_in_sensor(arm, q) for q in poses])
    )
    assert_allclose(payload.mass_kg, tool.mass_kg, rtol=1e-12)
    assert_allclose(com_in_flange(blank, payload), tool.com_m, atol=1e-12)
    assert_allclose(payload.bias, 0.0, atol=1e-12)


def test_a_mount_is_written_as_the_axes_of_the_sensor_on_the_flange() -> None:
    real = Rotation.from_euler("zx", [30, 5], degrees=True)
    arm = Arm.load("ur5e", Tool(mass_kg=1.0, com_m=(0.02, 0, 0.08), sensor_quat=tuple(real.as_quat(scalar_first=True))))
    believed, poses = Arm.load("ur5e"), np.random.default_rng(1).uniform(-3, 3, (10, 6))
    payload = identify(
        np.array([arm.tool_weight(q) for q in poses]),
        np.array([gravity_in_sensor(believed, q) for q in poses]),
        find_mount=True,
    )
    settings = payload_settings(Tool(), payload)
    assert_allclose(np.abs(np.dot(settings["tool.sensor_quat"], real.as_quat(scalar_first=True))), 1.0, atol=1e-9)
    assert_allclose(settings["tool.com_m"], (0.02, 0, 0.08), atol=1e-6)
    Tool(sensor_quat=tuple(settings["tool.sensor_quat"]))  # and a tool takes it


# ---- how well it is known ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("find_mount", [False, True])
def test_errors_scatter_as_the_standard_deviations_say(find_mount: bool) -> None:
    random, g = np.random.default_rng(2), gravity()
    R = Rotation.from_rotvec([0.1, -0.2, 0.4]).as_matrix() if find_mount else np.eye(3)
    rows = []
    for _ in range(250):
        wrenches = readings(g @ R.T) + NOISE * random.normal(size=(len(g), 6))
        payload = identify(wrenches, g, find_mount=find_mount)
        model_axes = payload.mount.T @ payload.com_m - R.T @ COM
        row = [
            [(payload.mass_kg - MASS) / payload.mass_std_kg],
            (payload.com_m - COM) / payload.com_std_m,
            (payload.bias - BIAS) / payload.bias_std,
            model_axes / np.sqrt(np.diag(payload.com_covariance_m2)),
        ]
        if find_mount:
            row.append(Rotation.from_matrix(payload.mount @ R.T).as_rotvec() / payload.mount_std_rad)
        rows.append(np.concatenate(row))
    spread = np.sqrt((np.array(rows) ** 2).mean(axis=0))
    assert np.abs(spread - 1.0).max() < 0.2, spread
    assert abs(np.mean(rows)) < 0.1


def test_twice_the_noise_is_twice_the_standard_deviation_and_twice_what_is_left_over() -> None:
    g, noise = gravity(), NOISE * np.random.default_rng(3).normal(size=(12, 6))
    once, twice = (identify(readings(g) + scale * noise, g) for scale in (1, 2))
    assert_allclose(twice.mass_std_kg, 2 * once.mass_std_kg, rtol=1e-6)
    assert_allclose(twice.com_std_m, 2 * once.com_std_m, rtol=0.01)
    assert_allclose([twice.residual_n, twice.residual_nm], [2 * once.residual_n, 2 * once.residual_nm], rtol=1e-6)


def test_the_condition_number_knows_no_units_and_grows_as_poses_come_together() -> None:
    g = gravity()
    assert 1.0 <= identify(readings(g), g).condition < 5.0
    assert_allclose(identify(readings(g), 2 * g).condition, identify(readings(g), g).condition)
    tilts = [Rotation.from_euler("xy", [x, y], degrees=True) for x in (-6, 0, 6) for y in (-6, 0, 6)]
    near = np.array([tilt.apply([0, 0, -9.81]) for tilt in tilts])
    assert identify(readings(near), near).condition > 10.0


# ---- what is refused -----------------------------------------------------------------------------------------------


def noisy(g: Array, **truth: Any) -> Array:
    return readings(g, **truth) + NOISE * np.random.default_rng(4).normal(size=(len(g), 6))


def touched(g: Array) -> Array:
    wrenches = noisy(g)
    wrenches[::3, 0] += 8.0
    return wrenches


ALIKE = gravity() * 1e-3 + [0.0, 0.0, -9.81]
REFUSED: dict[str, tuple[Array, Array, str]] = {
    "the published kind": (
        noisy(gravity(), mass=0.072, com=(0, 0.6, 2.5194)),
        gravity(),
        r"mass is 2\.\d+ m from.*plausible",
    ),
    "three poses": (noisy(gravity(3)), gravity(3), "3 poses are too few. At least 4"),
    "poses that are alike": (
        noisy(ALIKE),
        ALIKE,
        r"too similar to separate weight from offset \(condition number \d+, at m",
    ),
    "too heavy": (noisy(gravity(), mass=6.0), gravity(), r"6\.00 kg is more than the arm can carry \(5 kg\)"),
    "something that touches": (
        touched(gravity()),
        gravity(),
        r"not fit a rigid tool: the residual is \d\.\d+ N .*--mount",
    ),
    "too light": (noisy(gravity(), mass=0.01), gravity(), r"too uncertain: mass 0\.0\d+ ± 0\.000\d kg"),
    "the opposite sign": (-noisy(gravity()), gravity(), r"mass is -1\.\d+ kg. Check the sign"),
    "almost no weight": (
        noisy(gravity(), mass=1e-5),
        gravity(),
        r"mass is 0\.000 kg, too small to be a tool\. Mount the tool, or check the sign and axes",
    ),
    "no weight": (np.zeros((12, 6)), gravity(), "measures no weight"),
    "not a number": (noisy(gravity()) * np.where(np.arange(12) == 5, np.nan, 1)[:, None], gravity(), "not finite"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_cannot_be_trusted_is_refused_with_the_reason(name: str) -> None:
    wrenches, g, why = REFUSED[name]
    with pytest.raises(PayloadError, match=why):
        found(wrenches, g)


def test_the_same_readings_without_the_mistake_are_accepted() -> None:
    assert found(noisy(gravity()), gravity()).mass_kg == pytest.approx(MASS, rel=0.01)
    assert found(noisy(gravity(), mass=4.9), gravity()).mass_kg == pytest.approx(4.9, rel=0.01)


def test_a_turned_sensor_is_refused_unless_the_mount_is_asked_for() -> None:
    g = gravity()
    wrenches = noisy(g @ Rotation.from_euler("z", 30, degrees=True).as_matrix().T)
    with pytest.raises(PayloadError, match="whether the sensor is rotated on the flange"):
        found(wrenches, g)
    assert found(wrenches, g, find_mount=True).mass_kg == pytest.approx(MASS, rel=0.01)


def test_a_mount_from_turns_about_one_axis_is_refused() -> None:
    g = Rotation.from_euler("x", np.linspace(0, 0.15, 8)[:, None]).apply([0.0, 0.0, -9.81])
    with pytest.raises(PayloadError, match="one axis only"):
        identify(noisy(g), g, find_mount=True)
