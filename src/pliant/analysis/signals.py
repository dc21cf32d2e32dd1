"""The signals of a recording that pictures and reports speak of, in SI units, one row per tick.

Values that mean nothing (a goal that was never set, a command while the robot was idle, not a number) are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.laws import LAWS
from pliant.record import Recording
from pliant.records import FAULTS, IDLE, LIMITS, POSITION, TORQUE, VELOCITY, WRENCH_OK

Array = np.ndarray[Any, Any]
Names = Mapping[str, Mapping[int, str]]
"""Words for numbers in a record: {"limits": {1 << bit: name}, "faults": {number: name}}."""

DEFAULT_NAMES: Names = {"limits": LIMITS, "faults": FAULTS}


BAD_READINGS = "ticks without a good force reading"
"""What `bad_readings` counts, in words."""


class Tracking(NamedTuple):
    """Command minus measurement of each joint, in the quantity that was commanded."""

    error: Array  # (ticks, joints)
    quantity: str
    unit: str


class Span(NamedTuple):
    """A stretch of time in which something was the case."""

    start_s: float
    end_s: float


def finite(values: Array) -> Array:
    """The values, with NaN for what is not a number."""
    return np.where(np.isfinite(values), values, np.nan)


def time_s(recording: Recording) -> Array:
    return finite(recording.records["time_s"])


def period_s(recording: Recording) -> float:
    """Time of one tick: the declared rate, or else the median step; NaN if neither is known."""
    rate = recording.meta.get("rate_hz")
    if isinstance(rate, int | float) and rate > 0:
        return 1.0 / rate
    steps = np.diff(time_s(recording))
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else np.nan


def position(recording: Recording, part: str) -> Array:
    """Position [m] of the pose in `part` ('observed', 'goal' or 'state'); NaN where no pose was ever set."""
    pose = recording.records[part]["pose"]
    is_set = np.linalg.norm(finite(pose[:, 3:]), axis=1) > 0.5  # a pose has a unit quaternion, a blank has none
    return np.where(is_set[:, None], finite(pose[:, :3]), np.nan)


def start(positions: Array) -> Array:
    """The first of the positions that is known; NaN if none is."""
    known = positions[np.isfinite(positions).all(axis=1)]
    return known[0] if len(known) else np.full(positions.shape[1], np.nan)


def tracking(recording: Recording) -> Tracking:
    """Tracking error of the joints in the mode that the run used most; ticks in another mode are NaN."""
    n = recording.n
    command, reading = recording.records["command"], recording.records["reading"]
    modes, counts = np.unique(command["mode"][command["mode"] != IDLE], return_counts=True)
    mode = int(modes[np.argmax(counts)]) if len(modes) else POSITION
    name, quantity, unit = {
        POSITION: ("q", "position", "rad"),
        VELOCITY: ("qd", "velocity", "rad/s"),
        TORQUE: ("tau", "torque", "N m"),
    }.get(mode, ("q", "position", "rad"))
    error = finite(command[name][:, :n]) - finite(reading[name][:, :n])
    return Tracking(np.where((command["mode"] == mode)[:, None], error, np.nan), quantity, unit)


def is_paced(recording: Recording) -> bool:
    """Whether the loop ran against the wall clock, so that its timing means something."""
    return bool(np.any(recording.records["timing"]["wall_ns"] != 0))


def limits(recording: Recording, names: Names | None = None) -> dict[str, Array]:
    """For each limit that ever acted, the ticks in which it did."""
    bits = recording.records["observed"]["limits"].astype(np.uint64)
    known = (names or DEFAULT_NAMES).get("limits", {})
    acted: dict[str, Array] = {}
    for bit in range(64):
        active = (bits >> np.uint64(bit)) & np.uint64(1) == 1
        if active.any():
            acted[known.get(1 << bit, f"limit {bit}")] = active
    return acted


def faults(recording: Recording, names: Names | None = None) -> list[tuple[float, str]]:
    """Time [s] and name of each fault at the tick where it began."""
    number = recording.records["state"]["fault"]
    known = (names or DEFAULT_NAMES).get("faults", {})
    began = np.flatnonzero((number != 0) & (np.concatenate(([0], number[:-1])) != number))
    times = time_s(recording)
    return [(float(times[i]), known.get(int(number[i]), f"fault {number[i]}")) for i in began]


def bad_readings(records: Array) -> Array:
    """Ticks whose force reading could not be used: missing, saturated, no number, out of range, stale or frozen.

    That is what the tick itself said of it; of records that no tick of ours has made, what driver and numbers say.
    """
    reading = records["reading"]
    known = (reading["wrench_state"] == WRENCH_OK) & np.isfinite(reading["wrench"]).all(axis=1)
    return (records["state"]["trouble"] != 0) | ~known


def changes(recording: Recording) -> list[float]:
    """Times [s] at which another parameter set came into force."""
    return time_s(recording)[1:][np.diff(recording.records["revision"]) != 0].tolist()


def laws(recording: Recording) -> list[str]:
    """Names of the laws that ran, in the order of their first ticks."""
    names = {number: name for name, number in LAWS.items()}
    numbers, first = np.unique(recording.records["goal"]["law"], return_index=True)
    return [names[int(number)] for number in numbers[np.argsort(first)] if int(number) in names]


def spans(recording: Recording, active: Array) -> list[Span]:
    """The stretches of time in which `active` (one flag per tick) holds; a single tick lasts one period."""
    times = time_s(recording)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(int)))
    step = period_s(recording)
    step = step if np.isfinite(step) else 0.0
    return [Span(float(times[a]), float(times[b - 1]) + step) for a, b in edges.reshape(-1, 2)]
