"""Identify the total lag of a robot: move the tool a little and measure how late the motion and the force follow.

In free space the tool moves back and forth along its axis between two positions, away from what is in front of it, at
pseudo-random times. In contact, the contact law presses first; then the same motion is made, small enough to remove
only part of the force. The recorded command and the recorded motion are compared tick by tick, so it does not matter
when the requests reached the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_states import DWELL, EVENTS, FAULT, is_at_work
from pliant.errors import InputError, PliantError
from pliant.identify.delay_fit import (
    CONFIDENT,
    Delay,
    DelayError,
    ForceDelay,
    check,
    check_force,
    identify,
    identify_force,
)
from pliant.identify.identified_arm import Mover, running_arm
from pliant.identify.payload_motion import joints_at_start, slowed, wait_at_rest
from pliant.model.arm import Arm
from pliant.params.declare import Section, changed, param, validated
from pliant.task.schema import Task, arm_of

Array = np.ndarray[Any, Any]
Progress = Callable[[float], None]

# Shortest and longest stay at one end [s], as multiples of the time in which the motion there takes place.
_SHORT, _LONG = 1.0, 4.0
# In contact, the share of the force that is removed; how long it is held before [s], and how long settling may take
# [s].
_SHARE, _HELD_S, _PATIENCE_S = 0.6, 0.5, 60.0
# The law that presses.
_PRESSING = "contact"
# No arm can be commanded or measured more finely than this [m].
_LEAST_M = 1e-5


class Excitation(Section):
    """The motion from which the lag is identified."""

    amplitude_m: float = param(0.002, unit="m", ge=1e-4, le=0.02, help="How far the tool moves back along its axis.")
    amplitude_rad: float = param(0.01, unit="rad", ge=5e-4, le=0.1, help="How far the joint turns, if `joint` is set.")
    bandwidth_hz: float = param(3.0, unit="Hz", ge=0.5, le=10, help="Bandwidth of the motion.")
    seconds: float = param(8.0, unit="s", ge=2, le=120, help="Duration of the motion.")
    joint: int = param(0, ge=0, le=12, help="Joint to move, from 1 (0: all, so that the tool moves along its axis).")


@dataclass(frozen=True)
class Lag:
    """The parts of the lag between a command and the force that it causes."""

    motion: Delay
    force: ForceDelay | None
    filter_s: float
    period_s: float

    @property
    def total_s(self) -> float:
        """Command to motion, motion to force, filter and period [s]. A force that leads does not make it shorter."""
        late = max(0.0, self.force.lag_s) if self.force else 0.0
        return self.motion.lag_s + late + self.filter_s + self.period_s

    @property
    def std_s(self) -> float:
        """Standard deviation of the total [s]."""
        return math.hypot(self.motion.lag_std_s, self.force.lag_std_s if self.force else 0.0)


@dataclass(frozen=True)
class Motion:
    """Command and motion along one direction, starting at rest."""

    command: Array
    position: Array
    speed: Array
    force: Array
    """Force of the environment on the tool along that direction, not filtered [N]."""
    dt: float


def find_lag(
    task: Task,
    how: Excitation | None = None,
    *,
    contact: bool = False,
    fast: bool = False,
    progress: Progress = lambda share: None,
) -> Lag:
    """Identify the lag of the task's robot; raises `DelayError` if the result cannot be trusted."""
    how = how or Excitation()
    free = move_free(task, how, fast=fast, progress=lambda share: progress(share * (0.5 if contact else 1.0)))
    found, force = identify(free.command, free.position, free.dt), None
    check(found, how.amplitude_rad if how.joint else how.amplitude_m)
    if contact:
        pressed = move_pressed(task, how, fast=fast, progress=lambda share: progress(0.5 + 0.5 * share))
        # the motion was out of the surface, and stiffness counts inwards
        force = identify_force(-pressed.position, -pressed.speed, pressed.force, pressed.dt)
        check_force(force)
    cutoff = task.params.sense.cutoff_hz
    return Lag(found, force, 1.0 / (2.0 * math.pi * cutoff), task.dt)


def declares_surface(task: Task) -> bool:
    """Whether a task declares what it presses on: a surface, its stiffness, or the law for it."""
    return bool(task.sim.surfaces or task.surface_n_m or task.law == _PRESSING)


def pressing_words(task: Task) -> str:
    """What the tool does on the surface."""
    return f"the tool will seek a surface and press with {task.params.contact.target_n:g} N"


def delay_settings(found: Lag) -> dict[str, Any]:
    """The result by the names of a task file; `contact.lag_s` gets the upper end of the confidence interval."""
    settings = {
        "response.delay_s": round(found.motion.delay_s, 5),
        "response.servo_s": round(found.motion.servo_s, 5),
        "params.contact.lag_s": math.ceil((found.total_s + CONFIDENT * found.std_s) * 1e4) / 1e4,
    }
    if found.force is not None:
        settings["response.force_s"] = round(max(0.0, found.force.lag_s), 5)
    return settings


# ---- moving --------------------------------------------------------------------------------------------------------


def move_free(task: Task, how: Excitation, *, fast: bool, progress: Progress = lambda share: None) -> Motion:
    """Move in free space, from the current pose back along the tool axis."""
    arm = arm_of(task)
    _must_have(arm, how.joint)
    with running_arm(_without_script(task, how), fast=fast) as mover:
        start = joints_at_start(mover, arm.n)
        way = _way(arm, start, how)
        wait_at_rest(mover, start, "the start")
        records = _excite(mover, start, way, how, progress)
        mover.move_joints(start)
        wait_at_rest(mover, start, "the start")
    return _along(records, start, way, how.amplitude_rad if how.joint else how.amplitude_m, task.dt, np.zeros(3))


def move_pressed(task: Task, how: Excitation, *, fast: bool, progress: Progress = lambda share: None) -> Motion:
    """Press with the contact law, then move slightly out of the surface and back, so that contact is kept."""
    arm = arm_of(task)
    with running_arm(_pressing(task, how), fast=fast) as mover:
        last = _press(mover)
        c, q = last["contact"], last["state"]["q_cmd"][: arm.n].copy()
        normal = c["normal"].copy()
        try:
            amplitude = _amplitude(c)
            way = _joints_for(arm, q, normal * amplitude)
            up = q + _joints_for(arm, q, normal * task.params.contact.retract_m)
        except PliantError:
            lift_off(mover)
            raise
        mover.law("hold", pressed=True)
        try:
            mover.wait(0.5)
            records = _excite(mover, q, way, how, progress, task.params.contact.force_limit_n)
        finally:  # never leave the tool pressed
            mover.move_joints(up)
            wait_at_rest(mover, up, "the pose above the surface")
    return _along(records, q, way, amplitude, task.dt, normal)


def _amplitude(c: Any) -> float:
    """How far the tool may move out of the surface that it presses on [m]."""
    amplitude = _SHARE * float(c["target_n"]) / float(c["stiffness"])
    if amplitude < _LEAST_M:
        raise DelayError(
            f"On a surface of {float(c['stiffness']):.3g} N/m, a motion of at least {_LEAST_M * 1e6:g} µm loses "
            "contact. Use a softer surface or raise contact.target_n."
        )
    return amplitude


def _without_script(task: Task, how: Excitation) -> Task:
    """The task for this motion: low limits, `hold` with the required bandwidth, and no script."""
    quiet = slowed(task)
    return quiet.model_copy(update={"params": changed(quiet.params, {"hold.bandwidth_hz": how.bandwidth_hz})})


def _pressing(task: Task, how: Excitation) -> Task:
    """The task for pressing on its surface, without its own commands and with an endless dwell."""
    data = _without_script(task, how).model_dump()
    data |= {"law": _PRESSING}
    data["params"] = changed(
        task.params, {"hold.bandwidth_hz": how.bandwidth_hz, "contact.dwell_s": 600.0}
    ).model_dump()
    return validated(Task, data)


def _press(mover: Mover) -> Any:
    """Seek the surface and hold the force; returns the last record. If that fails, the tool is lifted off."""
    mover.wait(0.1)  # a command before the law runs is ignored
    for command in ("set_start", "start"):
        mover.command(command)
        c = mover.wait(0.1)[-1]["contact"]
        if c["rejected"]:
            raise DelayError(f"The contact never started: {EVENTS[int(c['rejected'])]}.")
    try:
        return _wait_held(mover)
    except BaseException:
        lift_off(mover)
        raise


def _wait_held(mover: Mover) -> Any:
    """Wait until the force is held; returns the last record."""
    waited = 0.0
    while waited < _PATIENCE_S:
        last = mover.wait(0.1)[-1]
        waited += 0.1
        c = last["contact"]
        if c["state"] == FAULT:
            raise DelayError(f"The tool did not reach a steady contact: {EVENTS[int(c['reason'])]}.")
        if c["state"] == DWELL and c["held_s"] > _HELD_S:
            return last
    raise DelayError(f"The contact force did not settle within {_PATIENCE_S:g} s. Check the task with pliant check.")


def lift_off(mover: Mover) -> None:
    """Command an active contact to stop, and wait until the tool has lifted off."""
    mover.command("stop")
    waited = 0.0
    while is_at_work(mover.wait(0.1)[-1]["contact"]) and waited < _PATIENCE_S:
        waited += 0.1


def _excite(
    mover: Mover, start: Array, way: Array, how: Excitation, progress: Progress, force_limit_n: float = math.inf
) -> Array:
    """Move back and forth between `start` and `start + way` at pseudo-random times, and end at the start."""
    random = np.random.default_rng(0)
    stay = 1.0 / (2.0 * math.pi * how.bandwidth_hz)
    parts, passed, there = [mover.wait(0.1)[-1:]], 0.0, True
    while passed < how.seconds:
        mover.move_joints(start + way if there else start)
        time_s = stay * float(random.uniform(_SHORT, _LONG))
        parts.append(mover.wait(time_s))
        force = float(np.linalg.norm(parts[-1]["observed"]["wrench"][:, :3], axis=1).max(initial=0.0))
        if force > force_limit_n:
            raise DelayError(f"The force reached {force:.1f} N, more than contact.force_limit_n ({force_limit_n:g} N).")
        passed, there = passed + time_s, not there
        progress(min(1.0, passed / how.seconds))
    return np.concatenate(parts)


def _must_have(arm: Arm, joint: int) -> None:
    if joint > arm.n:
        raise InputError("joint", joint, f"from 1 to {arm.n}, or 0 for the tool")


def _way(arm: Arm, q: Array, how: Excitation) -> Array:
    """The joint motion: of one joint, or of all so that the tool moves back along its axis."""
    if how.joint:
        way = np.zeros(arm.n)
        middle = 0.5 * (arm.q_min + arm.q_max)[how.joint - 1]
        way[how.joint - 1] = how.amplitude_rad if q[how.joint - 1] < middle else -how.amplitude_rad
        return way
    w, x, y, z = arm.pose(q)[3:]
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    return _joints_for(arm, q, -how.amplitude_m * axis)


def _joints_for(arm: Arm, q: Array, shift: Array) -> Array:
    """The joint motion that shifts the tool [m] without turning it, as far as the arm can."""
    J = arm.jacobian(q)
    wanted = np.concatenate([shift, np.zeros(3)]) if arm.n >= 6 else shift
    way = np.linalg.lstsq(J if arm.n >= 6 else J[:3], wanted, rcond=None)[0]
    if np.linalg.norm(J[:3] @ way - shift) > 0.1 * np.linalg.norm(shift):
        raise InputError("the tool's axis", np.round(shift / np.linalg.norm(shift), 2).tolist(),
                         "a direction in which the arm can move", "Move a joint instead: --joint 1.")  # fmt: skip
    if np.abs(way).max() > 0.2:
        raise InputError(
            "the start pose", np.round(q, 2).tolist(), "away from singularities, so that the tool can move"
        )
    return way


def _along(records: Array, start: Array, way: Array, amplitude: float, dt: float, normal: Array) -> Motion:
    """Command and motion along `way`, whose length is `amplitude`; they begin with a moment at rest."""
    if not np.all(np.diff(records["tick"]) == 1):
        raise DelayError("Some records were lost, and the lag cannot be identified without them. Try again.")
    n, scale = len(start), amplitude / float(way @ way)

    def project(values: Array, origin: Array) -> Array:
        return (values[:, :n] - origin) @ way * scale

    command, reading = records["command"], records["reading"]
    return Motion(
        command=project(command["q"], start),
        position=project(reading["q"], start),
        speed=project(reading["qd"], np.zeros(n)),
        force=records["observed"]["wrench"][:, :3] @ normal,
        dt=dt,
    )
