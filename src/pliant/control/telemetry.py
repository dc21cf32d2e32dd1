"""The telemetry of a tick: what is common to all laws, then the records of the laws themselves, by their names.

A law's record holds what it remembers. It is all zero in ticks in which another law runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.control.laws.registry import LAWS, PLIANTS
from pliant.control.parameters import Parameters
from pliant.kernel import copy_bytes, floats, kernel, record_address, record_at
from pliant.records import SHARED_STATE, STATE, TICK, Field, Layout

_TICK, _STATE_BYTES = TICK.dtype, SHARED_STATE.dtype.itemsize


def telemetry_with(own: Mapping[str, Layout]) -> Layout:
    """The layout of telemetry records with those of laws from outside the package, after those of Pliant's."""
    laws = {name: LAWS[name].state for name in PLIANTS} | dict(own)
    more = (Field(name, "", f"state of the law {name}", kind=state) for name, state in laws.items() if state)
    return Layout("Telemetry", (*TICK.fields, *more))


TELEMETRY = telemetry_with({})
"""A telemetry record in memory, without laws from outside the package."""


def own_records(kind: type[Parameters]) -> dict[str, Layout]:
    """The records of laws from outside the package in telemetry of runs with parameter sets of this kind."""
    laws = (LAWS[name] for name in kind.model_fields if name in LAWS and LAWS[name].is_own)
    return {law.name: law.state for law in laws if law.state is not None}


def telemetry_of(kind: type[Parameters]) -> Layout:
    """The layout of telemetry records of runs with parameter sets of this kind."""
    own = own_records(kind)
    return telemetry_with(own) if own else TELEMETRY


def state_after(record: Any) -> np.ndarray[Any, Any]:
    """The controller's state after the tick of a telemetry record: continuing from it gives the same numbers."""
    state = STATE.new()
    for name in SHARED_STATE.dtype.names or ():
        state[0][name] = record["state"][name]
    state[0].wrench, state[0].wrench_last = record["observed"]["wrench"], record["reading"]["wrench"]
    reading, guard = record["reading"], state[0].guard
    guard.q, guard.qd, guard.sent = reading["q"], reading["qd"], record["state"]["q_cmd"]
    guard.seen, guard.at_s = 1, reading["stamp_s"] - reading["age_s"]
    law = next((law for law in LAWS.values() if law.number == int(record["state"]["law"])), None)
    if law is not None and law.state is not None:
        remembered = np.frombuffer(record[law.name].tobytes())
        state[0].memory[: len(remembered)] = remembered
    return state


@kernel(separate=True)
def fill(at, number, dt, revision, r, g, o, c, s, w):
    """Put everything that went into and came out of tick `number` into the telemetry record at the address `at`."""
    t = record_at(at, _TICK)
    if t.state.law != s.law:  # the record was that of another tick
        other = w.laws[t.state.law]
        past = floats(at + 8 * other.record_at, other.words)
        for i in range(other.words):
            past[i] = 0.0
    t.tick = number
    t.time_s = number * dt
    t.revision = revision
    t.reading = r
    t.goal = g
    t.observed = o
    t.command = c
    copy_bytes(record_address(t.state), record_address(s), _STATE_BYTES)
    law = w.laws[s.law]
    copy_bytes(at + 8 * law.record_at, s.memory.ctypes.data, 8 * law.words)
