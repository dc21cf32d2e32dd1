"""Predict the first touch before anything moves: the law's own code on a model of servo, arm, filter and surface."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.control.laws.contact import contact_law as contact
from pliant.control.laws.contact.contact_record import contact_of
from pliant.control.laws.contact.contact_states import SET_START, START
from pliant.control.parameters import record_of
from pliant.control.sense.external_wrench import smoothing
from pliant.kernel import kernel
from pliant.records import GOAL, OBSERVED, STATE
from pliant.stability.body import SUBSTEPS, body_of
from pliant.stability.plant import Plant, plant_of
from pliant.stability.worst_case import DAMPINGS
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]

# The two systems, and what is read from them: depth, force of the surface, depth by the motors, force by the sensor.
FREE, TOUCHING = 0, 1
DEPTH, PRESS, SEEN, FELT = range(4)


@kernel
def _weigh(row, z, told):
    """A row of the system, applied to the state `z` and the command."""
    total = row[-1] * told
    for i in range(len(z)):
        total += row[i] * z[i]
    return total


@kernel
def _is_touching(system, z, told):
    """Whether the surface pushes: it never pulls."""
    rows = system[TOUCHING, len(z) :]
    return _weigh(rows[DEPTH], z, told) > 0.0 and _weigh(rows[PRESS], z, told) > 0.0


@kernel
def _advance(system, z, before, line):
    """One period of servo, arm and surface."""
    size = len(z)
    for j in range(SUBSTEPS):
        told = line[0] + (line[1] - line[0]) * (j / SUBSTEPS)
        rows = system[TOUCHING if _is_touching(system, z, told) else FREE]
        before[:] = z
        for i in range(size):
            z[i] = _weigh(rows[i], before, told)


@kernel
def _run(parameters, state, observed, goal, work, system, kept, numbers, noise, out):
    """The law's own tick against the model, along z: the tool's axis points down, the surface is at z = 0."""
    p, s, o, g = parameters[0].contact, state[0], observed[0], goal[0]
    c = contact_of(s)
    mass, alpha, dt = numbers
    line, readings, z, before = kept
    n, size = len(line) - 1, len(z)
    for i in range(len(out)):
        if i == 1 or i == 2:
            g.command = SET_START if i == 1 else START
            g.commands += 1
        body = system[TOUCHING if _is_touching(system, z, line[0]) else FREE, size:]
        readings[len(readings) - 1] = _weigh(body[FELT], z, line[0]) + noise[i]
        s.wrench[2] = readings[0]
        for k in range(len(readings) - 1):
            readings[k] = readings[k + 1]
        s.wrench_lp[2] += alpha * (s.wrench[2] - s.wrench_lp[2])
        o.pose[2] = -_weigh(body[SEEN], z, line[0])
        contact.step(p, s, o, g, alpha, mass, work[0], dt)
        s.pose[2] += dt * s.twist[2]
        line[n] = -s.pose[2]
        _advance(system, z, before, line)
        for k in range(n):
            line[k] = line[k + 1]
        pressed = _is_touching(system, z, line[0])
        out[i, 0] = _weigh(system[TOUCHING, size + PRESS], z, line[0]) if pressed else 0.0
        out[i, 1] = c.steady_n


@dataclass(frozen=True)
class Touch:
    """A predicted first touch."""

    time_s: Array
    force_n: Array
    peak_n: float
    settle_s: float
    """Settling time until the force stays within 5 % of the target; NaN if it does not settle."""
    held_n: float
    """Standard deviation of the force on which the law decides that its target is held, over the last second."""


def worst_damped(task: Task, stiffness: float) -> Touch:
    """The first touch with the worst of the dampings that a surface of this stiffness [N/m] may have.

    Peak and settling time are those without noise of the sensor, because they are properties of the loop; what noise
    does to the force that is held is `held_n`. The force over time is that with noise.
    """
    quiet = [touch(task, stiffness, damping, noisy=False) for damping in DAMPINGS]
    loud = [touch(task, stiffness, damping) for damping in DAMPINGS]
    # one that does not settle is the worst, then the slowest; the peak is that of the hardest
    at, worst = max(enumerate(quiet), key=lambda one: (math.isnan(one[1].settle_s), one[1].settle_s))
    return replace(
        loud[at],
        peak_n=max(one.peak_n for one in quiet),
        settle_s=worst.settle_s,
        held_n=max(one.held_n for one in loud),
    )


def touch(
    task: Task, stiffness: float, damping: float, *, seconds: float = 4.0, seed: int = 0, noisy: bool = True
) -> Touch:
    """Approach a surface of this stiffness [N/m] and damping [N s/m] with the task's parameters, and hold the force."""
    plant = plant_of(task, stiffness=stiffness)
    parameters = record_of(task.params)
    p = parameters[0].contact
    p.dwell_s, p.settle_s, p.height_m = 1e3, 1e3, 0.0
    random = np.random.default_rng(seed)
    gap = 0.0005 + 1e-5 * random.random()  # when within a tick the tool arrives is left to chance
    state = STATE.new()
    state[0].pose[:] = (0, 0, gap, 0, 1, 0, 0)
    ticks = round(seconds / plant.dt)
    noise = (p.noise_n if noisy else 0.0) * random.normal(size=ticks)
    alpha = float(smoothing(plant.cutoff_hz, plant.dt))
    body, out = body_of(plant, stiffness, damping), np.zeros((ticks, 2))
    kept = (np.full(plant.transport + 1, -gap), np.zeros(plant.late + 1), -gap * body.resting, np.zeros(len(body.over)))
    _run(
        parameters, state, OBSERVED.new(), GOAL.new(), contact.SCRATCH.new(), _system(plant, stiffness, damping), kept,
        (plant.tool, alpha, plant.dt), noise, out,
    )  # fmt: skip
    force, steady = out.T
    touched = int(np.argmax(force > 0.0))
    off = np.flatnonzero(np.abs(force - p.target_n) > 0.05 * p.target_n)
    settled = force.any() and len(off) and off[-1] < ticks - round(0.2 / plant.dt)
    settle = (off[-1] + 1 - touched) * plant.dt if settled else math.nan
    held = float(steady[-round(1.0 / plant.dt) :].std())
    return Touch(np.arange(ticks) * plant.dt, force, float(force.max()), float(settle), held)


def _system(plant: Plant, stiffness: float, damping: float) -> Array:
    """The body, free and touching: rows of Φ and Γ of a substep, then those of what is read from it."""
    found = []
    for k, d in ((0.0, 0.0), (stiffness, damping)):
        body = body_of(plant, k, d)
        press = stiffness * body.depth + damping * body.speed
        rows = [body.depth, press, body.seen, body.felt]
        table = np.zeros((len(body.step) + len(rows), len(body.step) + 1))
        table[:, :-1] = np.vstack([body.step, *rows])
        table[: len(body.step), -1] = body.push
        table[len(body.step) + FELT, -1] = body.feed
        found.append(table)
    return np.array(found)
