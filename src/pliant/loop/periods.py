"""Periods: wait, read, tick, write, publish. Those of a simulated robot run in compiled code, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pliant.control import telemetry
from pliant.control.controller import Controller
from pliant.control.tick import move_goal, must_finish, step, tick
from pliant.kernel import kernel, record_at
from pliant.loop.pacing import civil_time, wait
from pliant.loop.slots import Ring, has_request, publish
from pliant.records import TICK
from pliant.robots.interface import Robot
from pliant.robots.simulated import SimRobot
from pliant.world.period import advance, read

# A joint that is measured to move slower than this is still [rad/s].
STILL_RAD_S = 2e-3

_TICK = TICK.dtype

PeriodRunner = Callable[[int, int, int, int], int]
"""(number of the tick, tick to come back at, proposal seen, revision) → number of the tick that has now begun.

Runs the period that has begun and those after it, each with its wait. Returns at the start of a period: at the given
tick at the latest, and earlier after a fault or when a request arrives on the board (see `slots.has_request`).
"""


@kernel
def stamp(at, ring, number, pace):
    """Add its timing to the telemetry record at this address, and put it into a ring (see board)."""
    timing = record_at(at, _TICK).timing
    timing.wall_ns = civil_time(pace[0])
    timing.late_s, timing.busy_s, timing.overruns = pace[0].late * 1e-9, pace[0].busy * 1e-9, pace[0].overruns
    publish(ring, at, number)


@kernel
def stamp_and_wait(at, ring, number, pace):
    """The end of a period whose telemetry is filled, and the beginning of the next."""
    stamp(at, ring, number, pace)
    wait(pace[0])


@kernel
def finish(at, ring, r, g, o, c, s, w, dt, number, revision, pace):
    """Fill the telemetry of a tick, with its timing, and put it into a ring (see board)."""
    telemetry.fill(at, number, dt, revision, r[0], g[0], o[0], c[0], s[0], w[0])
    stamp(at, ring, number, pace)


@kernel
def period(w, h, p, s, r, g, c, o, k, mode, dt):
    """Read, tick and write of a simulated cell, on records."""
    move_goal(g, s, dt)
    read(w, r)
    step(h, p, s, r, g, c, o, k, mode, dt)
    advance(w, c)


@kernel
def is_still(h, s, r):
    """Whether nothing is commanded to move, and nothing is measured to (a reading that is not finite says nothing)."""
    still = not must_finish(s)
    for i in range(h.n):
        still = still and s.qd_cmd[i] == 0.0 and not abs(r.qd[i]) > STILL_RAD_S
    return still


@kernel
def is_still_at(handle, state, reading):
    """`is_still` for one-element record arrays."""
    return is_still(handle[0], state[0], reading[0])


@kernel
def must_finish_at(state):
    """`must_finish` for a one-element record array."""
    return must_finish(state[0])


@kernel
def works_at(state):
    """Whether the law has to finish before another takes over or the loop ends, for a one-element record array."""
    return state[0].busy != 0


@kernel
def run_periods(
    world, handle, parameters, state, reading, goal, command, observed, work, mode, dt,
    at, ring, door, pace, number, until, seen, revision,
):  # fmt: skip
    """Periods of a simulated cell (see `PeriodRunner`)."""
    while True:
        period(
            world[0], handle[0], parameters[0], state[0], reading[0], goal[0], command[0], observed[0], work[0],
            mode, dt,
        )  # fmt: skip
        finish(at, ring, reading, goal, observed, command, state, work, dt, number, revision, pace)
        number += 1
        wait(pace[0])
        stopped = state[0].fault != 0 or world[0].stop.reason != 0
        if number >= until or stopped or has_request(door[0], door[1], door[2], seen):
            return number


@kernel
def finish_and_wait(at, ring, r, g, o, c, s, w, dt, number, revision, pace):
    """The end of a period, and the beginning of the next."""
    finish(at, ring, r, g, o, c, s, w, dt, number, revision, pace)
    wait(pace[0])


def period_runner(robot: Robot, controller: Controller, at: int, board: tuple[Ring, Any], pace: Any) -> PeriodRunner:
    """How to run periods of this robot; `board` is its ring and its `door`.

    `at` is the address of space for a telemetry record.
    """
    if isinstance(robot, SimRobot):
        return partial(run_periods, robot.world.record, *controller.arguments, at, *board, pace)
    compiled_tick = partial(tick, *controller.arguments)
    finish_period = partial(finish_and_wait, at, board[0], *controller.results, controller.dt)
    reading, command = controller.reading, controller.command

    def real(number: int, until: int, seen: int, revision: int) -> int:
        robot.read(reading)
        compiled_tick()
        robot.write(command)
        finish_period(number, revision, pace)
        return number + 1

    return real
