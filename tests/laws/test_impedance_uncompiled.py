"""The torque law and its limits run without compilation too, and give the same numbers to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.laws import impedance
from pliant.limits.drive import limit_drive
from pliant.limits.reach import bring_into_reach, limit_stretch
from pliant.limits.torque import limit_torque, share_torque
from pliant.model import HANDLE
from pliant.params.control import GAINS, PARAMETERS
from pliant.records import OBSERVED, STATE

SAMPLES = 30


def _definite(random: np.random.Generator, n: int) -> np.ndarray:
    A = random.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n)


def _law(random: np.random.Generator, form: int) -> list[float]:
    p, g, s, x = PARAMETERS.new()[0].impedance, GAINS.new()[0], STATE.new()[0], impedance.SCRATCH.new()[0]
    for name in ("M0", "D0", "K0", "M1", "D1", "K1"):
        g[name] = _definite(random, 6)
    p.form, p.use_jdot, p.posture_stiffness, p.posture_damping = form, 1, 10.0, 6.0
    p.ramp_s, p.tank_j, s.tank_j, s.ramp = 0.5, 0.05, 0.05, random.choice([0.3, 1.0])
    Mq = np.zeros((12, 12))
    Mq[:7, :7] = _definite(random, 7)
    x.J[:, :7] = random.normal(size=(6, 7))
    x.open[:7] = random.normal(size=7)
    for field in ("e", "v", "accel", "F", "Jdot_qd"):
        x[field] = random.normal(size=6)
    q, qd, posture = random.normal(size=(3, 12))
    impedance.weigh(Mq, 7, np.ones(6), 0.01, x)
    impedance.step(p, g, s, Mq, q, qd, posture, 7, True, 0.3, 0.002, x)
    return [*x.qdd.tolist(), *x.pushed.tolist(), float(s.ramp), float(s.tank_j)]


def _shaped(random: np.random.Generator) -> list[float]:
    return _law(random, impedance.SHAPED)


def _simple(random: np.random.Generator) -> list[float]:
    return _law(random, impedance.SIMPLE)


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
    limit_torque(p, h, s, tau, 0.002, o)
    goal, twist, accel, e = (random.normal(size=6) for _ in range(4))
    bring_into_reach(p, h, random.normal(size=3), goal, twist, accel, o)
    limit_stretch(p, e, o)
    return [*qdd.tolist(), share, *tau.tolist(), *goal.tolist(), *twist.tolist(), *e.tolist(), float(o.limits)]


PARTS = {"shaped": _shaped, "simple": _simple, "limits": _limits}


def results(part: str) -> str:
    """Everything that a part computes from random numbers, in hexadecimal."""
    random = np.random.default_rng(11)
    return " ".join(float(x).hex() for _ in range(SAMPLES) for x in PARTS[part](random))


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, str]:
    code = "import test_impedance_uncompiled as t\nfor part in t.PARTS: print(part, t.results(part))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("part", PARTS)
def test_compiled_and_uncompiled_numbers_are_the_same_to_the_last_bit(part: str, uncompiled: dict[str, str]) -> None:
    numbers = uncompiled[part].split()
    assert len(set(numbers)) > SAMPLES
    assert results(part).split() == numbers
