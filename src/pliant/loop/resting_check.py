"""Before the first motion of a real arm: does its force sensor read what the task's tool and offset explain?

A tool that the task does not declare, or a declared one that is not mounted, is a constant push to every
force-controlled law: the arm would move from the first tick on. So would a hand or an object that touches the tool.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from pliant.control.laws.registry import DEFAULT, LAWS
from pliant.control.parameters import record_of
from pliant.control.sense.resting_limit import BEFORE_S, most_at_rest_n, most_at_rest_nm
from pliant.errors import RejectedError
from pliant.model.arm import Arm
from pliant.records import WRENCH_OK
from pliant.robots import is_simulated
from pliant.robots.interface import Robot
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]

# How long the sensor may take to come within the limit [s]: a payload that was set just now, an arm that still sways.
SETTLE_S = 1.0
# Fewer good readings than this are no mean. On a busy machine they take longer; a sensor that has not given them after
# so long [s] has failed, which is for the tick to judge.
LEAST, LONGEST_S = 5, 2.0


class Limit(NamedTuple):
    """A law, the resting force and moment with which it may start, and the parameter that sets them."""

    law: str
    most_n: float
    most_nm: float
    parameter: str

    def is_kept(self, wrench: Array) -> bool:
        """Whether this resting wrench is within the limit."""
        return bool(np.linalg.norm(wrench[:3]) <= self.most_n and np.linalg.norm(wrench[3:]) <= self.most_nm)


def limit_of(task: Task) -> Limit | None:
    """The strictest limit of the laws that the task starts by itself; None if none of them uses the force sensor.

    A law that no event starts is started by hand; it then rejects the start if necessary.
    """
    p, laws = task.params, {task.law, *(event.law for event in task.events)}
    found: list[Limit] = []
    record = record_of(p)[0]
    for law in (LAWS[name] for name in sorted(laws - {""})):
        by_motion = task.interface == "torque" and not law.is_own and not law.needs_wrench(record[law.section])
        if law.commands and law.commands.starts not in (event.command for event in task.events):
            continue
        if law.resting_n:
            most = getattr(getattr(p, law.section), law.resting_n)
            found.append(Limit(law.name, most, math.inf, f"{law.section}.{law.resting_n}"))
        elif law.feels and not by_motion:
            most = most_at_rest_n(p.sense.deadband_n)
            found.append(Limit(law.name, most, most_at_rest_nm(p.sense.deadband_nm), "sense.deadband_n"))
    return min(found, key=lambda one: one.most_n, default=None)


def check_rest(task: Task, robot: Robot, arm: Arm, reading: Any) -> None:
    """Raise if the resting wrench is too large for the task's laws; a simulated arm is not checked."""
    limit = None if is_simulated(task.robot) else limit_of(task)
    if limit is None:
        return
    deadline = time.monotonic() + SETTLE_S
    while (mean := _mean(robot, arm.n, reading, task.dt)) is not None:
        shown, explained = mean[0], arm.tool_weight(mean[1]) + task.params.sense.bias
        if limit.is_kept(shown - explained):
            return
        if time.monotonic() > deadline:
            raise _refusal(task, robot.name, limit, shown, explained)
    if not robot.fault:  # a fault has its own sentence, which the loop tells
        raise RejectedError(
            f"Nothing has moved: the force sensor of {robot.name} gave fewer than {LEAST} usable readings within "
            f"{LONGEST_S:g} s, and the law {limit.law} needs it. Check that it is connected and sends finite numbers."
        )


def _mean(robot: Robot, n: int, reading: Any, dt: float) -> tuple[Array, Array] | None:
    """Mean wrench at the sensor and joint positions of a moment; None if the readings cannot be used."""
    robot.read(reading)  # the first one may take long: what it needs is loaded
    rows, r, begun = [], reading[0], time.monotonic()
    while (passed := time.monotonic() - begun) < BEFORE_S or (len(rows) < LEAST and passed < LONGEST_S):
        robot.read(reading)
        if robot.fault:
            return None
        if r.wrench_state == WRENCH_OK and np.isfinite(r.wrench).all():
            rows.append(np.concatenate([r.wrench, r.q[:n]]))
        time.sleep(dt)
    if len(rows) < LEAST:
        return None
    mean = np.mean(rows, axis=0)
    return mean[:6], mean[6:]


def _refusal(task: Task, robot: str, limit: Limit, shown: Array, explained: Array) -> RejectedError:
    """What was read, what the task expects, what to do."""
    law, most, most_nm, parameter = limit
    left = shown - explained
    is_force = np.linalg.norm(left[:3]) > most
    part, unit, digits = (slice(3), "N", 1) if is_force else (slice(3, 6), "N m", 2)
    reads, expects, differs = (f"{np.linalg.norm(one[part]):.{digits}f} {unit}" for one in (shown, explained, left))
    parameter = parameter if is_force else "sense.deadband_nm"
    return RejectedError(
        f"Nothing has moved: the force sensor of {robot} reads {reads} at rest. With the declared tool "
        f"({task.tool.mass_kg:g} kg) and sense.bias it should read {expects}. They differ by {differs} (as vectors); "
        f"{law} starts only below {most if is_force else most_nm:.3g} {unit}.\n"
        "- Take hands and objects off the tool.\n"
        "- Mount the tool that the task declares, or measure the mounted one: pliant identify payload FILE --write.\n"
        f"- If only the sensor has drifted, run the task with law: {DEFAULT}, then pliant tare and "
        "pliant set --save FILE.\n"
        f"- If the difference is intended, raise {parameter}.",
        field=parameter,
    )
