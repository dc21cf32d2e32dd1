"""The signals of a recording that pictures and reports show, in SI units, one row per tick.

Values without meaning (a goal that was never set, a command while the robot was idle) are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.control.laws.registry import LAWS
from pliant.record import Recording
from pliant.records import FAULTS, IDLE, LIMITS, POSITION, TORQUE, VELOCITY, WRENCH_OK

Array = np.ndarray[Any, Any]
Names = Mapping[str, Mapping[int, str]]
"""Names for numbers in a record: {"limits": {1 << bit: name}, "faults": {number: name}}."""

DEFAULT_NAMES: Names = {"limits": LIMITS, "faults": FAULTS}


BAD_READINGS = "ticks without a good force reading"
"""The name of the figure that `bad_readings` counts."""


class Tracking(NamedTuple):
    """Command minus measurement of each joint, in the commanded quantity."""

    error: Array  # (ticks, joints)
    quantity: str
    unit: str


class Span(NamedTuple):
    """A time span."""

    start_s: float
    end_s: float


def finite(values: Array) -> Array:
    """The values, with NaN where they are not finite."""
    return np.where(np.isfinite(values), values, np.nan)


def time_s(recording: Recording) -> Array:
    """Time since the start of the run [s]."""
    return finite(recording.records["time_s"])


def period_s(recording: Recording) -> float:
    """The period [s]: from the declared rate, or else the median step; NaN if neither is known."""
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
    """The first known position; NaN if none is known."""
    known = positions[np.isfinite(positions).all(axis=1)]
    return known[0] if len(known) else np.full(positions.shape[1], np.nan)


def tracking(recording: Recording) -> Tracking:
    """Tracking error of the joints in the mode used most; NaN for ticks in another mode."""
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
    """Whether the loop ran in real time, so that its timing is meaningful."""
    return bool(np.any(recording.records["timing"]["wall_ns"] != 0))


def limits(recording: Recording, names: Names | None = None) -> dict[str, Array]:
    """For each limit that acted, the ticks in which it did."""
    bits = recording.records["observed"]["limits"].astype(np.uint64)
    known = (names or DEFAULT_NAMES).get("limits", {})
    acted: dict[str, Array] = {}
    for bit in range(64):
        active = (bits >> np.uint64(bit)) & np.uint64(1) == 1
        if active.any():
            acted[known.get(1 << bit, f"limit {bit}")] = active
    return acted


def faults(recording: Recording, names: Names | None = None) -> list[tuple[float, str]]:
    """Start time [s] and name of each fault."""
    number = recording.records["state"]["fault"]
    known = (names or DEFAULT_NAMES).get("faults", {})
    began = np.flatnonzero((number != 0) & (np.concatenate(([0], number[:-1])) != number))
    times = time_s(recording)
    return [(float(times[i]), known.get(int(number[i]), f"fault {number[i]}")) for i in began]


def bad_readings(records: Array) -> Array:
    """Ticks with an unusable force reading: missing, saturated, not finite, out of range, stale or frozen.

    Pliant's tick records this itself. For records from elsewhere, the driver's state and the values decide.
    """
    reading = records["reading"]
    known = (reading["wrench_state"] == WRENCH_OK) & np.isfinite(reading["wrench"]).all(axis=1)
    return (records["state"]["trouble"] != 0) | ~known


def changes(recording: Recording) -> list[float]:
    """Times [s] at which a new parameter set took effect."""
    return time_s(recording)[1:][np.diff(recording.records["revision"]) != 0].tolist()


def laws(recording: Recording) -> list[str]:
    """Names of the laws that ran, ordered by their first tick."""
    names = {law.number: name for name, law in LAWS.items()}
    numbers, first = np.unique(recording.records["goal"]["law"], return_index=True)
    return [names[int(number)] for number in numbers[np.argsort(first)] if int(number) in names]


def spans(recording: Recording, active: Array) -> list[Span]:
    """The time spans in which `active` (one flag per tick) is true; a single tick lasts one period."""
    times = time_s(recording)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(int)))
    step = period_s(recording)
    step = step if np.isfinite(step) else 0.0
    return [Span(float(times[a]), float(times[b - 1]) + step) for a, b in edges.reshape(-1, 2)]
