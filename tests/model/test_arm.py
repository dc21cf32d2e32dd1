"""Loading an arm: the handle mirrors it, bad arguments are refused, limits cannot be changed by accident."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.model import Arm, Tool, available_models, kinematics


@pytest.mark.parametrize("name", available_models())
def test_the_handle_holds_the_limits_and_the_tool(name: str) -> None:
    arm = Arm.load(name, Tool(mass_kg=0.3, com_m=(0, 0, 0.05)))
    h = arm.handle[0]
    assert h.n == arm.n == len(arm.joint_names)
    for field in ("q_min", "q_max", "v_max", "a_max", "tau_max"):
        np.testing.assert_array_equal(h[field][: arm.n], getattr(arm, field))
        assert np.isfinite(h[field]).all()
    np.testing.assert_array_equal(h["gravity"], arm.gravity)
    np.testing.assert_allclose(h["tool_com"], [0, 0, 0.05])


def test_the_handle_stays_valid_while_the_arm_lives() -> None:
    arms = [Arm.load("ur5e") for _ in range(20)]
    keep = arms[7]
    expected = keep.pose(keep.q_home)
    del arms
    gc.collect()
    kinematics.forward_at(keep.handle, np.zeros(6))
    np.testing.assert_array_equal(keep.pose(keep.q_home), expected)


def test_limits_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Arm.load("ur5e").v_max[0] = 100.0


def test_a_wrong_number_of_joints_is_refused() -> None:
    with pytest.raises(InputError, match="6 finite numbers, one per joint of ur5e"):
        Arm.load("ur5e").pose([0.0, 1.0])


def test_gravity_is_given_once_and_finite() -> None:
    with pytest.raises(InputError, match="omitted when mount_rpy_deg is given"):
        Arm.load("ur5e", gravity=(0, 0, -9.81), mount_rpy_deg=(0, 0, 0))
    with pytest.raises(InputError, match="3 finite numbers"):
        Arm.load("ur5e", gravity=(0, 0, float("nan")))
    with pytest.raises(InputError, match="mount_rpy_deg"):
        Arm.load("ur5e", mount_rpy_deg=(0, 0))


def test_a_mount_turns_about_fixed_axes_x_then_y_then_z() -> None:
    # Upside down, then turned about the vertical: gravity points along +z of the base, whatever the yaw.
    np.testing.assert_allclose(Arm.load("ur5e", mount_rpy_deg=(180, 0, 37)).gravity, [0, 0, 9.81], atol=1e-12)
    # Rolled by 30 deg about x, then pitched by 90 deg about the fixed y axis.
    arm = Arm.load("ur5e", mount_rpy_deg=(30, 90, 0))
    np.testing.assert_allclose(arm.gravity, [9.81, 0, 0], atol=1e-12)


@pytest.mark.parametrize("name", ["ur5e#wrist_9", "two_link#3"])
def test_only_a_robot_file_has_a_flange_to_select(name: str) -> None:
    arm, _, flange = name.partition("#")
    with pytest.raises(InputError, match=rf"^{name} is rejected.*{arm} is a built-in arm\. Leave out #{flange}\.$"):
        Arm.load(name)
    with pytest.raises(InputError, match="built-in arm"):
        Arm.load(arm, flange=flange)
