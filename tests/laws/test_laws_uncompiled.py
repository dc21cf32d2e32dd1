"""Laws, limits and sensing run without compilation too, and give the same numbers to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from uncompiled import results, run_uncompiled

from pliant.control.laws import admittance, hold
from pliant.control.laws.gains import work_out
from pliant.control.limits.braking import braking_speed
from pliant.control.limits.compliant_frame import limit_tool
from pliant.control.limits.joint_command import limit
from pliant.control.limits.stopping_path import SCRATCH
from pliant.control.parameters import GAINS, PARAMETERS
from pliant.control.sense import external_wrench
from pliant.model import HANDLE
from pliant.records import OBSERVED, READING, STATE
from pliant.world.surface_kind import Surface, measured

SAMPLES = 40


def _unit(random: np.random.Generator) -> np.ndarray:
    q = random.normal(size=4)
    return q / np.linalg.norm(q)


def _definite(random: np.random.Generator) -> np.ndarray:
    A = random.normal(size=(6, 6))
    return A @ A.T + 0.1 * np.eye(6)


def _admittance(random: np.random.Generator) -> list[float]:
    p, g, s = PARAMETERS.new()[0].admittance, GAINS.new()[0], STATE.new()[0]
    for name in ("M0", "D0", "K0", "M1", "D1", "K1"):
        g[name] = _definite(random)
    work_out(g, 0.002)
    p.ramp_s, p.tank_j, s.tank_j, s.ramp = 0.5, 0.05, 0.05, random.choice([0.3, 1.0])
    s.twist[:] = random.normal(size=6)
    F, e, goal_twist = random.normal(size=(3, 6))
    admittance.step(p, g, s, F, e, goal_twist, s.twist - goal_twist, 1e-3, 0.002, admittance.SCRATCH.new()[0])
    return [*s.twist.tolist(), float(s.ramp), float(s.tank_j), float(s.injected_j)]


def _hold(random: np.random.Generator) -> list[float]:
    p, s, h, qd = PARAMETERS.new()[0].hold, STATE.new()[0], HANDLE.new()[0], np.zeros(12)
    p.bandwidth_hz, h.n, h.a_max[:], s.q_cmd[:] = (
        random.uniform(1, 20),
        6,
        random.uniform(1, 20, 12),
        random.normal(size=12),
    )
    hold.step(p, h, s, random.normal(size=12), 0.5, 0.002, qd)
    return qd.tolist()


def _limit(random: np.random.Generator) -> list[float]:
    p, s, h, o, qd = (
        PARAMETERS.new()[0].limits,
        STATE.new()[0],
        HANDLE.new()[0],
        OBSERVED.new()[0],
        random.normal(size=12),
    )
    p.speed_scale, p.acceleration_scale, h.n = random.uniform(0.1, 1), random.uniform(0.1, 1), 7
    h.v_max[:], h.a_max[:], h.q_min[:], h.q_max[:] = 2.0, 50.0, -1.0, 1.0
    s.q_cmd[:], s.qd_cmd[:] = random.uniform(-1, 1, 12), random.normal(size=12)
    limit(p, h, s, qd, 0.002, o, SCRATCH.new()[0])
    return [*qd.tolist(), float(o.limits), float(o.scale), braking_speed(random.random(), 3.0, 0.002)]


def _limit_tool(random: np.random.Generator) -> list[float]:
    p, h, s, o = PARAMETERS.new()[0].limits, HANDLE.new()[0], STATE.new()[0], OBSERVED.new()[0]
    h.n, h.a_max[:], p.acceleration_scale, s.qd_cmd[:] = 6, 20.0, 0.5, random.normal(size=12)
    s.twist[:], s.pose[:3] = random.normal(size=6), random.uniform(-0.6, 0.6, 3)
    p.linear_speed_m_s, p.angular_speed_rad_s = random.uniform(0.1, 1, 2)
    p.linear_acceleration_m_s2, p.angular_acceleration_rad_s2 = random.uniform(1, 400, 2)
    p.workspace_min_m[:], p.workspace_max_m[:] = -0.5, 0.5
    limit_tool(p, h, s, random.normal(size=6), 0.002, o)
    return [*s.twist.tolist(), float(o.limits), *o.asked.tolist(), *o.allowed.tolist()]


def _sense(random: np.random.Generator) -> list[float]:
    p, s, h, r, out = PARAMETERS.new()[0].sense, STATE.new()[0], HANDLE.new()[0], READING.new()[0], np.zeros(6)
    p.cutoff_hz, p.deadband_n, p.deadband_nm, p.bias[:] = 20.0, 0.5, 0.1, random.normal(size=6)
    h.X_sensor[:], h.X_tool[:] = (*random.normal(size=3), *_unit(random)), (*random.normal(size=3), *_unit(random))
    h.gravity[:], h.tool_mass, h.tool_com[:] = random.normal(size=3), 1.5, random.normal(size=3)
    r.wrench[:] = random.normal(size=6)
    external_wrench.external(h, p, r.wrench, np.zeros(3), out)
    p.range_n, p.range_nm, p.stale_s, p.frozen_s = 2.0, 2.0, 0.01, 0.05
    external_wrench.supervise(p, s, r, True, 0.002)
    external_wrench.low_pass(p, s, out, 0.002)
    felt = np.zeros(6)
    external_wrench.deadband(p, s.wrench_lp, felt)
    return [*out.tolist(), *felt.tolist(), float(s.wrench_age_s), float(s.trouble), float(s.fault)]


def _distance(random: np.random.Generator) -> list[float]:
    found = []
    for kind in Surface.kinds.builtin:
        distances, normals = measured(Surface(kind=kind, position_m=(0.0, 0.0, 0.0)), random.normal(size=(1, 3)))
        found += [float(distances[0]), *normals[0].tolist()]
    return found


PARTS = {
    "admittance": _admittance,
    "hold": _hold,
    "limit": _limit,
    "limit_tool": _limit_tool,
    "sense": _sense,
    "distance": _distance,
}


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, str]:
    return run_uncompiled("test_laws_uncompiled")


@pytest.mark.parametrize("part", PARTS)
def test_compiled_and_uncompiled_numbers_are_the_same_to_the_last_bit(part: str, uncompiled: dict[str, str]) -> None:
    numbers = uncompiled[part].split()
    assert len(set(numbers)) > SAMPLES
    assert results(PARTS[part], SAMPLES).split() == numbers
