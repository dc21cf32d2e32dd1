"""One period: read, tick, write, publish. For a simulated robot it is one compiled call, else four."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from pliant.kernel import kernel
from pliant.robots.base import Robot
from pliant.robots.sim.robot import SimRobot
from pliant.robots.sim.step import advance, read
from pliant.runtime import telemetry
from pliant.runtime.controller import Controller
from pliant.runtime.slots import publish
from pliant.runtime.tick import move_goal, must_lift, step, tick

# A joint that is measured to move slower than this stands still [rad/s].
STANDS = 2e-3

Cycle = Callable[[int, int, int, int, int], int]
"""(number of the tick, revision, late [ns], busy [ns], overruns) → fault, 0 if there is none."""


@kernel
def finish(t, head, ring, slots, r, g, o, c, s, dt, number, revision, wall, late, busy, overruns):
    """Fill the telemetry of a tick, with its timing [ns], and put it into a ring (see board)."""
    timing = t[0].timing
    timing.wall_ns = wall
    timing.late_s, timing.busy_s, timing.overruns = late * 1e-9, busy * 1e-9, overruns
    telemetry.fill(t[0], number, dt, revision, r[0], g[0], o[0], c[0], s[0])
    publish(head, ring, slots, t.ctypes.data, t.itemsize, number)


@kernel
def period(w, h, p, s, r, g, c, o, k, mode, dt):
    """Read, tick and write of a simulated cell, on records."""
    move_goal(g, dt)
    read(w, r)
    step(h, p, s, r, g, c, o, k, mode, dt)
    advance(w, c)


@kernel
def stands(h, s, r):
    """Whether nothing is commanded to move, and nothing is measured to (a reading that is no number says nothing)."""
    still = not must_lift(s)
    for i in range(h.n):
        still = still and s.qd_cmd[i] == 0.0 and not abs(r.qd[i]) > STANDS
    return still


@kernel
def stands_at(handle, state, reading):
    """`stands` for one-element record arrays."""
    return stands(handle[0], state[0], reading[0])


@kernel
def must_lift_at(state):
    """`must_lift` for a one-element record array."""
    return must_lift(state[0])


@kernel
def cycle(
    world, handle, parameters, state, reading, goal, command, observed, work, mode, dt,
    t, head, ring, slots, number, revision, wall, late, busy, overruns,
):  # fmt: skip
    """One period of a simulated cell and its telemetry; returns the fault."""
    period(
        world[0], handle[0], parameters[0], state[0], reading[0], goal[0], command[0], observed[0], work[0], mode, dt
    )
    finish(
        t, head, ring, slots, reading, goal, observed, command, state, dt,
        number, revision, wall, late, busy, overruns,
    )  # fmt: skip
    return state[0].fault


def cycle_of(robot: Robot, controller: Controller, t: Any, ring: tuple[int, int, int]) -> Cycle:
    """How to run one period of this robot; `t` is room for a telemetry record, `ring` where it is published."""
    if isinstance(robot, SimRobot):
        compiled = partial(cycle, robot.world.record, *controller.arguments, t, *ring)

        def simulated(number: int, revision: int, late: int, busy: int, overruns: int) -> int:
            return compiled(number, revision, time.time_ns(), late, busy, overruns)

        return simulated
    compiled_tick = partial(tick, *controller.arguments)
    compiled_finish = partial(finish, t, *ring, *controller.results, controller.dt)
    reading, command, fault = controller.reading, controller.command, controller.state["fault"]

    def real(number: int, revision: int, late: int, busy: int, overruns: int) -> int:
        robot.read(reading)
        compiled_tick()
        robot.write(command)
        compiled_finish(number, revision, time.time_ns(), late, busy, overruns)
        return int(fault[0])

    return real
