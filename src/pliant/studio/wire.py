"""The wire format: one JSON message that describes the cell, then small binary frames.

A frame is a header (little-endian), the poses of the bodies (f4), and one row of channels (f4) for every new sample:

    u4 kind   u4 first   u4 samples   u4 bodies   f8 time_s   HEAD (f4 each)   poses   samples

`first` is the running number of the first sample, so a client can detect a lost frame.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_states import DWELL, PAUSED, SLIDE
from pliant.errors import PliantError
from pliant.records import LIMIT_UNITS, LIMITS

Array = np.ndarray[Any, Any]

FRAME = 1
_HEADER = struct.Struct("<IIIId")

# Samples per second that the page draws; the loop's rate is the recorder's business.
SAMPLE_HZ = 100.0


@dataclass(frozen=True)
class Channel:
    """One line of a plot, and how it is computed from telemetry records."""

    name: str
    unit: str
    take: Callable[[Array], Array]

    def describe(self) -> dict[str, str]:
        return {"name": self.name, "unit": self.unit}


def _norm(field: str, part: slice) -> Callable[[Array], Array]:
    return lambda r: np.linalg.norm(r["observed"][field][:, part], axis=1)


def _part(field: str, i: int) -> Callable[[Array], Array]:
    return lambda r: r["observed"][field][:, i]


def _stretch(records: Array) -> Array:
    return 1e3 * np.linalg.norm(records["observed"]["pose"][:, :3] - records["goal"]["pose"][:, :3], axis=1)


def _target(records: Array) -> Array:
    """The force target while a contact presses. At other times the state keeps an old one, which means nothing."""
    contact, pressing = records["state"]["contact"], (DWELL, SLIDE)
    paused = (contact["state"] == PAUSED) & np.isin(contact["before"], pressing)
    return np.where(np.isin(contact["state"], pressing) | paused, contact["target_n"], np.nan)


def turned_deg(poses: Array, goals: Array) -> Array:
    """The orientation error of each pose [°]."""
    # θ = 2 acos |⟨q, q_d⟩|
    along = np.abs(np.sum(poses[:, 3:] * goals[..., 3:], axis=1))
    return np.degrees(2.0 * np.arccos(np.minimum(1.0, along)))


def _turned(records: Array) -> Array:
    return turned_deg(records["observed"]["pose"], records["goal"]["pose"])


_TIME = Channel("time", "s", lambda r: r["time_s"])
_LATENESS = Channel("lateness", "µs", lambda r: r["timing"]["late_s"] * 1e6)

# Of an arm.
CHANNELS = (
    _TIME,
    Channel("force x", "N", _part("wrench", 0)),
    Channel("force y", "N", _part("wrench", 1)),
    Channel("force z", "N", _part("wrench", 2)),
    Channel("contact force", "N", lambda r: r["state"]["contact"]["force_n"]),
    Channel("force target", "N", _target),
    Channel("velocity x", "m/s", _part("twist", 0)),
    Channel("velocity y", "m/s", _part("twist", 1)),
    Channel("velocity z", "m/s", _part("twist", 2)),
    Channel("distance from goal", "mm", _stretch),
    Channel("angle from goal", "°", _turned),
    Channel("energy tank", "J", lambda r: r["state"]["tank_j"]),
    _LATENESS,
)


def driving_channels(room: Callable[[Array], Array], goal: Callable[[], Array]) -> tuple[Channel, ...]:
    """The channels of an arm on a base. `room` returns the clearance of the base [m] at given poses. `goal` returns the
    final goal of the tool; the goal in the records is the current target along the path.
    """

    def far(records: Array) -> Array:
        return 1e3 * np.linalg.norm(records["observed"]["pose"][:, :3] - goal()[:3], axis=1)

    def turned(records: Array) -> Array:
        return turned_deg(records["observed"]["pose"], goal())

    return (
        _TIME,
        Channel("speed", "m/s", lambda r: r["base"]["twist"][:, 0]),
        Channel("speed command", "m/s", lambda r: r["base"]["command"][:, 0]),
        Channel("turn rate", "rad/s", lambda r: r["base"]["twist"][:, 1]),
        Channel("turn rate command", "rad/s", lambda r: r["base"]["command"][:, 1]),
        Channel("distance from goal", "mm", far),
        Channel("angle from goal", "°", turned),
        Channel("distance from path", "mm", _stretch),
        Channel("clearance", "m", lambda r: room(r["base"]["pose"])),
        _LATENESS,
    )


# Of the newest record: what is drawn into the view, and the pills.
HEAD = (
    *(f"goal {axis}" for axis in ("x", "y", "z", "qw", "qx", "qy", "qz")),
    *(f"tool {axis}" for axis in ("x", "y", "z", "qw", "qx", "qy", "qz")),
    *(f"force {axis}" for axis in "xyz"),
    *(f"normal {axis}" for axis in "xyz"),
    *(f"push {axis}" for axis in "xyz"),
    *("law", "fault", "stopped", "limits", "trouble"),
    *("state", "reason", "rejected", "revision", "overruns"),
    *("ramp", "tank", "target"),
    *(f"cut {number}" for number in range(2 * len(LIMITS))),
    *("base x", "base y", "base heading"),
)


def head_of(record: Any) -> Array:
    """The numbers named by HEAD."""
    contact, observed = record["state"]["contact"], record["observed"]
    return np.concatenate(
        [
            record["goal"]["pose"],
            observed["pose"],
            observed["wrench"][:3],
            contact["normal"],
            record["goal"]["push"][:3],
            [record["goal"]["law"], record["state"]["fault"], record["goal"]["stop"]],
            [observed["limits"], record["state"]["trouble"]],
            [contact["state"], contact["reason"], contact["rejected"]],
            [record["revision"], record["timing"]["overruns"]],
            [record["state"]["ramp"], record["state"]["tank_j"], *_target(np.atleast_1d(record))],
            observed["asked"],
            observed["allowed"],
            record["base"]["pose"],
        ]
    ).astype(np.float32)


def samples_of(records: Array, every: int, channels: tuple[Channel, ...]) -> Array:
    """The channels of those records whose tick is a multiple of `every`, as (samples, channels) f4."""
    kept = records[records["tick"] % every == 0]
    return np.column_stack([channel.take(kept) for channel in channels]).astype(np.float32)


def frame(first: int, newest: Any, poses: Array, samples: Array) -> bytes:
    """One binary frame."""
    header = _HEADER.pack(FRAME, first, len(samples), len(poses), float(newest["time_s"]))
    return b"".join((header, head_of(newest).tobytes(), poses.tobytes(), samples.tobytes()))


def limits_in_words() -> list[dict[str, str]]:
    """The meaning of each bit of `limits`."""
    return [{"name": name, "unit": unit} for name, unit in zip(LIMITS.values(), LIMIT_UNITS, strict=True)]


def in_words(error: PliantError) -> dict[str, Any]:
    """An error as a page shows it."""
    return {"ok": False, "error": str(error)}


def text_of(message: dict[str, Any]) -> str:
    """A message as JSON. Values that are not finite become null, which a plot shows as a gap."""
    try:
        return json.dumps(message, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(message), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
