"""A probe above a surface in the simulator: the task, the run with the true force, and the figures of a contact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.analysis.contact_figures import ContactFigures as Figures
from pliant.analysis.contact_figures import figures_in, figures_of
from pliant.analysis.targets import Figure, within
from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.contact_states import DONE
from pliant.control.parameters import Parameters, Sense
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.session.in_process.compiled_steps import TRUTH
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Event, Task
from pliant.world.world_config import Sensor, Servo, SimConfig, Surface

Array = np.ndarray[Any, Any]

# A probe with a point tip: its path length on a dome follows from the dome's radius.
TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
FORCE, RADIUS, FRICTION, GAP = 5.0, 0.045, 0.3, 0.003
HEADING = (0.0, 1.0, 0.0)
# Before a tare, the arm comes to rest for so long [s].
REST_S = 0.5


@dataclass(frozen=True)
class Loop:
    """A robot with a given total lag, made up of servo, transport delay and wrench filter."""

    name: str
    servo: Servo
    cutoff_hz: float

    def lag_s(self, dt: float = 0.002) -> float:
        """Total lag [s]: filter, period, transport and servo."""
        return 1.0 / (2.0 * math.pi * self.cutoff_hz) + dt + self.servo.lag_s


# 3.2 ms of filter, 2 ms of period, 4 ms of transport, 15.8 ms of servo: 25 ms
QUICK = Loop("25 ms", Servo(bandwidth_hz=12.97, delay_s=0.004), 50.0)
# the default servo: 14 ms of filter, 2 ms of period, 4 ms of transport, 30 ms of servo: 50 ms
SLOW = Loop("50 ms", Servo(), 11.4)


def top_of_home() -> Array:
    """Position of the tip at the home pose [m]."""
    arm = Arm.load("ur5e", TOOL)
    return arm.pose(arm.q_home)[:3]


def dome(stiffness: float) -> Surface:
    """A dome with its top below the tip."""
    x, y, z = top_of_home()
    return Surface(
        kind="dome",
        position_m=(float(x), float(y), float(z) - GAP - RADIUS),
        radius_m=RADIUS,
        stiffness_n_m=stiffness,
        friction=FRICTION,
    )


def plane(stiffness: float, tilt_deg: float = 0.0, **more: Any) -> Surface:
    """A plane below the tip, tilted about the base's x axis so that the path leads up; its z axis points outward."""
    x, y, z = (float(v) for v in top_of_home())
    return Surface(
        position_m=(x, y, z - GAP), rpy_deg=(tilt_deg, 0.0, 0.0), stiffness_n_m=stiffness, friction=FRICTION, **more
    )


def task(surfaces: tuple[Surface, ...], loop: Loop, seed: int, seconds: float, **contact: Any) -> Task:
    """A contact task that starts by itself. Only the stiffness range is declared, nothing else about the surface."""
    parameters = Parameters(
        sense=Sense(cutoff_hz=loop.cutoff_hz),
        contact=Contact(lag_s=loop.lag_s(), target_n=FORCE, heading=HEADING, **contact),
    )
    return Task(
        name="contact", law="contact", duration_s=seconds, tool=TOOL, params=parameters,
        sim=SimConfig(seed=seed, servo=loop.servo, sensor=Sensor(), surfaces=surfaces),
        events=(Event(at_s=0.1, command="set_start"), Event(at_s=0.2, command="start")),
    )  # fmt: skip


@dataclass(frozen=True)
class Trace:
    """A run: time, true force along the true normal, tip; and for Pliant's own law, what else is known of it."""

    time_s: Array
    normal_n: Array
    tip: Array
    records: Array | None = None
    normal: Array | None = None
    """The true normal (zeros without contact)."""
    static_n: Array | None = None
    """What static errors of the sensor add to the force along that normal, beyond the zero that the law took [N]."""


def run_contact(what: Task, *, tare_s: float = 0.0) -> Trace:
    """Run a task and store the true force after every tick; ends soon after the contact is done.

    With `tare_s` [s], the force sensor is tared first for that time.
    """
    simulation = Simulation(what, unchecked=True)  # a bad contact has figures too
    if tare_s > 0.0:
        simulation.wait(REST_S)
        simulation.tare(tare_s)
    chunk = round(0.2 * what.rate_hz)
    parts, truths = [], []
    for first in range(simulation.tick, what.ticks, chunk):
        truth = np.zeros((min(chunk, what.ticks - first), TRUTH))
        out = simulation.advance(len(truth), truth)
        parts.append(out)
        truths.append(truth[: len(out)])
        if not simulation.running or out[-1]["contact"]["state"] == DONE or out[-1]["state"]["fault"]:
            break
    records, truth = np.concatenate(parts), np.concatenate(truths)
    normal = truth[:, 4:7]
    static_n = np.sum(normal * (truth[:, 7:10] - records["contact"]["zero"]), axis=1)
    return Trace(records["time_s"], truth[:, 3], records["observed"]["pose"][:, :3], records, normal, static_n)


def contact_of(trace: Trace) -> Array:
    """The contact records of every tick, for a run of Pliant's law."""
    assert trace.records is not None
    return trace.records["contact"]


def state_of(trace: Trace) -> Array:
    """The state of the contact law in every tick."""
    return contact_of(trace)["state"]


def judged(trace: Trace, before: Array, slide: Array, target: float = FORCE) -> Figures:
    """The figures of a run of any law; `before` and `slide` mark the ticks before and during the slide."""
    return figures_in(trace.time_s, trace.normal_n, before, slide, target)


def judge(trace: Trace, target: float = FORCE) -> Figures:
    """The figures of a run of Pliant's law, all from the true force."""
    assert trace.records is not None
    return figures_of(trace.records, trace.normal_n, target)


def completed(name: str, found: Figures) -> list[Figure]:
    """The targets of a slide that must be complete."""
    return [
        within(f"{name}: slide distance", 1e3 * found.way_m, "mm", 50.0, 0.1),
        within(f"{name}: ends as done with the path complete (1 is yes)", float(found.ended), "", 1.0, 0.0),
    ]
