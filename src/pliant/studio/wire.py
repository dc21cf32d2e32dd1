"""The wire format: one JSON message that describes the scene, then small binary frames.

A frame is a header (`FrameHeader`), numbers of the newest record (`HEAD`), the poses of the bodies, and one row of
channels for every new sample, all of them f4:

    header   head   poses   samples
"""

from __future__ import annotations

import json
import math
import struct
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, is_dataclass
from typing import Any

import numpy as np

from pliant.control.laws.law import Law
from pliant.control.laws.law_panel import Line
from pliant.control.laws.registry import LAWS
from pliant.control.telemetry import TELEMETRY
from pliant.errors import PliantError
from pliant.records import LIMIT_UNITS, LIMITS
from pliant.studio import page_messages as say
from pliant.studio.page_requests import Refusal

Array = np.ndarray[Any, Any]

_FORMATS = (hint.__metadata__[0] for hint in typing.get_type_hints(say.FrameHeader, include_extras=True).values())
_HEADER = struct.Struct("<" + "".join(_FORMATS))

# Samples per second that the page draws; the loop's rate is the recorder's business.
SAMPLE_HZ = 100.0


@dataclass(frozen=True)
class Channel:
    """One line of a plot, and how it is computed from telemetry records."""

    name: str
    unit: str
    take: Callable[[Array], Array]
    line: Line | None = None
    """The line of a law's panel; None for a line that every law has."""
    law: str = ""
    """The law that it belongs to."""

    def describe(self) -> say.Channel:
        line = self.line or Line(self.name, self.unit, "", "")
        return {
            "name": self.name,
            "unit": self.unit,
            "plot": line.plot,
            "key": line.key,
            "dashed": line.dashed,
            "band": line.band,
            "follows": line.follows,
            "law": self.law,
        }


def _part(field: str, i: int) -> Callable[[Array], Array]:
    return lambda r: r["observed"][field][:, i]


def _stretch(records: Array) -> Array:
    return 1e3 * np.linalg.norm(records["observed"]["pose"][:, :3] - records["goal"]["pose"][:, :3], axis=1)


def turned_deg(poses: Array, goals: Array) -> Array:
    """The orientation error of each pose [°]."""
    # θ = 2 acos |⟨q, q_d⟩|
    along = np.abs(np.sum(poses[:, 3:] * goals[..., 3:], axis=1))
    return np.degrees(2.0 * np.arccos(np.minimum(1.0, along)))


def _turned(records: Array) -> Array:
    return turned_deg(records["observed"]["pose"], records["goal"]["pose"])


def _tank(records: Array) -> Array:
    """The energy in the tank [J]; NaN before a law with gains has run."""
    energy = records["state"]["tank_j"]
    return np.where(energy < 0.0, np.nan, energy)


_TIME = Channel("time", "s", lambda r: r["time_s"])
_LATENESS = Channel("lateness", "µs", lambda r: r["timing"]["late_s"] * 1e6)

# Channels of an arm under any law.
_CHANNELS = (
    _TIME,
    Channel("force x", "N", _part("wrench", 0)),
    Channel("force y", "N", _part("wrench", 1)),
    Channel("force z", "N", _part("wrench", 2)),
    Channel("velocity x", "m/s", _part("twist", 0)),
    Channel("velocity y", "m/s", _part("twist", 1)),
    Channel("velocity z", "m/s", _part("twist", 2)),
    Channel("distance from goal", "mm", _stretch),
    Channel("angle from goal", "°", _turned),
    Channel("energy tank", "J", _tank),
    _LATENESS,
)


def arm_channels() -> tuple[Channel, ...]:
    """The channels of an arm: those of every law, and the lines that the panels of the known laws declare."""
    lines = [(law, line) for law in LAWS.values() if law.panel is not None for line in law.panel.lines]
    return (*_CHANNELS, *(_line_of(law, line) for law, line in lines))


def _line_of(law: Law, line: Line) -> Channel:
    """A line of a law; there are no values while another law runs."""

    def take(records: Array) -> Array:
        value = line.value
        if not isinstance(value, str):
            values = value(records)
        elif law.name in (records.dtype.names or ()):
            values = records[law.name][value]
        else:  # the law was loaded for another loop
            values = np.nan
        return np.where(records["goal"]["law"] == law.number, line.scale * values, np.nan)

    return Channel(line.name, line.unit, take, line, law.name)


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


def _first(field: str, part: str, n: int | None = None) -> tuple[int, Callable[[Any], Any]]:
    """The first `n` numbers of a field of the record, or all of them."""
    shape = TELEMETRY.dtype[field][part].shape
    return (n or math.prod(shape)), lambda record: np.ravel(record[field][part])[:n]


def _states(record: Any) -> Any:
    law = _running(record)
    return (0.0,) * 3 if law is None or law.states is None else law.state_numbers(record)


def arrow_of(record: Any) -> Any:
    """The direction at the tool that the running law's panel declares; zeros if it has none."""
    law = _running(record)
    panel = None if law is None else law.panel
    return np.zeros(3) if panel is None or panel.arrow is None else panel.arrow(record)


def _running(record: Any) -> Law | None:
    number = int(record["goal"]["law"])
    return next((law for law in LAWS.values() if law.number == number), None)


_TAKEN: dict[say.HeadField, tuple[int, Callable[[Any], Any]]] = {
    "goal": _first("goal", "pose"),
    "tool": _first("observed", "pose"),
    "force": _first("observed", "wrench", 3),
    "arrow": (3, arrow_of),
    "push": _first("goal", "push", 3),
    "law": _first("goal", "law"),
    "stopped": _first("goal", "stop"),
    "limits": _first("observed", "limits"),
    "trouble": _first("state", "trouble"),
    "states": (3, _states),
    "ramp": _first("state", "ramp"),
    "tank": _first("state", "tank_j"),
    "asked": _first("observed", "asked"),
    "allowed": _first("observed", "allowed"),
    "base": _first("base", "pose"),
}


def _places() -> dict[say.HeadField, tuple[int, int]]:
    places, at = dict[say.HeadField, tuple[int, int]](), 0
    for name, (count, _) in _TAKEN.items():
        places[name], at = (at, count), at + count
    return places


HEAD = _places()
"""First place and count of the numbers of the newest record that are drawn into the view and the pills."""


def head_of(record: Any) -> Array:
    """The numbers of HEAD."""
    return np.concatenate([np.asarray(take(record), np.float32).reshape(-1) for _, take in _TAKEN.values()])


def samples_of(records: Array, every: int, channels: tuple[Channel, ...]) -> Array:
    """The channels of those records whose tick is a multiple of `every`, as (samples, channels) f4."""
    kept = records[records["tick"] % every == 0]
    return np.column_stack([channel.take(kept) for channel in channels]).astype(np.float32)


def frame(first: int, newest: Any, poses: Array, samples: Array) -> bytes:
    """One binary frame."""
    header = say.FrameHeader(say.FRAME, first, len(samples), len(poses), float(newest["time_s"]))
    return b"".join((_HEADER.pack(*astuple(header)), head_of(newest).tobytes(), poses.tobytes(), samples.tobytes()))


def limits_in_words() -> list[say.Quantity]:
    """The meaning of each bit of `limits`."""
    return [{"name": name, "unit": unit} for name, unit in zip(LIMITS.values(), LIMIT_UNITS, strict=True)]


def in_words(error: PliantError) -> Refusal:
    """An error as a page shows it."""
    return {"ok": False, "error": str(error)}


def text_of(message: Mapping[str, Any]) -> str:
    """A message as JSON. Values that are not finite become null, which a plot shows as a gap."""
    try:
        return json.dumps(message, allow_nan=False, default=asdict)
    except ValueError:
        return json.dumps(_finite(message), allow_nan=False)


def _finite(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
