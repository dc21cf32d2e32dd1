"""Friction in a robot description acts in the simulated world, and the impedance law compensates it if asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planar_arm import DECLARED_M, planar_arm, pushed

from pliant.model import Arm
from pliant.session.in_process.fast_run import simulate


def deflection_m(path: Path, *, compensated: bool) -> float:
    """How far the push moves the tool along y."""
    run = simulate(pushed(path, compensated=compensated, joint_acceleration_rad_s2=60.0))
    assert not run.fault
    y = run.records["observed"]["pose"][:, 1]
    return float(y[-1] - y[0])


def test_dry_friction_of_the_file_holds_the_arm_back_unless_it_is_compensated(tmp_path: Path) -> None:
    ideal = deflection_m(planar_arm(tmp_path, 0.0), compensated=False)
    stuck = deflection_m(planar_arm(tmp_path, 1.0), compensated=False)
    freed = deflection_m(planar_arm(tmp_path, 1.0), compensated=True)
    assert ideal == pytest.approx(DECLARED_M, rel=0.05)
    assert stuck < 0.85 * DECLARED_M
    assert freed == pytest.approx(DECLARED_M, rel=0.1)


def test_friction_and_damping_of_a_urdf_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="arm"><link name="base"/><link name="tool0"><inertial><mass value="1"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="one" type="continuous"><parent link="base"/><child link="tool0"/><axis xyz="0 0 1"/>'
        '<dynamics damping="0.7" friction="0.3"/></joint></robot>'
    )
    h = Arm.load(path).handle[0]
    np.testing.assert_allclose([h.damping[0], h.friction[0]], [0.7, 0.3])
    wrong = Arm.load(path, friction_scale=2.0).handle[0]
    np.testing.assert_allclose([wrong.damping[0], wrong.friction[0]], [1.4, 0.6])
