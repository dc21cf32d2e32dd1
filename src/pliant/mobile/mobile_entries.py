"""Entry points of mobile robots: whole-body motion, path search, path following."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from pliant.compiling.entry_points import Entry
from pliant.control.tick_entries import record_types
from pliant.loop import periods
from pliant.loop.pacing import PACE
from pliant.mobile.base import arc, drive_model
from pliant.mobile.base.base_params import Base, Follow, Planner, Pursuit
from pliant.mobile.following import close, pursuit
from pliant.mobile.following.drive_limits import ODOMETRY, TWIST
from pliant.mobile.following.phases import FOLLOW_STATE
from pliant.mobile.following.track import track_of
from pliant.mobile.planning import base_path, free_space, hybrid_a_star, lattice, reeds_shepp, shortcut, wave
from pliant.mobile.planning.grid import grid_of
from pliant.mobile.planning.planner import HybridAStar
from pliant.mobile.whole_body import closed_loop, handover, kinematic_body, pose_ik, program
from pliant.mobile.whole_body.body_period import CARRIER, advance_body, read_body
from pliant.params.packing import to_record
from pliant.records import BASE
from pliant.world.world_layout import WORLD


def mobile_manipulator() -> Iterator[Entry]:
    """An arm on a base."""
    of, q, dt = record_types(), np.zeros(1), 0.0
    h, p, s, r, g, c, o, w = (of[name] for name in "hpsrgcow")
    world, pace = numba.typeof(WORLD.new()), numba.typeof(PACE.new())
    m, limits, carrier = BASE.new(), drive_model.LIMITS.new(), CARRIER.new()
    weights, scratch = program.WEIGHTS.new(), program.PROGRAM.new()
    yield arc.along_arc, q, 0.0, 0.0, dt, q
    yield kinematic_body.reduced_at, h, q, np.zeros((1, 1))
    yield kinematic_body.advance, q, q, 1, dt
    yield program.aim_at, h, weights, q, q, q, scratch
    yield program.build, h, weights, limits, q, q, q, dt, scratch
    yield program.take, scratch, q, q, q
    yield handover.let_through, h, limits, q, q, dt, q
    yield pose_ik.search, h, pose_ik.SCRATCH.new(), q, q, q, q, 0.0, 0, (0, 1)
    yield read_body, world, carrier, r, m
    yield advance_body, world, carrier, c
    yield closed_loop.measure_wrench, h, p, s, r, m, o, w, q, True, dt
    yield closed_loop.compliant_twist, h, p, s, g, o, w, q, dt
    yield closed_loop.fill_telemetry, 0, 0, dt, r, g, o, c, s, w, m
    yield periods.stamp_and_wait, 0, (0, 0, 0, 0, 0), 0, pace


def path_search() -> Iterator[Entry]:
    """The planner."""
    planner = HybridAStar(grid_of(np.zeros((20, 20), bool), 0.2), Planner(expansions=1))
    pose, arcs, (room, other) = np.zeros(3), np.zeros((2, 2)), planner.memories(0)
    waves, (there, back) = planner.waves[0], planner.lattices
    yield free_space.free_at, planner.space, 0.0, 0.0, 0.0
    yield wave.begin, planner.space, waves, 0.0, 0.0
    yield wave.reaches, planner.space, waves, 0.0, 0.0
    yield lattice.run_waves, planner.space, there, back, pose, pose
    yield lattice.unmark, there, 0, 1, np.zeros((1, 1), bool)
    yield hybrid_a_star.begin, planner.space, waves, room, pose, pose
    yield hybrid_a_star.expand_poses, planner.space, waves, room, other, 1
    yield hybrid_a_star.arcs_of, room, other, arcs
    yield hybrid_a_star.turned_round, arcs, 1
    yield shortcut.joined, arcs, 1
    yield shortcut.shorten, planner.space, room, pose, arcs, 1, arcs, arcs, arcs
    yield shortcut.cost, room.state[0], arcs, 0, 1, 0.0
    yield arc.moved, 0.0, 0.0, 0.0, 0.0, 0.0
    yield base_path.sample, pose, arcs, pose, arcs
    yield reeds_shepp.between, pose, pose, 0.0, reeds_shepp.WORD.new()[0]


def path_following() -> Iterator[Entry]:
    """The followers."""
    planner = HybridAStar(grid_of(np.zeros((20, 20), bool), 0.2), Planner(expansions=1))
    base, settings = Base(), Follow()
    track = track_of(base_path.Path((0.0, 0.0, 0.0), np.array([[0.0, 1.0]])), base, settings)
    one, now = (FOLLOW_STATE.new(), track), (ODOMETRY.new(), 0.0, TWIST.new())
    yield close.step_at, to_record(base), to_record(settings), *one, *now
    yield pursuit.step_at, to_record(base), (to_record(Pursuit()), to_record(settings)), *one, planner.space, *now
