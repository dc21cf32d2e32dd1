"""The entry points of compiled code: which kernels Python calls, with which arguments, and for what.

A *job* is a list of entry points that are compiled together; a *group* is the jobs that something needs (see `GROUPS`).
`warm` makes sure that they are in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

Entry = tuple[Any, ...]
"""A kernel, followed by examples (or Numba types) of its arguments."""


@dataclass(frozen=True)
class Job:
    """Entry points that are compiled together."""

    name: str
    entries: Callable[[], Iterable[Entry]]
    seconds: float
    """How long it takes on one core of an ordinary machine, as a measure of progress."""
    after: tuple[str, ...] = ()
    """Jobs whose machine code this one calls."""


def _records() -> dict[str, Any]:
    """The Numba types of the records of a tick."""
    from pliant.model.handle import HANDLE
    from pliant.params.control import PARAMETERS
    from pliant.records import COMMAND, GOAL, OBSERVED, READING, STATE, TELEMETRY
    from pliant.robots.sim.layout import WORLD
    from pliant.runtime.pace import PACE
    from pliant.runtime.tick import WORK

    layouts = {
        "h": HANDLE,
        "p": PARAMETERS,
        "s": STATE,
        "r": READING,
        "g": GOAL,
        "c": COMMAND,
        "o": OBSERVED,
        "w": WORK,
    }
    layouts |= {"t": TELEMETRY, "world": WORLD, "pace": PACE}
    return {name: numba.typeof(layout.new()) for name, layout in layouts.items()}


def _contact() -> Iterator[Entry]:
    from pliant.contact.step import step

    of = {name: array.dtype for name, array in _records().items()}
    yield step, of["p"].typeof("contact"), of["s"], of["o"], of["g"], 0.0, 0.0, of["w"].typeof("contact"), 0.0


def _impedance() -> Iterator[Entry]:
    from pliant.runtime.impede import impede

    of = _records()
    yield impede, *(of[name].dtype for name in "hpsrgcwo"), 0.0


def _tick() -> Iterator[Entry]:
    from pliant.runtime.tick import step, tick

    of = _records()
    yield step, *(of[name].dtype for name in "hpsrgcow"), 0, 0.0
    yield tick, *(of[name] for name in "hpsrgcow"), 0, 0.0


def _simulator() -> Iterator[Entry]:
    from pliant.robots.sim.step import advance, advance_sim, read, read_sim

    of = _records()
    yield read, of["world"].dtype, of["r"].dtype
    yield advance, of["world"].dtype, of["c"].dtype
    yield read_sim, of["world"], of["r"]
    yield advance_sim, of["world"], of["c"]


def _telemetry() -> Iterator[Entry]:
    from pliant.runtime.cycle import works_at
    from pliant.runtime.telemetry import fill

    of = {name: array.dtype for name, array in _records().items()}
    yield fill, of["t"], 0, 0.0, 0, *(of[name] for name in "rgocs")
    yield works_at, _records()["s"]


def _loop() -> Iterator[Entry]:
    from pliant.runtime import cycle, pace, slots

    of, words = _records(), (0, 0, 0)
    yield cycle.finish_and_wait, of["t"], words, *(of[name] for name in "rgocs"), 0.0, 0, 0, of["pace"]
    yield cycle.stands_at, of["h"], of["s"], of["r"]
    yield cycle.must_lift_at, of["s"]
    tick = (*(of[name] for name in "hpsrgcow"), 0, 0.0)
    yield cycle.leg, of["world"], *tick, of["t"], words, words, of["pace"], 0, 0, 0, 0
    yield pace.start_at, of["pace"]
    yield slots.knock, 0, 0, 0, 0
    yield slots.put, 0, 0, 0, 0, 0
    yield slots.get, 0, 0, 0, 0, 0
    yield slots.collect, 0, 0, 0, 0, 0, 0
    yield slots.lock_word, 0
    yield slots.store_word, 0, 0


def _model() -> Iterator[Entry]:
    from pliant.model import kinematics
    from pliant.runtime.axes import turn
    from pliant.spatial import pose_error

    handle, q = _records()["h"], np.zeros(1)
    yield pose_error, q, q, q
    yield turn, q, q, True
    yield kinematics.forward_at, handle, q
    yield kinematics.jacobian_at, handle, q
    yield kinematics.dynamics_at, handle, q, q


def _batch() -> Iterator[Entry]:
    from pliant.runtime import batch

    of = _records()
    tick = (*(of[name] for name in "hpsrgcow"), 0, 0.0)
    yield batch.run, of["world"], *tick, 0, 0, of["t"]


def _replay() -> Iterator[Entry]:
    from pliant.runtime import replay

    of, which = _records(), np.zeros(1, np.int64)
    yield replay.rerun, of["h"], of["p"], which, of["t"], *(of[name] for name in "scow"), 1, 0.0, 0, 0, of["t"]


def _body() -> Iterator[Entry]:
    from pliant.mobile import arc, base, body, handover, pose_ik, whole_body
    from pliant.records import BASE
    from pliant.robots.sim.body_step import CARRIER, advance_body, read_body
    from pliant.runtime import body as loop
    from pliant.runtime import cycle

    of, q, dt = _records(), np.zeros(1), 0.0
    h, p, s, r, g, c, o, w, t, world = (of[name] for name in (*"hpsrgcowt", "world"))
    m, limits, carrier = BASE.new(), base.LIMITS.new(), CARRIER.new()
    weights, program = whole_body.WEIGHTS.new(), whole_body.PROGRAM.new()
    yield arc.along_arc, q, 0.0, 0.0, dt, q
    yield body.reduced_at, h, q, np.zeros((1, 1))
    yield body.advance, q, q, 1, dt
    yield whole_body.aim_at, h, weights, q, q, q, program
    yield whole_body.build, h, weights, limits, q, q, q, dt, program
    yield whole_body.take, program, q, q, q
    yield handover.let_through, h, limits, q, q, dt, q
    yield pose_ik.search, h, pose_ik.SCRATCH.new(), q, q, q, q, 0.0, 0, 0, 1
    yield read_body, world, carrier, r, m
    yield advance_body, world, carrier, c
    yield loop.feel, h, p, s, r, m, o, w, q, True, dt
    yield loop.yielding, h, p, s, g, o, w, q, dt
    yield loop.keep, t, 0, dt, r, g, o, c, s, m
    yield cycle.sign_and_wait, t, (0, 0, 0), 0, of["pace"]


def _search() -> Iterator[Entry]:
    from pliant.mobile import arc, lattice, path, reeds_shepp, search, shortcut, space, wave
    from pliant.mobile.planner import HybridAStar
    from pliant.model.grid import grid_of
    from pliant.params.mobile import Planner

    planner = HybridAStar(grid_of(np.zeros((20, 20), bool), 0.2), Planner(expansions=1))
    pose, arcs, (room, other) = np.zeros(3), np.zeros((2, 2)), planner.rooms(0)
    waves, (there, back) = planner.waves[0], planner.lattices
    yield space.free_at, planner.space, 0.0, 0.0, 0.0
    yield wave.begin, planner.space, waves, 0.0, 0.0
    yield wave.reaches, planner.space, waves, 0.0, 0.0
    yield lattice.meet, planner.space, there, back, pose, pose
    yield lattice.unmark, there, 0, 1, np.zeros((1, 1), bool)
    yield search.begin, planner.space, waves, room, pose, pose
    yield search.proceed, planner.space, waves, room, other, 1
    yield search.arcs_of, room, other, arcs
    yield search.turned_round, arcs, 1
    yield shortcut.joined, arcs, 1
    yield shortcut.shorten, planner.space, room, pose, arcs, 1, arcs, arcs, arcs
    yield shortcut.cost, room.state[0], arcs, 0, 1, 0.0
    yield arc.moved, 0.0, 0.0, 0.0, 0.0, 0.0
    yield path.sample, pose, arcs, pose, arcs
    yield reeds_shepp.between, pose, pose, 0.0, reeds_shepp.WORD.new()[0]


def _followers() -> Iterator[Entry]:
    from pliant.mobile import follow, path, pursuit
    from pliant.mobile.drive import TWIST
    from pliant.mobile.phases import FOLLOW_STATE
    from pliant.mobile.planner import HybridAStar
    from pliant.mobile.track import track_of
    from pliant.model.grid import grid_of
    from pliant.params.declare import to_record
    from pliant.params.mobile import Base, Follow, Planner, Pursuit

    planner = HybridAStar(grid_of(np.zeros((20, 20), bool), 0.2), Planner(expansions=1))
    base, settings, pose = Base(), Follow(), np.zeros(3)
    track = track_of(path.Path((0.0, 0.0, 0.0), np.array([[0.0, 1.0]])), base, settings)
    one, now = (to_record(settings), FOLLOW_STATE.new(), track), (pose, 0.0, 0.0, 0.0, 0.0, TWIST.new())
    yield follow.step_at, to_record(base), *one, *now
    yield pursuit.step_at, to_record(base), to_record(Pursuit()), *one, planner.space, *now


JOBS = {
    job.name: job
    for job in (
        Job("contact law", _contact, 7.0),
        Job("impedance law", _impedance, 8.0),
        Job("simulator", _simulator, 3.0),
        Job("telemetry", _telemetry, 1.5),
        Job("control tick", _tick, 10.0, after=("contact law", "impedance law")),
        Job("control loop", _loop, 2.5, after=("control tick", "simulator", "telemetry")),
        Job("kinematics", _model, 1.0),
        Job("batch runs", _batch, 1.0, after=("control tick", "simulator", "telemetry")),
        Job("replay", _replay, 0.5, after=("control tick",)),
        Job("mobile manipulator", _body, 8.0, after=("telemetry",)),
        Job("path search", _search, 10.0),
        Job("path following", _followers, 3.0),
    )
}

_CONTROL = ("contact law", "impedance law", "simulator", "telemetry", "control tick")

GROUPS = {
    "loop": (*_CONTROL, "control loop", "kinematics"),
    "batch": (*_CONTROL, "batch runs", "kinematics"),
    "replay": (*_CONTROL, "replay", "kinematics"),
    "kinematics": ("kinematics",),
    "body": ("simulator", "telemetry", "mobile manipulator", "kinematics"),
    "planner": ("path search", "path following"),
}
"""What a command may need: a paced loop, runs as fast as possible, a replay, a model, an arm on a base, planning."""
