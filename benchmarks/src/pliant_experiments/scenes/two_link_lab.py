"""The two-link arm of the lab experiments: its task, moving goals, and the evaluation of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from pliant.control.limits.cuts import TORQUE
from pliant.control.parameters import Impedance, Limits, Parameters, Sense, diagonal
from pliant.control.telemetry import TELEMETRY, fill
from pliant.control.tick import step
from pliant.kernel import kernel
from pliant.model.two_link import LENGTH, Q_HOME
from pliant.records import LIMIT_TORQUE
from pliant.session.in_process.fast_run import Run, simulate
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Event, ModelError, Task
from pliant.world.period import advance, read
from pliant.world.world_config import Push, Sensor, Servo, SimConfig

Array = np.ndarray[Any, Any]
Goal = Callable[[float], tuple[Array, Array, Array]]
"""Position, velocity and acceleration (two numbers each) of the equilibrium at a time [s]."""

DT = 0.001
MASS, DAMPING, STIFFNESS = 1.0, 100.0, 250.0
X0 = np.array(
    [
        LENGTH[0] * math.cos(Q_HOME[0]) + LENGTH[1] * math.cos(sum(Q_HOME)),
        LENGTH[0] * math.sin(Q_HOME[0]) + LENGTH[1] * math.sin(sum(Q_HOME)),
    ]
)
"""Start position of the tool [m]."""
PLANE = (True, True, False, False, False, False)
SILENT = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)
# A sensor without filter or noise, so that only the law is seen. (A sensor without noise repeats its readings.)
OPEN = Sense(cutoff_hz=400.0, deadband_n=0.0, deadband_nm=0.0, frozen_s=0.0)


def law(mass: float = MASS, damping: Any = DAMPING, stiffness: Any = STIFFNESS, **more: Any) -> Impedance:
    """The impedance of the lab: a number for both x and y, or a matrix; `more` are further parameters by name."""
    wide = {"mass": diagonal(mass, 1.0), "damping": damping, "stiffness": stiffness}
    wide |= {name: diagonal(value, 0.0) for name, value in wide.items() if isinstance(value, float | int)}
    return Impedance.model_validate({"axes": PLANE, "damping_by": "value", **wide, **more})


def lab_task(
    seconds: float,
    impedance: Impedance | None = None,
    *,
    seed: int = 0,
    pushes: tuple[Push, ...] = (),
    events: tuple[Event, ...] = (),
    model_error: ModelError | None = None,
    sensor: Sensor = SILENT,
    limits: Limits | None = None,
) -> Task:
    """The two-link arm, 1 kHz, torque, no delay."""
    return Task(
        name="lab", robot="sim:two_link", law="impedance", interface="torque", rate_hz=1 / DT, duration_s=seconds,
        params=Parameters(sense=OPEN, impedance=impedance or law(), limits=limits or Limits()),
        sim=SimConfig(seed=seed, servo=Servo(delay_s=0.0), sensor=sensor, pushes=pushes),
        events=events, model_error=model_error or ModelError(),
    )  # fmt: skip


def push(axis: int, force: float, at_s: float = 0.5, for_s: float = 1e3, ramp_s: float = 0.0) -> Push:
    """A push along x (0) or y (1) [N]."""
    wrench = [0.0] * 6
    wrench[axis] = force
    return Push.model_validate({"at_s": at_s, "for_s": for_s, "ramp_s": ramp_s, "wrench": wrench})


def goal_at(x: float, y: float, at_s: float = 0.5) -> Event:
    """The equilibrium at (x, y) [m] from `at_s` on."""
    return Event(at_s=at_s, goal_offset_m=(x - X0[0], y - X0[1], 0.0))


def pushed(axis: int, force: float, seconds: float, impedance: Impedance | None = None, **more: Any) -> Run:
    """A push along one axis from half a second on."""
    return simulate(lab_task(seconds, impedance, pushes=(push(axis, force),), **more))


def place(records: Array) -> Array:
    """Tool position in the plane [m]."""
    return records["observed"]["pose"][:, :2]


def moved(records: Array) -> Array:
    """Tool displacement from its start, in x and y [mm]."""
    return 1e3 * (place(records) - place(records)[0])


def speed(records: Array) -> Array:
    """Tool speed in the plane [m/s]."""
    return np.linalg.norm(records["observed"]["twist"][:, :2], axis=1)


def asked_torque(records: Array, most: Any) -> float:
    """The largest requested joint torque as a share of its limit [%], before limiting."""
    share = (np.abs(records["command"]["tau"][:, : len(most)]) / most).max()
    cut = (records["observed"]["limits"] & LIMIT_TORQUE) != 0
    asked = np.abs(records["observed"]["asked"][cut, TORQUE]).max(initial=0.0) / min(most)
    return 100 * float(max(share, asked))


def rest(records: Array, seconds: float = 0.2) -> Array:
    """Final displacement in x and y [mm]: the mean over the last part of a run."""
    return moved(records)[-round(seconds / DT) :].mean(axis=0)


@kernel
def _along(world, handle, parameters, state, reading, goal, command, observed, work, mode, dt, goals, out, size):
    """A run whose goal is another one in every tick: position, velocity and acceleration in x and y."""
    w, h, p, s, r = world[0], handle[0], parameters[0], state[0], reading[0]
    g, c, o, k = goal[0], command[0], observed[0], work[0]
    for i in range(goals.shape[0]):
        for axis in range(2):
            g.pose[axis], g.twist[axis], g.accel[axis] = goals[i, axis], goals[i, 2 + axis], goals[i, 4 + axis]
        read(w, r)
        step(h, p, s, r, g, c, o, k, mode, dt)
        advance(w, c)
        fill(out + i * size, i, dt, 0, r, g, o, c, s, k)


def run_along(task: Task, goal: Goal) -> Array:
    """The records of a run with a moving equilibrium, including its velocity and acceleration."""
    simulation, out = Simulation(task), TELEMETRY.new(task.ticks)
    goals = np.array([np.concatenate(goal(i * task.dt)) for i in range(task.ticks)])
    _along(simulation.world.record, *simulation.runner.controller.arguments, goals, out.ctypes.data, out.itemsize)
    return out


def circle(radius: float, hertz: float, middle: Array = X0) -> Goal:
    """An equilibrium on a circle that starts at rest: the speed rises over the first turn."""

    def at(t: float) -> tuple[Array, Array, Array]:
        omega, period = 2 * math.pi * hertz, 1 / hertz
        s = min(t / period, 1.0)
        # angle, its speed and its acceleration: a smooth start, then constant
        rate, slope = (s * s * (3 - 2 * s), 6 * s * (1 - s) / period) if s < 1 else (1.0, 0.0)
        angle = omega * period * (s**3 - 0.5 * s**4) + omega * max(0.0, t - period)
        w, a = omega * rate, omega * slope
        c, d = np.array([math.cos(angle) - 1, math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
        return middle + radius * c, radius * w * d, radius * (a * d - w * w * np.array([c[0] + 1, c[1]]))

    return at


def damping_ratio(time_s: Array, way: Array, target: float) -> float:
    """The damping ratio of a step response, without knowledge of mass and stiffness.

    Underdamped: from successive peaks around the target. Overdamped: from both fitted time constants.
    """
    off = way - target
    turns = np.flatnonzero(np.diff(np.sign(np.diff(way)))) + 1
    peaks = np.abs(off[turns])
    peaks = peaks[peaks > 1e-3 * abs(target)]
    if len(peaks):
        fall = math.log(peaks[0] / peaks[-1]) / (len(peaks) - 1) if len(peaks) > 1 else math.log(abs(target) / peaks[0])
        return fall / math.hypot(math.pi, fall)
    # x/target = 1 + (b e^{-a t} - a e^{-b t})/(a - b) after a dead time of some ticks, ζ = (a + b)/(2 √(a b))
    times = time_s - time_s[0]

    def gap(found: Array) -> Array:
        a, b, t = np.exp(found[0]), np.exp(found[0]) + np.exp(found[1]), np.maximum(0.0, times - found[2])
        return 1 + (b * np.exp(-a * t) - a * np.exp(-b * t)) / (a - b) - way / target

    half = times[np.argmax(np.abs(way) > 0.5 * abs(target))]
    first, bounds = [math.log(0.7 / half), math.log(20.0 / half), 1e-3], ([-20.0, -20.0, 0.0], [20.0, 20.0, 5e-3])
    found = least_squares(gap, first, bounds=bounds, x_scale=[1.0, 1.0, 1e-3], xtol=1e-12, ftol=1e-12).x
    a, b = math.exp(found[0]), math.exp(found[0]) + math.exp(found[1])
    return 0.5 * (a + b) / math.sqrt(a * b)
