"""The checks of an open robot: time stamps, motion, wrench, stop, watchdog, lost connection."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.testing.driven_robot import Array, BusyError, Driven, FailedError, SkippedError

if TYPE_CHECKING:
    from pliant.testing.robot_checks import Bench

MOVED_BY = ("velocity", "position")
"""The interfaces by which these checks move an arm. A velocity command lasts until it is replaced, so it comes
first.
"""

# How long stamps are watched, and how many new ones must come [s, -]; how much faster than ours a clock may seem.
_STAMPS_S, _STAMPS, _CLOCK_RATIO = 0.5, 10, 1.5
# How much older or newer than the joint readings a wrench may be [s].
_WRENCH_AGE_S = 0.1
# How long a motion there and back takes, and how long one with a constant speed [s].
_MOTION_S, _RUN_S = 2.0, 0.5
# Allowed relative error of a motion or of a force.
_SHARE = 0.3
# How far a joint may move beyond what speed and time explain [rad, m].
_SLACK = 0.002
# The push [N], how long it lasts, settles and is averaged [s]; the least weight that shows a sign [N].
_PUSH_N, _PUSH_S, _SETTLE_S, _MEAN_S, _LEAST_N = 10.0, 4.0, 1.0, 0.3, 3.0
# How long an arm is watched to see whether it rests, and how long a lost connection may stay unnoticed [s].
_REST_S, _LOST_S = 0.3, 10.0


def preferred(interfaces: tuple[str, ...]) -> str:
    """The interface to move the arm by."""
    return next((name for name in MOVED_BY if name in interfaces), interfaces[0] if interfaces else "position")


def time_stamps(it: Driven, bench: Bench) -> str:
    """Stamps are in seconds, increase, and are renewed; the wrench has the same clock."""
    rows: list[tuple[float, float]] = []
    ages: list[float] = []
    begun = it.now_s
    while it.now_s - begun < _STAMPS_S or (len(rows) < _STAMPS and it.now_s - begun < _LOST_S):
        it.watch(it.dt)
        it.must_be_well()
        r = it.reading
        if rows and r.stamp_s < rows[-1][1]:
            raise FailedError(f"stamp_s went back, from {rows[-1][1]:.6g} to {float(r.stamp_s):.6g}.")
        if not rows or r.stamp_s > rows[-1][1]:
            rows.append((it.now_s, float(r.stamp_s)))
        if r.wrench_state == it.robot.WRENCH_OK:
            ages.append(float(r.stamp_s - r.wrench_stamp_s))
    if ages and not abs(age := float(np.median(ages))) <= _WRENCH_AGE_S:
        raise FailedError(
            f"wrench_stamp_s is {age:.3g} s before stamp_s. Both are in seconds on one clock, and a good wrench is at "
            f"most {_WRENCH_AGE_S:g} s old."
        )
    passed, ours = rows[-1][1] - rows[0][1], rows[-1][0] - rows[0][0]
    if len(rows) < _STAMPS:
        raise FailedError(f"only {len(rows)} new states arrived in {it.now_s - begun:.1f} s. stamp_s must be renewed.")
    if not 1.0 / _CLOCK_RATIO <= passed / ours <= _CLOCK_RATIO:
        raise FailedError(
            f"stamp_s advanced by {passed:.4g} in {ours:.3g} s. It must be in seconds"
            + (", and this looks like milliseconds." if 500 < passed / ours < 2000 else ".")
        )
    return f"{len(rows)} new states in {ours:.2f} s; stamps are in seconds and increase."


def commands(it: Driven, bench: Bench) -> str:
    """A small motion there and back is carried out by the right joint, and velocities are those of the positions."""
    joint, size = _joint(it, bench), bench.settings.motion_rad
    start, unit = it.q.copy(), np.zeros(it.n)
    unit[joint] = _inward(it, joint)
    turn = 2.0 * math.pi / _MOTION_S

    def path(t: float) -> tuple[Array, Array]:
        """Half a cosine there, half a cosine back."""
        return start + 0.5 * size * (1.0 - math.cos(turn * t)) * unit, 0.5 * size * turn * math.sin(turn * t) * unit

    rows = it.follow(path, _MOTION_S)
    moved = np.array([(q - start) for _, q, _ in rows])
    along = moved @ unit
    top = int(along.argmax())
    names, worst = it.robot.arm.joint_names, int(np.abs(moved).max(axis=0).argmax())
    if worst != joint and np.abs(moved[:, worst]).max() > 0.5 * size:
        raise FailedError(f"{names[joint]} was commanded, but {names[worst]} moved. Check the order of the joints.")
    if not abs(along[top] / size - 1.0) <= _SHARE:
        raise FailedError(
            f"{names[joint]} was commanded to move by {size:g}, but {along[top]:.4g} was measured. Check units, signs "
            "and whether the command is carried out."
        )
    stamps = np.array([row[0] for row in rows[: top + 1]])
    speeds = np.array([row[2] for row in rows[: top + 1]]) @ unit
    summed = float(np.sum(0.5 * (speeds[1:] + speeds[:-1]) * np.diff(stamps)))
    if not abs(summed / along[top] - 1.0) <= _SHARE:
        raise FailedError(
            f"{names[joint]} moved by {along[top]:.4g}, but its velocities add up to {summed:.4g}. Check that qd is in "
            "rad/s and stamp_s in seconds."
        )
    return f"{names[joint]} moved by {along[top]:.4f} of {size:g}; its velocities add up to {summed:.4f}."


def wrench(it: Driven, bench: Bench) -> str:
    """What the environment does to the robot is positive: a push up reads as a push up."""
    push = bench.settings.push or (it.robot.push if it.is_simulated else None)
    weight = it.robot.arm.tool.mass_kg * float(np.linalg.norm(it.robot.arm.gravity))
    if push is None and weight < _LEAST_N:
        raise SkippedError("give push=…, or a Task with the tool that is mounted, to check the sign.")
    if push is not None:  # the check may be repeated while an earlier push lasts
        push([0.0] * 6, 0.0)
        it.hold(_MEAN_S)
    before = _mean(it)
    if push is None:
        expected, found, what = it.robot.arm.tool_weight(it.q)[:3], before, "the tool's weight"
    else:
        push([0.0, 0.0, _PUSH_N, 0.0, 0.0, 0.0], _PUSH_S)
        it.hold(_SETTLE_S)
        expected, found, what = _in_sensor(it, [0.0, 0.0, _PUSH_N]), _mean(it) - before, f"a push up of {_PUSH_N:g} N"
    size = float(np.linalg.norm(expected))
    share = float(found @ expected) / size**2
    shown = f"{what} should read {np.round(expected, 1)} N in the sensor frame, and reads {np.round(found, 1)} N"
    if share < -0.5:
        raise FailedError(f"{shown}. The sign is reversed: what the environment does to the robot is positive.")
    if float(np.linalg.norm(found - expected)) > _SHARE * size:
        if push is None:
            raise SkippedError(f"{shown}. The sensor's offset is too large to judge; give push=….")
        raise FailedError(f"{shown}. Check the axes and the units.")
    return f"{shown}."


def _mean(it: Driven) -> Array:
    return np.mean(it.hold(_MEAN_S), axis=0)[:3]


def _in_sensor(it: Driven, force: list[float]) -> Array:
    """A force of the base frame in the sensor frame."""
    inverse, turned = np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, it.robot.arm.sensor_pose(it.q)[3:])
    mujoco.mju_rotVecQuat(turned, np.array(force), inverse)
    return turned


def stop(it: Driven, bench: Bench) -> str:
    """A moving arm rests soon after `stop`, which may be called again."""
    joint, speed = _joint(it, bench), _speed(it, bench)
    it.move(joint, speed, _RUN_S)
    it.read()
    last, at = it.q.copy(), it.now_s
    it.call("stop")
    late = it.now_s - at
    travelled = _travelled(it, bench, joint, last)
    most = abs(speed) * (bench.settings.stop_s + late) + _SLACK
    if travelled > most:
        raise FailedError(
            f"{it.robot.arm.joint_names[joint]} moved by {travelled:.4f} after stop, at a speed of {abs(speed):.3g} "
            f"before; {most:.4f} is allowed (stop_s = {bench.settings.stop_s:g} s)."
        )
    it.call("stop")
    it.is_stopped = True
    return f"at rest after {travelled:.4f} of motion; stop may be repeated."


def watchdog(it: Driven, bench: Bench) -> str:
    """An arm whose client is silent, but connected, comes to rest."""
    if it.is_simulated:
        raise SkippedError("a simulated robot advances only with write.")
    joint, speed, within = _joint(it, bench), _speed(it, bench), bench.settings.watchdog_s
    it.move(joint, speed, _RUN_S)
    last, at = it.q.copy(), it.now_s
    time.sleep(3.0 * within)
    it.read()
    if it.now_s - at > 4.0 * within:
        raise BusyError
    travelled = _travelled(it, bench, joint, last)
    most = abs(speed) * (within + bench.settings.stop_s + it.dt) + _SLACK
    if travelled > most:
        raise FailedError(
            f"{it.robot.arm.joint_names[joint]} moved by {travelled:.4f} without commands, at a speed of "
            f"{abs(speed):.3g}; {most:.4f} is allowed (watchdog_s = {within:g} s). The arm needs a watchdog."
        )
    return f"at rest {travelled:.4f} after the last command, within {within:g} s."


def lost_connection(it: Driven, bench: Bench) -> str:
    """A lost connection is a fault in words; nothing raises or hangs."""
    if bench.settings.cut is None:
        raise SkippedError("give cut=…, a function that breaks the connection.")
    it.hold(_RUN_S)
    bench.settings.cut()
    begun = it.now_s
    while not it.robot.fault:
        if it.now_s - begun > _LOST_S:
            raise FailedError(f"no fault was reported within {_LOST_S:g} s after the connection was cut.")
        it.read()
        if not it.robot.fault:
            it.write(it.hold_q, np.zeros(it.n))
        time.sleep(it.dt)
    for action in ("stop", "stop", "close"):
        it.call(action)
    it.is_stopped = True
    return f"fault: {it.robot.fault}."


def _travelled(it: Driven, bench: Bench, joint: int, last: Array) -> float:
    """How far the joint has moved since `last`; raises if it still moves.

    A driver that reads no more after its end is opened again.
    """
    seen = it.watch(_REST_S, last)
    if len(seen) < 2:
        if bench.once:
            raise SkippedError("the robot cannot be read after its end.")
        it.call("stop")
        it.call("close")
        it.is_stopped = True
        with bench.opened(it.interface) as again:
            return abs(float(again.q[joint] - last[joint]))
    speed = abs(float(seen[-1][joint] - seen[0][joint])) / _REST_S
    if speed > 0.2 * abs(_speed(it, bench)):
        raise FailedError(f"{it.robot.arm.joint_names[joint]} still moves, at {speed:.3g} per second.")
    return abs(float(seen[-1][joint] - last[joint]))


def _joint(it: Driven, bench: Bench) -> int:
    return range(it.n)[bench.settings.joint]


def _inward(it: Driven, joint: int) -> float:
    """The direction towards the middle of a joint's range."""
    arm: Any = it.robot.arm
    return 1.0 if it.q[joint] <= 0.5 * (arm.q_min[joint] + arm.q_max[joint]) else -1.0


def _speed(it: Driven, bench: Bench) -> float:
    """The constant speed of a motion [rad/s, m/s]."""
    return 1.5 * bench.settings.motion_rad * _inward(it, _joint(it, bench))
