"""The whole contact loop in one direction, in discrete time: law, filter, transport, servo, arm, surface.

Two answers before anything moves. `loop_matrix` is one tick of the loop as a matrix, linear about a settled contact:
its eigenvalues say whether it is stable, and how much gain or stiffness it still bears. `touch` runs the law's own code
against the same model from the approach on: what the first touch will peak at, and when it will have settled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact import step as contact
from pliant.contact.force import DAMPING_SHARE, INERTIA_SHARE
from pliant.contact.states import SET_START, START
from pliant.contact.surface import FOLLOW_LAGS, QUIET
from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.params.contact import Contact
from pliant.params.control import record_of
from pliant.records import GOAL, OBSERVED, STATE, Field, Layout
from pliant.runtime.task import Task, arm_of
from pliant.sense.wrench import smoothing

Array = np.ndarray[Any, Any]

SUBSTEPS = 4
_LINE = 64


@dataclass(frozen=True)
class Plant:
    """What lies between a commanded speed and the force that comes back, along one direction."""

    omega: float
    """Natural frequency of the servo's critically damped filter [rad/s]."""
    transport: int
    """Transport delay in periods, one of them interpolated."""
    hold: float
    """Natural frequency with which the joints resist a push [rad/s]."""
    mass: float
    """Mass that the arm presents at the tool along this direction [kg]."""
    tool: float
    """Mass that the force sensor carries [kg]."""
    cutoff_hz: float
    """Cut-off of the wrench's low-pass."""
    dt: float
    """Period [s]."""

    @property
    def lag_s(self) -> float:
        """Filter, period, transport and servo together [s]."""
        return 1.0 / (2.0 * math.pi * self.cutoff_hz) + self.dt + self.transport * self.dt + 2.0 / self.omega


def plant_of(task: Task) -> Plant:
    """The loop of a task: its servo, its arm along the tool's axis at the start, its filter and its rate."""
    arm, servo = arm_of(task), task.sim.servo
    q = np.array(task.start_q or arm.q_home, float)
    J, pose = arm.jacobian(q)[:3], arm.pose(q)
    w, x, y, z = pose[3:]
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    inverse = float(axis @ J @ np.linalg.solve(arm.mass_matrix(q), J.T) @ axis)
    return Plant(
        omega=servo.omega,
        transport=max(1, round(servo.delay_s / task.dt)),
        hold=2.0 * math.pi * servo.stiffness_hz,
        mass=1.0 / inverse,
        tool=arm.tool.mass_kg,
        cutoff_hz=task.params.sense.cutoff_hz,
        dt=task.dt,
    )


def gain_for(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The gain [m/(N s)] that the law takes for a surface that it knows."""
    return min(
        p.margin / (p.lag_s * stiffness + DAMPING_SHARE * damping), INERTIA_SHARE * p.lag_s / max(plant.tool, 1e-3)
    )


# ---- stable or not -------------------------------------------------------------------------------------------------


def loop_matrix(p: Contact, plant: Plant, stiffness: float, damping: float, gain: float, known: float) -> Array:
    """One tick of the loop as a matrix, for a surface that the law takes for `known` [N/m].

    The state is: command line, reference and its speed, depth and its speed, filtered force and speed; then what the
    law has seen of the surface (speed, acceleration), or its integral.
    """
    n, own = plant.transport, 2 if p.feed_forward == "surface" else 1
    state = np.eye(n + 6 + own)
    line = [state[i] for i in range(n)]
    ref, ref_d, x, v, f_lp, v_lp = (state[n + i] for i in range(6))
    memory = [state[n + 6 + i] for i in range(own)]
    # what the tick reads
    alpha, dt, h = float(smoothing(plant.cutoff_hz, plant.dt)), plant.dt, plant.dt / SUBSTEPS

    def pull(reference: Array, speed: Array, target: Array) -> Array:
        return plant.omega**2 * (target - reference) - 2 * plant.omega * speed

    def push(acc: Array) -> Array:
        force = stiffness * x + damping * v
        return acc + 2 * plant.hold * (ref_d - v) + plant.hold**2 * (ref - x) - force / plant.mass

    felt = stiffness * x + damping * v + plant.tool * push(pull(ref, ref_d, line[0]))
    f_new, v_new = f_lp + alpha * (felt - f_lp), v_lp + alpha * (v - v_lp)
    # the law about its target: e = -f
    if p.feed_forward == "surface":
        seen = ((f_new - f_lp) - damping * (v_new - v_lp)) / (dt * known) - v_new
        theta = math.exp(-dt / (FOLLOW_LAGS * p.lag_s + p.noise_n / (known * QUIET)))
        w = memory[0] + dt * memory[1]
        off = seen - w
        memory = [w + (1 - theta * theta) * off, memory[1] + (1 - theta) ** 2 / dt * off]
        v_cmd = -gain * f_new - memory[0] - p.lag_s * memory[1]
    else:
        memory = [memory[0] - dt * gain / (p.integral_lags * p.lag_s) * f_new]
        v_cmd = -gain * f_new + memory[0]
    f_lp, v_lp = f_new, v_new
    line.append(line[-1] + dt * v_cmd)
    before, now = line[0], line[1]
    for j in range(SUBSTEPS):
        acc = pull(ref, ref_d, before + (now - before) * (j / SUBSTEPS))
        up = push(acc)
        ref_d = ref_d + h * acc
        ref = ref + h * ref_d
        v = v + h * up
        x = x + h * v
    return np.array([*line[1:], ref, ref_d, x, v, f_lp, v_lp, *memory])


def growth(matrix: Array) -> float:
    """The largest eigenvalue by size: below 1 the loop is stable."""
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def _border(stable: Any, low: float, high: float) -> float:
    """The largest number up to which `stable(number)` holds, between two numbers [by bisection in the logarithm]."""
    if not stable(low):
        return math.nan
    if stable(high):
        return high
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


def gain_margin(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """How many times the law's gain the loop would bear (at most 100); NaN when it does not bear once."""
    gain = gain_for(p, plant, stiffness, damping)

    def stable(times: float) -> bool:
        return growth(loop_matrix(p, plant, stiffness, damping, times * gain, stiffness)) < 1.0

    return _border(stable, 1.0, 100.0)


def largest_stiffness(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The stiffest surface [N/m] that the gain for `stiffness` bears before it learns of the difference."""
    gain = gain_for(p, plant, stiffness, damping)

    def stable(actual: float) -> bool:
        return growth(loop_matrix(p, plant, actual, damping, gain, stiffness)) < 1.0

    return _border(stable, stiffness, 1e3 * stiffness)


# ---- the first touch -----------------------------------------------------------------------------------------------

_POINT = Layout(
    "Point",
    (
        Field("line", "m", "commands on their way", (_LINE,)),
        Field("ref", "m", "reference of the servo"),
        Field("ref_d", "m/s", "its speed"),
        Field("x", "m", "depth of the tool"),
        Field("v", "m/s", "its speed"),
        Field("up", "m/s^2", "its acceleration"),
        Field("force", "N", "force of the surface"),
    ),
)


@kernel
def _advance(b, n, omega, hold, mass, stiffness, damping, dt):
    """One period of servo, arm and surface; depth is positive inside."""
    h = dt / SUBSTEPS
    for j in range(SUBSTEPS):
        target = b.line[0] + (b.line[1] - b.line[0]) * (j / SUBSTEPS)
        acc = omega * omega * (target - b.ref) - 2.0 * omega * b.ref_d
        b.up = acc + 2.0 * hold * (b.ref_d - b.v) + hold * hold * (b.ref - b.x) - b.force / mass
        b.ref_d += h * acc
        b.ref += h * b.ref_d
        b.v += h * b.up
        b.x += h * b.v
        b.force = max(0.0, stiffness * b.x + damping * b.v) if b.x > 0.0 else 0.0
    for i in range(n):
        b.line[i] = b.line[i + 1]


@kernel
def _run(parameters, state, observed, goal, work, point, numbers, n, noise, out):
    """The law's own tick against the model, along z: the tool's axis points down, the surface is at z = 0."""
    p, s, o, g, b = parameters[0].contact, state[0], observed[0], goal[0], point[0]
    omega, hold, mass, tool, alpha, dt, stiffness, damping = numbers
    for i in range(out.shape[0]):
        if i == 1 or i == 2:
            g.order = SET_START if i == 1 else START
            g.orders += 1
        s.wrench[2] = b.force + tool * b.up + noise[i]
        s.wrench_lp[2] += alpha * (s.wrench[2] - s.wrench_lp[2])
        o.twist[2] = -b.v
        contact.step(p, s, o, g, alpha, tool, work[0], dt)
        s.pose[2] += dt * s.twist[2]
        b.line[n] = -s.pose[2]
        _advance(b, n, omega, hold, mass, stiffness, damping, dt)
        out[i] = b.force


@dataclass(frozen=True)
class Touch:
    """What a first touch is predicted to do."""

    time_s: Array
    force_n: Array
    peak_n: float
    settle_s: float
    """Until the force stays within 5 % of the target; NaN: it does not."""


def touch(task: Task, stiffness: float, damping: float, *, seconds: float = 4.0, seed: int = 0) -> Touch:
    """Approach a surface of this stiffness [N/m] and damping [N s/m] with the task's parameters, and hold."""
    plant = plant_of(task)
    parameters = record_of(task.params)
    p = parameters[0].contact
    p.dwell_s, p.settle_s, p.height_m = 1e3, 1e3, 0.0
    random = np.random.default_rng(seed)
    gap = 0.0005 + 1e-5 * random.random()  # when within a tick the tool arrives is left to chance
    state, point = STATE.new(), _POINT.new()
    state[0].pose[:] = (0, 0, gap, 0, 1, 0, 0)
    n = plant.transport
    if n >= _LINE:
        raise InputError("sim.servo.delay_s", task.sim.servo.delay_s, f"less than {_LINE * task.dt:g} s")
    point[0].line[:], point[0].ref, point[0].x = -gap, -gap, -gap
    ticks = round(seconds / plant.dt)
    noise = p.noise_n * random.normal(size=ticks)
    alpha = float(smoothing(plant.cutoff_hz, plant.dt))
    numbers = (plant.omega, plant.hold, plant.mass, plant.tool, alpha, plant.dt, float(stiffness), float(damping))
    out = np.zeros(ticks)
    _run(parameters, state, OBSERVED.new(), GOAL.new(), contact.SCRATCH.new(), point, numbers, n, noise, out)
    touched = int(np.argmax(out > 0.0))
    off = np.flatnonzero(np.abs(out - p.target_n) > 0.05 * p.target_n)
    settled = out.any() and len(off) and off[-1] < ticks - round(0.2 / plant.dt)
    settle = (off[-1] + 1 - touched) * plant.dt if settled else math.nan
    return Touch(np.arange(ticks) * plant.dt, out, float(out.max()), float(settle))
