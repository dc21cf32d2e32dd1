"""The torque law and its limits run without compilation too, and give the same numbers to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from uncompiled import results, run_uncompiled

from pliant.control.laws.impedance import impedance_law
from pliant.control.limits.goal_reach import bring_into_reach, lead_round, limit_stretch
from pliant.control.limits.joint_drive import limit_drive, pull_share, too_fast
from pliant.control.limits.joint_torque import limit_torque, share_torque
from pliant.control.limits.smoothed_goal import smooth_goal, yield_lead
from pliant.control.parameters import GAINS, PARAMETERS
from pliant.model import HANDLE
from pliant.records import OBSERVED, STATE

pytestmark = pytest.mark.slow

SAMPLES = 30


def _definite(random: np.random.Generator, n: int) -> np.ndarray:
    A = random.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n)


def _law(random: np.random.Generator, form: int) -> list[float]:
    p, g, s, x = PARAMETERS.new()[0].impedance, GAINS.new()[0], STATE.new()[0], impedance_law.SCRATCH.new()[0]
    for name in ("M0", "D0", "K0", "M1", "D1", "K1"):
        g[name] = _definite(random, 6)
    p.form, p.use_jdot, p.posture_stiffness, p.posture_damping = form, 1, 10.0, 6.0
    p.ramp_s, p.tank_j, s.tank_j, s.ramp = 0.5, 0.05, 0.05, random.choice([0.3, 1.0])
    Mq = np.zeros((12, 12))
    Mq[:7, :7] = _definite(random, 7)
    x.J[:, :7] = random.normal(size=(6, 7))
    x.open[:7], x.top[:7] = random.normal(size=7), 2.0
    for field in ("e", "v", "accel", "F", "Jdot_qd"):
        x[field] = random.normal(size=6)
    q, qd, posture = random.normal(size=(3, 12))
    impedance_law.weigh(Mq, 7, np.ones(6), 0.01, x)
    impedance_law.step(p, g, s, Mq, q, qd, posture, 7, True, 0.3, 0.002, x)
    return [*x.qdd.tolist(), *x.pushed.tolist(), *x.pull.tolist(), float(s.ramp), float(s.tank_j)]


def _shaped(random: np.random.Generator) -> list[float]:
    return _law(random, impedance_law.SHAPED)


def _simple(random: np.random.Generator) -> list[float]:
    return _law(random, impedance_law.SIMPLE)


def _limits(random: np.random.Generator) -> list[float]:
    p, h, s, o = PARAMETERS.new()[0].limits, HANDLE.new()[0], STATE.new()[0], OBSERVED.new()[0]
    p.acceleration_scale, p.speed_scale, p.torque_rise_s, p.position_margin = 0.5, 0.5, 0.02, 0.02
    p.pose_error_m, p.pose_error_rad, p.reach_margin_m = 0.5, 0.5, 0.02
    p.workspace_min_m[:], p.workspace_max_m[:] = -2.0, 2.0
    h.n, h.a_max[:], h.v_max[:], h.q_min[:], h.q_max[:], h.tau_max[:] = 7, 20.0, 3.0, -1.0, 1.0, 50.0
    h.reach_min, h.reach_max = 0.4, 1.6
    qdd, tau, drive, q, qd = (random.normal(size=12) * size for size in (30.0, 60.0, 40.0, 0.6, 2.0))
    limit_drive(p, h, q, qd, qdd, 0.002, o)
    share = share_torque(h, tau, drive, o)
    pulled = pull_share(p, h, tau, qdd, drive)
    fast = too_fast(random.normal(size=6), random.normal(size=6), 3, 0.5, o)
    limit_torque(p, h, s, tau, 0.002, True, o)
    limit_torque(p, h, s, tau, 0.002, False, o)
    goal, twist, accel, e, gap, pace = (random.normal(size=6) for _ in range(6))
    tool = random.normal(size=3)
    bring_into_reach(p, h, tool, goal, twist, accel, o)
    lead_round(p, h, tool, goal, twist, accel, o)
    limit_stretch(p, e, o)
    led = _led(random, p, gap, np.abs(pace), o)
    numbers = [*qdd.tolist(), share, pulled, fast, *tau.tolist(), *goal.tolist(), *twist.tolist(), *e.tolist(), *led]
    return [*numbers, float(o.limits)]


def _led(random: np.random.Generator, p: Any, gap: Any, pace: Any, o: Any) -> list[float]:
    k = impedance_law.MEMORY.new()[0]
    p.linear_speed_m_s, p.angular_speed_rad_s = 0.5, 1.5
    p.linear_acceleration_m_s2, p.angular_acceleration_rad_s2 = 5.0, 20.0
    (goal, tool), k.led[:] = random.normal(size=(2, 7)), random.normal(size=7)
    for pose in (goal, tool, k.led):
        pose[3:] /= np.linalg.norm(pose[3:])
    twist, accel, k.led_twist[:] = *random.normal(size=(2, 6)), random.normal(size=6)
    smooth_goal(p, k, goal, twist, accel, gap, pace, 0.002, o)
    yield_lead(k, tool, twist, 0.3, 1.0, gap, 0.002)
    return [*goal.tolist(), *twist.tolist(), *accel.tolist(), *k.led.tolist(), *k.led_twist.tolist()]


PARTS = {"shaped": _shaped, "simple": _simple, "limits": _limits}


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, str]:
    return run_uncompiled("test_impedance_uncompiled")


@pytest.mark.parametrize("part", PARTS)
def test_compiled_and_uncompiled_numbers_are_the_same_to_the_last_bit(part: str, uncompiled: dict[str, str]) -> None:
    numbers = uncompiled[part].split()
    assert len(set(numbers)) > SAMPLES
    assert results(PARTS[part], SAMPLES).split() == numbers
