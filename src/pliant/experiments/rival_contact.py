"""Rivals: other ways to press on a surface, each re-implemented by its published behaviour, in the same simulator.

They feel the same wrench through the same filter and drive the same arm. What they are given that ours has to find out:
the true normal (the saturated loops), the touch as the moment from which to count, and no force limit that ends them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.experiments.contact_scene import FORCE, HEADING, TOOL, Figures, Loop, Trace, judged
from pliant.kernel import kernel
from pliant.model.arm import Arm
from pliant.model.inverse import SCRATCH, damped_inverse, smallest_singular_value
from pliant.model.kinematics import forward, jacobian, place
from pliant.params.control import Parameters, record_of
from pliant.records import COMMAND, POSITION, READING, Field, Layout
from pliant.robots.sim.config import SimConfig, Surface
from pliant.robots.sim.robot import SimRobot
from pliant.robots.sim.step import advance, read
from pliant.sense.wrench import external, smoothing

Array = np.ndarray[Any, Any]

SATURATED, SPRING, FORCE_MODE = range(3)
SEEKING, DWELLING, SLIDING, OVER = range(4)

_RIVAL = Layout(
    "Rival",
    (
        Field("kind", "", "which law", kind="i8"),
        Field("kp", "m/(N s)", "speed per force error"),
        Field("ki", "m/(N s^2)", "integral"),
        Field("kd", "", "speed per measured speed"),
        Field("sign", "", "1: the damping opposes penetration, -1: it is along it"),
        Field("most", "m/s", "largest speed"),
        Field("band", "N", "error within which the integral runs"),
        Field("mass", "kg", "virtual mass"),
        Field("damping", "N s/m", "virtual damping"),
        Field("stiffness", "N/m", "virtual spring"),
        Field("lag", "s", "low-pass of the speed"),
        Field("integral", "N s", "state of the integral"),
        Field("v", "m/s", "state of the speed"),
        Field("way", "m", "way of the reference into the surface"),
        Field("end", "m", "where the reference stops"),
        Field("depth", "m", "way of the tool towards the surface"),
        Field("centre", "m", "centre of the dome", (3,)),
        Field("round", "", "1: the normal is that of the dome", kind="i8"),
        Field("heading", "", "direction of the slide", (3,)),
        Field("wrench", "N, N m", "filtered", (6,)),
        Field("six", "", "scratch", (6,)),
        Field("n", "", "normal", (3,)),
        Field("q", "rad", "command", (12,)),
        Field("qd", "rad/s", "command", (12,)),
        Field("weakest", "", "scratch", (6,)),
        Field("inverse", "", "scratch", kind=SCRATCH),
    ),
)


@dataclass(frozen=True)
class Rival:
    """A law by name and numbers."""

    name: str
    values: dict[str, float]


_LOOP = {"kind": SATURATED, "kp": 0.002, "ki": 0.01, "kd": 0.1, "most": 0.01, "band": 1.0}

RIVALS = {
    "saturated": Rival("the saturated PI loop, damping with the wrong sign", {**_LOOP, "sign": -1.0}),
    "sign": Rival("the saturated PI loop, sign corrected", {**_LOOP, "sign": 1.0}),
    "proposed": Rival("the proposed fix: no integral, kp for ±10 N", {**_LOOP, "sign": 1.0, "kp": 0.001, "ki": 0.0}),
    "admittance": Rival(
        "explicit admittance, no force loop",
        {"kind": SPRING, "mass": 8.0, "damping": 2 * 0.8 * math.sqrt(8.0 * 200.0), "stiffness": 200.0, "most": 0.01},
    ),
    "force_mode": Rival(
        "a force mode along a fixed axis", {"kind": FORCE_MODE, "kp": 0.002, "most": 0.05, "lag": 0.05}
    ),
}


@kernel
def _speed(r, e, into, dt):
    """The speed towards the surface [m/s] for the force error `e` [N], when the tool moves `into` it at this speed."""
    if r.kind == SPRING:
        # M a + D v + K (x - x_ref) = -f,  explicit; the reference waits where the spring alone would press as asked
        r.v += dt * (e - FORCE - r.damping * r.v - r.stiffness * (r.depth - r.way)) / r.mass
        return r.v
    if r.kind == FORCE_MODE:
        r.v += dt / (r.lag + dt) * (max(-r.most, min(r.most, r.kp * e)) - r.v)
        return r.v
    touching = abs(FORCE - e) > 0.2 * FORCE
    most = r.most / r.ki if r.ki > 1e-6 else 1e6
    r.integral = r.integral + e * dt if touching and abs(e) <= r.band else 0.95 * r.integral
    r.integral = max(-most, min(most, r.integral))
    v = r.kp * e + r.ki * r.integral - r.sign * r.kd * into
    return max(-r.most, min(r.most, v))


@kernel
def _normal(r, tip):
    """The normal that the law is given."""
    r.n[0], r.n[1], r.n[2] = 0.0, 0.0, 1.0
    if r.round != 0 and r.kind == SATURATED:
        size = 0.0
        for i in range(3):
            r.n[i] = tip[i] - r.centre[i]
            size += r.n[i] * r.n[i]
        for i in range(3):
            r.n[i] /= math.sqrt(size)


@kernel
def _drive(h, r, c, v_in, speed, dt):
    """Move the command by the law's speed along the normal and by `speed` along the surface."""
    along = r.heading[0] * r.n[0] + r.heading[1] * r.n[1] + r.heading[2] * r.n[2]
    size = math.sqrt(max(1e-12, 1.0 - along * along))
    r.six[:] = 0.0
    for i in range(3):
        r.six[i] = speed * (r.heading[i] - along * r.n[i]) / size - v_in * r.n[i]
    place(h, r.q)
    jacobian(h)
    sigma = smallest_singular_value(h.J, h.n, r.weakest, r.inverse)
    damped_inverse(h.J, h.n, r.six, sigma, 0.02, 0.05, r.inverse, r.qd)
    for i in range(h.n):
        r.q[i] += dt * r.qd[i]
        c.q[i] = r.q[i]


@kernel
def _run(world, handle, sense, rival, reading, command, alpha, dwell, length, speed, dt, out):
    """Approach, dwell for a while after the first touch, slide; columns: press, phase, x, y, z. Returns the ticks."""
    w, h, r, m, c = world[0], handle[0], rival[0], reading[0], command[0]
    phase, touched, gone = SEEKING, 0, 0.0
    for i in range(out.shape[0]):
        read(w, m)
        forward(h, m.q)
        jacobian(h)
        external(h, sense, m.wrench, r.six[0:3], r.qd[0:6])
        for k in range(6):
            r.wrench[k] += alpha * (r.qd[k] - r.wrench[k])
        _normal(r, h.X_tool)
        f_n, into = 0.0, 0.0
        for k in range(3):
            f_n += r.wrench[k] * r.n[k]
            for j in range(h.n):
                into -= h.J[k, j] * m.qd[j] * r.n[k]
        if phase == SEEKING and f_n > 1.0:
            phase, touched = DWELLING, i
            r.end = r.depth + FORCE / max(r.stiffness, 1.0)
        elif phase == DWELLING and (i - touched) * dt > dwell:
            phase = SLIDING
        elif phase == SLIDING and gone >= length:
            phase = OVER
        if phase == SEEKING or r.way < r.end:
            r.way += r.most * dt
        out[i, 2], out[i, 3], out[i, 4] = h.X_tool[0], h.X_tool[1], h.X_tool[2]
        v_in = _speed(r, FORCE - f_n, into, dt)
        r.depth += dt * v_in
        _drive(h, r, c, v_in, speed if phase == SLIDING else 0.0, dt)
        gone += speed * dt if phase == SLIDING else 0.0
        advance(w, c)
        out[i, 0], out[i, 1] = 0.0, phase
        for j in range(w.n_surfaces):
            out[i, 0] += w.surface[j].press
        if phase == OVER:
            return i + 1
    return out.shape[0]


def run_rival(
    which: Rival, surface: Surface, loop: Loop, seed: int, *, seconds: float = 12.0, dt: float = 0.002
) -> tuple[Trace, Array]:
    """A rival on a surface: its trace, and the phase of every tick (see the numbers above)."""
    robot = SimRobot("ur5e", TOOL, SimConfig(seed=seed, servo=loop.servo, surfaces=(surface,)), dt)
    arm = Arm.load("ur5e", TOOL)
    rival, command = _RIVAL.new(), COMMAND.new()
    for name, value in which.values.items():
        rival[0][name] = value
    r = rival[0]
    r["q"][: arm.n] = arm.q_home
    r["heading"][:] = HEADING
    r["centre"][:], r["round"] = surface.position_m, int(surface.kind == "dome")
    command[0].mode, command[0].q[: arm.n] = POSITION, arm.q_home
    sense = record_of(Parameters())[0].sense
    out = np.zeros((round(seconds / dt), 5))
    alpha = float(smoothing(loop.cutoff_hz, dt))
    ticks = _run(
        robot.world.record, arm.handle, sense, rival, READING.new(), command, alpha, 1.0, 0.05, 0.01, dt, out
    )  # fmt: skip
    out = out[:ticks]
    return Trace(np.arange(ticks) * dt, out[:, 0], out[:, 2:5]), out[:, 1].astype(int)


def judge_rival(trace: Trace, phase: Array) -> Figures:
    """The same figures for a rival."""
    return judged(trace, np.isin(phase, (SEEKING, DWELLING)), phase == SLIDING)
