"""The tool: what is refused, where its frames are, and what a force sensor at its root reads."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.errors import InputError
from pliant.model import Arm, Tool, attach, design

HALF = math.sqrt(0.5)
PROBE = Tool(
    mass_kg=0.8,
    com_m=(0.01, 0.0, 0.07),
    tcp_m=(0.0, 0.03, 0.2),
    sensor_m=(0.0, 0.0, 0.02),
    sensor_quat=(HALF, 0.0, 0.0, HALF),
    tip_radius_m=0.005,
)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mass_kg": -0.1}, "tool.mass_kg is -0.1 kg, but it must be 0 to 1000 kg"),
        ({"mass_kg": math.nan}, "tool.mass_kg is nan, but it must be a finite number"),
        ({"mass_kg": "heavy"}, "a finite number"),
        ({"tip_radius_m": -1.0}, "tool.tip_radius_m is -1 m, but it must be 0 to 0.5 m"),
        ({"tip_radius_m": 10.0}, "tool.tip_radius_m is 10 m, but it must be 0 to 0.5 m"),
        ({"tcp_m": (0.0, 0.0, 150.0)}, r"tool.tcp_m is \[0, 0, 150\], but it must be -2 to 2 m in x, y and z"),
        ({"mass_kg": 1.0, "com_m": (0.0, 0.0, 60.0)}, "tool.com_m .* -2 to 2 m in x, y and z"),
        ({"tcp_m": (0.0, 0.1)}, "3 finite numbers"),
        ({"com_m": (0.0, math.inf, 0.1), "mass_kg": 1.0}, "tool.com_m"),
        ({"tcp_quat": (1.0, 1.0, 0.0, 0.0)}, "a unit quaternion in the order w, x, y, z"),
        ({"mass_kg": 1.0, "inertia_kg_m2": (1e-3, 1e-3, 3e-3)}, "none larger than the sum of the other two"),
        ({"mass_kg": 1.0, "inertia_kg_m2": (-1e-3, 1e-3, 1e-3)}, "0 to 1000 kg m²"),
        ({"inertia_kg_m2": (1e-3, 1e-3, 1e-3)}, "zero when the mass is zero"),
        ({"com_m": (0.0, 0.0, 0.1)}, "Set tool.mass_kg"),
    ],
)
def test_an_impossible_tool_is_refused_with_the_reason(values: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Tool(**values)


def test_rounded_quaternions_are_made_exact() -> None:
    tool = Tool(tcp_quat=(0.7071, 0.7071, 0.0, 0.0))
    assert tool.tcp_quat == pytest.approx((HALF, HALF, 0, 0), abs=1e-15)


def test_lists_become_tuples_so_that_a_tool_can_be_a_key() -> None:
    assert hash(Tool(tcp_m=[0, 0, 1])) == hash(Tool(tcp_m=(0.0, 0.0, 1.0)))  # pyright: ignore[reportArgumentType]


def test_frames_are_where_the_tool_says() -> None:
    bare, arm = Arm.load("ur5e"), Arm.load("ur5e", PROBE)
    q = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.5])
    flange, sensor, tip = bare.pose(q), arm.sensor_pose(q), arm.pose(q)
    R = Rotation.from_quat(flange[3:], scalar_first=True)
    np.testing.assert_allclose(sensor[:3], flange[:3] + R.apply(PROBE.sensor_m), atol=1e-12)
    np.testing.assert_allclose(tip[:3], flange[:3] + R.apply(PROBE.tcp_m), atol=1e-12)
    turned = R * Rotation.from_quat(PROBE.sensor_quat, scalar_first=True)
    R_sensor = Rotation.from_quat(sensor[3:], scalar_first=True)
    np.testing.assert_allclose(R_sensor.as_matrix(), turned.as_matrix(), atol=1e-12)
    # The same centre of mass, seen from the sensor and from the flange.
    from_sensor = sensor[:3] + R_sensor.apply(arm.handle["tool_com"][0])
    np.testing.assert_allclose(from_sensor, flange[:3] + R.apply(PROBE.com_m), atol=1e-12)
    assert arm.handle["tool_mass"][0] == 0.8


def test_the_tools_mass_is_part_of_the_arm() -> None:
    bare, arm = Arm.load("ur5e"), Arm.load("ur5e", PROBE)
    assert arm.mjmodel.body_subtreemass[0] - bare.mjmodel.body_subtreemass[0] == pytest.approx(0.8)


def sensed(external: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque sensor at rest at home while `external` [N, N m] acts on the tool's tip in base axes."""
    plan = design("ur5e")
    attach(plan.spec, PROBE, visual=True)
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        plan.spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="sensor")
    model = plan.spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = plan.q_home
    mujoco.mj_forward(model, data)
    tool, tip = model.body("tool").id, data.site("tool").xpos
    wrench = np.zeros(model.nv)
    mujoco.mj_applyFT(model, data, external[:3], external[3:], tip, tool, wrench)
    data.qfrc_applied[:] = data.qfrc_bias - wrench
    data.xfrc_applied[tool, :3] = external[:3]
    data.xfrc_applied[tool, 3:] = external[3:] + np.cross(tip - data.xipos[tool], external[:3])
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qacc, 0, atol=1e-9)
    R = data.site("sensor").xmat.reshape(3, 3)
    return R @ data.sensordata[:3], R @ data.sensordata[3:]


def test_a_force_sensor_at_the_site_carries_the_tools_weight() -> None:
    force, torque = sensed(np.zeros(6))
    weight = np.array([0, 0, -0.8 * 9.81])
    arm = Arm.load("ur5e", PROBE)
    R = Rotation.from_quat(arm.sensor_pose(arm.q_home)[3:], scalar_first=True)
    # MuJoCo reports what the flange does to the tool: the opposite of what the environment and gravity do to it.
    np.testing.assert_allclose(force, -weight, atol=1e-9)
    np.testing.assert_allclose(torque, -np.cross(R.apply(PROBE.com_in_sensor_m), weight), atol=1e-9)


def test_a_push_at_the_tip_reaches_the_sensor_with_its_lever_arm() -> None:
    push = np.array([4.0, -3.0, 10.0, 0.0, 0.0, 0.0])
    (force0, torque0), (force, torque) = sensed(np.zeros(6)), sensed(push)
    arm = Arm.load("ur5e", PROBE)
    lever = arm.pose(arm.q_home)[:3] - arm.sensor_pose(arm.q_home)[:3]
    np.testing.assert_allclose(force - force0, -push[:3], atol=1e-9)
    np.testing.assert_allclose(torque - torque0, -np.cross(lever, push[:3]), atol=1e-9)


def test_the_probe_is_drawn_to_the_tip() -> None:
    plan = design("ur5e")
    before = plan.spec.compile().ngeom
    attach(plan.spec, PROBE, visual=True)
    model = plan.spec.compile()
    assert model.ngeom - before == 2
    np.testing.assert_allclose(model.geom_pos[-1], PROBE.tcp_m)
    assert not model.geom_contype.any()
