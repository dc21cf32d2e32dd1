"""Compiling everything once, with progress; afterwards every start takes machine code from the cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.kernel import cache_is_warm, kernel_count, load, mark_cache_warm, on_compile
from pliant.model import kinematics
from pliant.model.handle import HANDLE
from pliant.params.control import PARAMETERS
from pliant.params.declare import to_record
from pliant.params.mobile import Base, Follow, Planner, Pursuit
from pliant.records import BASE, COMMAND, GOAL, OBSERVED, READING, STATE, TELEMETRY
from pliant.robots.sim.layout import WORLD
from pliant.robots.sim.step import advance_sim, read_sim
from pliant.runtime import cycle, pace, slots
from pliant.runtime.pace import PACE
from pliant.runtime.tick import WORK, tick


def _arguments() -> tuple[object, ...]:
    """Arguments like those of the tick."""
    layouts = (HANDLE, PARAMETERS, STATE, READING, GOAL, COMMAND, OBSERVED, WORK)
    return (*(layout.new() for layout in layouts), 1, 0.002)


def load_loop_kernels() -> None:
    """Everything that the loop calls while it runs."""
    load(tick, *_arguments())
    results = (layout.new() for layout in (READING, GOAL, OBSERVED, COMMAND, STATE))
    words, timing = (0, 0, 0), PACE.new()
    load(cycle.finish_and_wait, TELEMETRY.new(), words, *results, 0.0, 0, 0, timing)
    load(cycle.stands_at, HANDLE.new(), STATE.new(), READING.new())
    load(cycle.must_lift_at, STATE.new())
    load(cycle.leg, WORLD.new(), *_arguments(), TELEMETRY.new(), words, words, timing, 0, 0, 0, 0)
    load(pace.start_at, timing)
    load(read_sim, WORLD.new(), READING.new())
    load(advance_sim, WORLD.new(), COMMAND.new())
    load(slots.knock, 0, 0, 0, 0)
    load(slots.put, 0, 0, 0, 0, 0)
    load(slots.get, 0, 0, 0, 0, 0)
    load(slots.lock_word, 0)
    load(slots.store_word, 0, 0)


def load_all() -> None:
    """Every entry point but those of the planner, which few need."""
    from pliant.runtime import batch

    load_loop_kernels()
    load_replay_kernels()
    q = np.zeros(1)
    load(kinematics.forward_at, HANDLE.new(), q)
    load(kinematics.jacobian_at, HANDLE.new(), q)
    load(kinematics.dynamics_at, HANDLE.new(), q, q)
    load(slots.collect, 0, 0, 0, 0, 0, 0)
    load(batch.run, WORLD.new(), *_arguments(), 0, 0, TELEMETRY.new())
    load_body_kernels()


def load_replay_kernels() -> None:
    """What `pliant replay` calls."""
    from pliant.runtime import replay

    one = (STATE.new(), COMMAND.new(), OBSERVED.new(), WORK.new())
    which = np.zeros(1, np.int64)
    load(replay.rerun, HANDLE.new(), PARAMETERS.new(), which, TELEMETRY.new(), *one, 1, 0.0, 0, 0, TELEMETRY.new())


def load_body_kernels() -> None:
    """What an arm on a mobile base calls."""
    from pliant.mobile import arc, base, body, handover, pose_ik, whole_body
    from pliant.robots.sim.body_step import CARRIER, advance_body, read_body
    from pliant.runtime import body as loop

    h, p, s, r, g, c, o, w, _, dt = _arguments()
    m, q, limits = BASE.new(), np.zeros(1), base.LIMITS.new()
    weights, program = whole_body.WEIGHTS.new(), whole_body.PROGRAM.new()
    load(arc.along_arc, q, 0.0, 0.0, dt, q)
    load(body.reduced_at, h, q, np.zeros((1, 1)))
    load(body.advance, q, q, 1, dt)
    load(whole_body.aim_at, h, weights, q, q, q, program)
    load(whole_body.build, h, weights, limits, q, q, q, dt, program)
    load(whole_body.take, program, q, q, q)
    load(handover.let_through, h, limits, q, q, dt, q)
    load(pose_ik.search, h, pose_ik.SCRATCH.new(), q, q, q, q, 0.0, 0, 0, 1)
    load(read_body, WORLD.new(), CARRIER.new(), r, m)
    load(advance_body, WORLD.new(), CARRIER.new(), c)
    load(loop.feel, h, p, s, r, m, o, w, q, True, dt)
    load(loop.yielding, h, p, s, g, o, w, q, dt)
    load(loop.keep, TELEMETRY.new(), 0, dt, r, g, o, c, s, m)
    load(cycle.sign_and_wait, TELEMETRY.new(), (0, 0, 0), 0, PACE.new())


def load_planner_kernels() -> None:
    """What planning a way and following it calls."""
    from pliant.mobile import arc, follow, lattice, path, pursuit, reeds_shepp, search, shortcut, space, wave
    from pliant.mobile.drive import TWIST
    from pliant.mobile.phases import FOLLOW_STATE
    from pliant.mobile.planner import HybridAStar
    from pliant.mobile.track import track_of
    from pliant.model.grid import grid_of

    planner = HybridAStar(grid_of(np.zeros((20, 20), bool), 0.2), Planner(expansions=1))
    pose, arcs, (room, other) = np.zeros(3), np.zeros((2, 2)), planner.rooms(0)
    waves, (there, back) = planner.waves[0], planner.lattices
    load(space.free_at, planner.space, 0.0, 0.0, 0.0)
    load(wave.begin, planner.space, waves, 0.0, 0.0)
    load(wave.reaches, planner.space, waves, 0.0, 0.0)
    load(lattice.meet, planner.space, there, back, pose, pose)
    load(lattice.unmark, there, 0, 1, np.zeros((1, 1), bool))
    load(search.begin, planner.space, waves, room, pose, pose)
    load(search.proceed, planner.space, waves, room, other, 1)
    load(search.arcs_of, room, other, arcs)
    load(search.turned_round, arcs, 1)
    load(shortcut.joined, arcs, 1)
    load(shortcut.shorten, planner.space, room, pose, arcs, 1, arcs, arcs, arcs)
    load(shortcut.cost, room.state[0], arcs, 0, 1, 0.0)
    load(arc.moved, 0.0, 0.0, 0.0, 0.0, 0.0)
    load(path.sample, pose, arcs, pose, arcs)
    load(reeds_shepp.between, pose, pose, 0.0, reeds_shepp.WORD.new()[0])
    base, settings = Base(), Follow()
    track = track_of(path.Path((0.0, 0.0, 0.0), np.array([[0.0, 1.0]])), base, settings)
    one, now = (to_record(settings), FOLLOW_STATE.new(), track), (pose, 0.0, 0.0, 0.0, 0.0, TWIST.new())
    load(follow.step_at, to_record(base), *one, *now)
    load(pursuit.step_at, to_record(base), to_record(Pursuit()), *one, planner.space, *now)


def warm(progress: Callable[[int, int], None] | None = None) -> None:
    """Compile what is not in the cache yet; `progress(done, of)` is told. Returns at once when all of it is."""
    if cache_is_warm():
        return
    compiled: set[str] = set()

    def notice(name: str) -> None:
        compiled.add(name)
        if progress:
            progress(min(len(compiled), kernel_count()), kernel_count())

    with on_compile(notice):
        load_all()
    mark_cache_warm()
