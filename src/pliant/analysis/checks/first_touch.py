"""Predict the first touch before anything moves: the law's own code on a model of servo, arm, filter and surface."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.control.laws.contact import contact_law as contact
from pliant.control.laws.contact.contact_states import SET_START, START
from pliant.control.parameters import record_of
from pliant.control.sense.external_wrench import smoothing
from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.records import GOAL, OBSERVED, STATE, Field, Layout
from pliant.stability.plant import plant_of
from pliant.stability.pressed_loop import SUBSTEPS
from pliant.stability.worst_case import DAMPINGS
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]

_LINE = 64

_POINT = Layout(
    "Point",
    (
        Field("line", "m", "commands in transit", (_LINE,)),
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
            g.command = SET_START if i == 1 else START
            g.commands += 1
        s.wrench[2] = b.force + tool * b.up + noise[i]
        s.wrench_lp[2] += alpha * (s.wrench[2] - s.wrench_lp[2])
        o.pose[2] = -b.x
        contact.step(p, s, o, g, alpha, tool, work[0], dt)
        s.pose[2] += dt * s.twist[2]
        b.line[n] = -s.pose[2]
        _advance(b, n, omega, hold, mass, stiffness, damping, dt)
        out[i] = b.force


@dataclass(frozen=True)
class Touch:
    """A predicted first touch."""

    time_s: Array
    force_n: Array
    peak_n: float
    settle_s: float
    """Settling time until the force stays within 5 % of the target; NaN if it does not settle."""


def worst_damped(task: Task, stiffness: float) -> Touch:
    """The first touch with the worst of the dampings that a surface of this stiffness [N/m] may have."""
    found = [touch(task, stiffness, damping) for damping in DAMPINGS]
    # one that does not settle is the worst, then the slowest; the peak is that of the hardest
    worst = max(found, key=lambda one: (math.isnan(one.settle_s), one.settle_s))
    return replace(worst, peak_n=max(one.peak_n for one in found))


def touch(task: Task, stiffness: float, damping: float, *, seconds: float = 4.0, seed: int = 0) -> Touch:
    """Approach a surface of this stiffness [N/m] and damping [N s/m] with the task's parameters, and hold the force."""
    plant = plant_of(task, stiffness=stiffness)
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
    numbers = (
        plant.omega,
        plant.joint_omega,
        plant.mass,
        plant.tool,
        alpha,
        plant.dt,
        float(stiffness),
        float(damping),
    )
    out = np.zeros(ticks)
    _run(parameters, state, OBSERVED.new(), GOAL.new(), contact.SCRATCH.new(), point, numbers, n, noise, out)
    touched = int(np.argmax(out > 0.0))
    off = np.flatnonzero(np.abs(out - p.target_n) > 0.05 * p.target_n)
    settled = out.any() and len(off) and off[-1] < ticks - round(0.2 / plant.dt)
    settle = (off[-1] + 1 - touched) * plant.dt if settled else math.nan
    return Touch(np.arange(ticks) * plant.dt, out, float(out.max()), float(settle))
