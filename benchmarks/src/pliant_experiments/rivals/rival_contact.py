"""For comparison: other contact laws, re-implemented from their published behaviour, in the same simulator.

They receive the same wrench through the same filter and drive the same arm. Unlike Pliant's law they are given the true
normal (the saturated loops) and the time of first contact, and no force limit stops them. Each tick has the same record
as Pliant's, with the terms of the law in its record `contact`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.control import telemetry
from pliant.control.laws.contact import contact_states
from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.contact_record import CONTACT, contact_of
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters, Sense, record_of
from pliant.control.sense.external_wrench import external, smoothing
from pliant.control.telemetry import TELEMETRY
from pliant.control.tick import WORK
from pliant.errors import InputError
from pliant.kernel import fill, kernel, put
from pliant.model.arm import Arm
from pliant.model.inverse import SCRATCH, damped_inverse, smallest_singular_value
from pliant.model.kinematics import forward, jacobian, place
from pliant.records import COMMAND, GOAL, OBSERVED, POSITION, READING, STATE, Field, Layout
from pliant.robots.simulated import SimRobot
from pliant.spatial import quat_rotate
from pliant.world.period import advance, read
from pliant.world.surface_contact import locate, measure
from pliant.world.world_config import Sensor, SimConfig, Surface
from pliant_experiments.scenes.contact_trial import FORCE, HEADING, TOOL, Figures, Loop, Trace, judged

Array = np.ndarray[Any, Any]

SATURATED, SPRING, FORCE_MODE = range(3)
SEEKING, DWELLING, SLIDING, OVER, WAITING = range(5)
_STATE_OF = np.array(
    [contact_states.SEEK, contact_states.DWELL, contact_states.SLIDE, contact_states.DONE, contact_states.READY]
)
_NUMBER = LAWS["contact"].number
_LINE = 64  # ticks that a force sensor can be late

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
        Field("way", "m", "depth of the reference in the surface"),
        Field("end", "m", "where the reference stops"),
        Field("depth", "m", "motion of the tool towards the surface"),
        Field("curved", "", "1: the normal is that of the surface", kind="i8"),
        Field("heading", "", "direction of the slide", (3,)),
        Field("alpha", "", "share of a new sample in the low-pass of the wrench"),
        Field("wait", "", "ticks before it starts", kind="i8"),
        Field("late", "", "ticks that the force sensor is late", kind="i8"),
        Field("honest", "", "1: its time stamps show this", kind="i8"),
        Field("halt", "", "tick from which the robot ignores commands and stops; -1: never", kind="i8"),
        Field("raw", "N, N m", "the sensor's last reading", (6,)),
        Field("raw_stamp", "s", "when it was taken"),
        Field("line", "N, N m", "readings in transit", (_LINE, 6)),
        Field("line_stamp", "s", "when they were taken", (_LINE,)),
        Field("gone", "m", "distance along the surface"),
        Field("wanted", "m/s", "speed before the limit"),
        Field("damper", "N", "force of the damping term, positive inward"),
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
    "saturated": Rival("saturated PI loop, damping with the wrong sign", {**_LOOP, "sign": -1.0}),
    "sign": Rival("saturated PI loop, sign corrected", {**_LOOP, "sign": 1.0}),
    "proposed": Rival("proposed fix: no integral, kp for ±10 N", {**_LOOP, "sign": 1.0, "kp": 0.001, "ki": 0.0}),
    "admittance": Rival(
        "explicit admittance, no force loop",
        {"kind": SPRING, "mass": 8.0, "damping": 2 * 0.8 * math.sqrt(8.0 * 200.0), "stiffness": 200.0, "most": 0.01},
    ),
    "force_mode": Rival("force mode along a fixed axis", {"kind": FORCE_MODE, "kp": 0.002, "most": 0.05, "lag": 0.05}),
}


@kernel
def _speed(r, e, into, dt):
    """The speed towards the surface [m/s] for the force error `e` [N], when the tool moves `into` it at this speed."""
    r.damper = 0.0
    if r.kind == SPRING:
        # M a + D v + K (x - x_ref) = -f,  explicit; the reference waits where the spring alone would press as asked
        r.damper = -r.damping * r.v
        r.v += dt * (e - FORCE - r.damping * r.v - r.stiffness * (r.depth - r.way)) / r.mass
        r.wanted = r.v
        return r.v
    if r.kind == FORCE_MODE:
        r.wanted = r.kp * e
        r.v += dt / (r.lag + dt) * (max(-r.most, min(r.most, r.wanted)) - r.v)
        r.wanted = r.wanted if abs(r.wanted) > r.most else r.v
        return r.v
    touching = abs(FORCE - e) > 0.2 * FORCE
    most = r.most / r.ki if r.ki > 1e-6 else 1e6
    r.integral = r.integral + e * dt if touching and abs(e) <= r.band else 0.95 * r.integral
    r.integral = max(-most, min(most, r.integral))
    # v = kp (e + f_d) + ki ∫e,  and what stands beside the force error is a force: f_d = ∓ kd/kp ẋ
    r.damper = -r.sign * r.kd / r.kp * into
    r.wanted = r.kp * e + r.ki * r.integral - r.sign * r.kd * into
    return max(-r.most, min(r.most, r.wanted))


@kernel
def _normal(r, surface, tip):
    """The normal that the law is given."""
    r.n[0], r.n[1], r.n[2] = 0.0, 0.0, 1.0
    if r.curved != 0 and r.kind == SATURATED:
        locate(surface, tip)
        measure(surface)
        quat_rotate(surface.pose[3:7], surface.normal, r.n)


@kernel
def _drive(h, r, c, v_in, speed, dt):
    """Move the command by the law's speed along the normal and by `speed` along the surface."""
    along = r.heading[0] * r.n[0] + r.heading[1] * r.n[1] + r.heading[2] * r.n[2]
    size = math.sqrt(max(1e-12, 1.0 - along * along))
    fill(r.six, 0.0)
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
def _feel(h, sense, r, surface, m, o, i):
    """Pose, speed and wrench of this tick, from a sensor that may be late. Returns force and speed into the surface."""
    slot = i % _LINE
    r.raw[:], r.raw_stamp = m.wrench, m.wrench_stamp_s
    r.line[slot, :], r.line_stamp[slot] = m.wrench, m.wrench_stamp_s
    slot = max(0, i - r.late) % _LINE
    put(m.wrench, r.line[slot])
    if r.honest != 0:
        m.wrench_stamp_s = r.line_stamp[slot]
    forward(h, m.q)
    jacobian(h)
    external(h, sense, m.wrench, r.six[0:3], o.wrench)
    put(o.pose, h.X_tool)
    for k in range(6):
        r.wrench[k] += r.alpha * (o.wrench[k] - r.wrench[k])
        o.twist[k] = 0.0
        for j in range(h.n):
            o.twist[k] += h.J[k, j] * m.qd[j]
    _normal(r, surface, h.X_tool)
    f_n, into = 0.0, 0.0
    for k in range(3):
        f_n += r.wrench[k] * r.n[k]
        into -= o.twist[k] * r.n[k]
    return f_n, into


@kernel
def _tell(h, r, s, o, c, phase, f_n, v_in):
    """Put the law's terms where a recording has them."""
    s.started = 1
    s.wrench[:], s.wrench_lp[:] = o.wrench, r.wrench
    s.q_cmd[:], s.qd_cmd[:], s.pose[:], s.twist[:] = r.q, r.qd, h.X_tool, r.six
    o.scale = 1.0
    s.law, k = _NUMBER, contact_of(s)
    k.state, k.force_n, k.target_n, k.asked = _STATE_OF[phase], f_n, FORCE, v_in
    k.wanted, k.damper_n, k.integral, k.travelled_m = r.wanted, r.damper, r.ki * r.integral, r.gone
    k.gain = 1.0 / r.damping if r.kind == SPRING else r.kp
    k.touching = 1 if f_n > 0.2 * FORCE else 0
    for i in range(3):
        k.normal[i], k.approach[i] = r.n[i], -r.n[i]
        k.way[i] = r.six[i] + v_in * r.n[i]


@kernel
def _run(world, handle, sense, rival, reading, goal, command, observed, state, work, plan, dt, out, told):
    """Approach, dwell for a while after the first touch, slide; columns: press, phase. Returns the ticks."""
    w, h, r, m, g, c = world[0], handle[0], rival[0], reading[0], goal[0], command[0]
    o, s = observed[0], state[0]
    dwell, length, speed = plan
    phase, touched = SEEKING, 0
    for i in range(out.shape[0]):
        if i == r.halt:
            w.halted = 1
        m.wrench[:], m.wrench_stamp_s = r.raw, r.raw_stamp  # a sensor that fails goes on from its own last reading
        read(w, m)
        f_n, into = _feel(h, sense, r, w.surface[0], m, o, i)
        if i < r.wait:
            phase = WAITING
        elif phase == WAITING:
            phase = SEEKING
        if phase == SEEKING and f_n > 1.0:
            phase, touched = DWELLING, i
            r.end = r.depth + FORCE / max(r.stiffness, 1.0)
        elif phase == DWELLING and (i - touched) * dt > dwell:
            phase = SLIDING
        elif phase == SLIDING and r.gone >= length:
            phase = OVER
        v_in = 0.0
        if phase != WAITING:
            if phase == SEEKING or r.way < r.end:
                r.way += r.most * dt
            v_in = _speed(r, FORCE - f_n, into, dt)
        r.depth += dt * v_in
        _drive(h, r, c, v_in, speed if phase == SLIDING else 0.0, dt)
        r.gone += speed * dt if phase == SLIDING else 0.0
        _tell(h, r, s, o, c, phase, f_n, v_in)
        advance(w, c)
        telemetry.fill(told[0] + i * told[1], i, dt, 0, m, g, o, c, s, work[0])
        out[i, 0], out[i, 1] = 0.0, phase
        for j in range(w.n_surfaces):
            out[i, 0] += w.surface[j].press
        if phase == OVER:
            return i + 1
    return out.shape[0]


@dataclass(frozen=True)
class Scene:
    """Other settings of a run: duration, sensor, and faults besides the law."""

    seconds: float = 12.0
    wait_s: float = 0.0
    """Time before the start."""
    sensor: Sensor = field(default_factory=Sensor)
    late_s: float = 0.0
    """Delay of the force sensor."""
    honest: bool = True
    """Whether its time stamps show this."""
    halt_s: float = math.inf
    """Time from which the robot ignores commands and stops."""


def parameters_of(loop: Loop) -> Parameters:
    """The parameters in a recording of another law: filter, target force and assumed lag."""
    return Parameters(
        sense=Sense(cutoff_hz=loop.cutoff_hz), contact=Contact(target_n=FORCE, lag_s=loop.lag_s(), heading=HEADING)
    )


def _prepared(which: Rival, surface: Surface, loop: Loop, scene: Scene, arm: Arm, dt: float) -> Array:
    """The law's record before its first tick."""
    rival = _RIVAL.new()
    for name, value in which.values.items():
        rival[0][name] = value
    r = rival[0]
    r["q"][: arm.n] = arm.q_home
    r["heading"][:] = HEADING
    r["curved"] = type(surface).its_kind.is_curved
    r["alpha"] = smoothing(loop.cutoff_hz, dt)
    r["wait"], r["late"], r["honest"] = round(scene.wait_s / dt), round(scene.late_s / dt), int(scene.honest)
    r["halt"] = round(scene.halt_s / dt) if math.isfinite(scene.halt_s) else -1
    if r["late"] >= _LINE:
        raise InputError("late_s", scene.late_s, f"less than {_LINE * dt:g} s")
    return rival


def _work() -> Array:
    """The place of the law's record in telemetry."""
    work, offsets = WORK.new(), TELEMETRY.dtype.fields
    assert offsets is not None
    call = work[0]["laws"][_NUMBER]
    call["record_at"], call["words"] = offsets["contact"][1] // 8, CONTACT.dtype.itemsize // 8
    return work


def run_rival(
    which: Rival, surface: Surface, loop: Loop, seed: int, scene: Scene | None = None, *, dt: float = 0.002
) -> tuple[Trace, Array]:
    """Another law on a surface: its trace, and the phase of every tick (see the numbers above)."""
    scene = scene or Scene()
    sim = SimConfig(seed=seed, servo=loop.servo, sensor=scene.sensor, surfaces=(surface,))
    robot, arm = SimRobot("ur5e", TOOL, sim, dt), Arm.load("ur5e", TOOL)
    command, ticks = COMMAND.new(), round(scene.seconds / dt)
    command[0].mode, command[0].q[: arm.n] = POSITION, arm.q_home
    out, told = np.zeros((ticks, 2)), TELEMETRY.new(ticks)
    ticks = _run(
        robot.world.record, arm.handle, record_of(parameters_of(loop))[0].sense,
        _prepared(which, surface, loop, scene, arm, dt), READING.new(), GOAL.new(), command, OBSERVED.new(),
        STATE.new(), _work(), (1.0, 0.05, 0.01), dt, out, (told.ctypes.data, told.itemsize),
    )  # fmt: skip
    out, told = out[:ticks], told[:ticks]
    return Trace(told["time_s"], out[:, 0], told["observed"]["pose"][:, :3], told), out[:, 1].astype(int)


def judge_rival(trace: Trace, phase: Array) -> Figures:
    """The same figures for another law."""
    return judged(trace, np.isin(phase, (SEEKING, DWELLING)), phase == SLIDING)
