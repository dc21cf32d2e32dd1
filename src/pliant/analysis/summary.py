"""The summary of a run: pure functions from a recording to lists of (name, value, unit)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from pliant.analysis import signals
from pliant.analysis.signals import Names
from pliant.analysis.transitions import transitions
from pliant.record import Recording

Array = np.ndarray[Any, Any]


# Anything smaller, in any unit of a report, is rounding error.
_NOTHING = 1e-9


# A contact that bounces changes its state hundreds of times: the last changes show how it ended.
_MOST_STATES = 12


class Row(NamedTuple):
    """One value of a run; None if it is unknown."""

    name: str
    value: float | int | str | None
    unit: str = ""


def overview(recording: Recording) -> list[Row]:
    """What was run: robot, law, rate, duration and other metadata."""
    meta = dict(recording.meta)
    start_ns = meta.pop("start_wall_ns", 0)
    versions = meta.pop("versions", None)
    for key in ("task", "arm", "mission"):  # too long for a row: a report shows them separately
        meta.pop(key, None)
    step_s = signals.period_s(recording)
    rows = [
        *([Row("Task", meta.pop("name"))] if "name" in meta else []),
        Row("Robot", meta.pop("robot", None)),
        Row("Law", meta.pop("law", None)),
        Row("Rate", float(f"{1 / step_s:.6g}") if step_s > 0 else None, "Hz"),
        Row("Duration", recording.duration_s, "s"),
        Row("Records", len(recording.records)),
        Row("Joints", ", ".join(recording.joint_names)),
    ]
    meta.pop("rate_hz", None)
    if "seed" in meta:
        rows.append(Row("Seed", _plain(meta.pop("seed"))))
    if start_ns:
        started = datetime.fromtimestamp(start_ns / 1e9, UTC)
        rows.append(Row("Started", started.strftime("%Y-%m-%d %H:%M:%S UTC")))
    rows += [
        Row(key.replace("_", " ").capitalize(), _plain(value)) for key, value in sorted(meta.items()) if value != ""
    ]
    rows.append(Row("Recorded by", recording.written_by))
    if isinstance(versions, dict):
        rows.append(Row("Software", ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))))
    elif versions is not None:
        rows.append(Row("Software", _plain(versions)))
    return rows


def numbers(recording: Recording, names: Names | None = None) -> list[Row]:
    """Peaks and averages of contact, motion, tracking and timing, then limits and faults."""
    return [
        *contact(recording),
        *states(recording),
        *stages(recording),
        *motion(recording),
        *timing(recording),
        *limits(recording, names),
        *faults(recording, names),
    ]


def contact(recording: Recording) -> list[Row]:
    """Measured force and moment at the tool."""
    wrench = signals.finite(recording.records["observed"]["wrench"])
    force, moment = _norm(wrench[:, :3]), _norm(wrench[:, 3:])
    return [
        Row("Peak force", _peak(force), "N"),
        Row("RMS force", _rms(force), "N"),
        Row("Peak moment", _peak(moment), "N m"),
        Row("RMS moment", _rms(moment), "N m"),
    ]


def states(recording: Recording) -> list[Row]:
    """The state changes of a contact, with time and reason; empty if the contact law never ran."""
    found = transitions(recording.records)
    rows = [Row(f"Contact: {one.state}, because {one.reason}", one.time_s, "s") for one in found[-_MOST_STATES:]]
    if len(found) > _MOST_STATES:
        rows.insert(0, Row("Earlier changes of the contact state", len(found) - _MOST_STATES))
    return rows


def stages(recording: Recording) -> list[Row]:
    """The stage changes of a mission, with time and reason; empty if the run is not a mission."""
    said = recording.meta.get("mission")
    log = said.get("log", []) if isinstance(said, dict) else []
    return [Row(f"Mission: {stage}, because {reason}", float(time_s), "s") for time_s, stage, reason in log]


def motion(recording: Recording) -> list[Row]:
    """Speed of tool and joints, distance travelled, and tracking error of the joints."""
    n = recording.n
    speed = _norm(signals.finite(recording.records["observed"]["twist"][:, :3]))
    place = signals.position(recording, "observed")
    away = _norm(place - signals.start(place))
    joint_speed = np.abs(signals.finite(recording.records["reading"]["qd"][:, :n]))
    error, quantity, unit = signals.tracking(recording)
    scale, shown = (1e3, "m" + unit) if unit.startswith("rad") else (1.0, unit)
    peak = _peak(np.abs(error))
    worst = f" ({recording.joint_names[_arg_peak(np.abs(error))]})" if peak is not None else ""
    singular_value = signals.finite(recording.records["observed"]["singular_value"])
    return [
        Row("Peak tool speed", _times(1e3, _peak(speed)), "mm/s"),
        Row("Largest distance from the start", _times(1e3, _peak(away)), "mm"),
        Row("Peak joint velocity", _peak(joint_speed), "rad/s"),
        Row(f"Peak {quantity} tracking error{worst}", _times(scale, peak), shown),
        Row(f"RMS {quantity} tracking error", _times(scale, _rms(error)), shown),
        Row("Smallest singular value of the Jacobian", _times(-1, _peak(-singular_value)), "m/rad, -"),
    ]


def timing(recording: Recording) -> list[Row]:
    """Timing of the loop (only for a run in real time), and ticks missing from the file."""
    clock = recording.records["timing"]
    rows = []
    if signals.is_paced(recording):
        late_us = signals.finite(clock["late_s"]) * 1e6
        busy_us = signals.finite(clock["busy_s"]) * 1e6
        for name, values in (("Lateness", late_us), ("Busy time", busy_us)):
            middle, high = _quantiles(values, (0.5, 0.99))
            rows += [
                Row(f"{name}, median", middle, "µs"),
                Row(f"{name}, 99th percentile", high, "µs"),
                Row(f"{name}, largest", _peak(values), "µs"),
            ]
        rows.append(Row("Overruns", int(clock["overruns"].max())))
    return [*rows, Row("Lost ticks", recording.lost)]


def limits(recording: Recording, names: Names | None = None) -> list[Row]:
    """How far the limits cut the motion, and for how long each one acted."""
    scale = signals.finite(recording.records["observed"]["scale"])
    rows = [Row("Smallest fraction of the commanded motion left after limits", _times(-100, _peak(-scale)), "%")]
    acted = signals.limits(recording, names)
    for name, active in acted.items():
        total_s = sum(span.end_s - span.start_s for span in signals.spans(recording, active))
        rows.append(Row(f"Limit that acted: {name}", total_s, "s"))
    return rows if acted else [*rows, Row("Limits that acted", "none")]


def faults(recording: Recording, names: Names | None = None) -> list[Row]:
    """Each fault with the time at which it occurred."""
    found = [Row(f"Fault: {name}", began_s, "s") for began_s, name in signals.faults(recording, names)]
    return found or [Row("Faults", "none")]


def text(value: object) -> str:
    """A value as readable text: four digits, no noise, a dash if unknown."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return "–"
    if isinstance(value, float):
        if abs(value) < _NOTHING:
            return "0"
        if value == 0 or 1e-3 <= abs(value) < 1e5:
            digits = max(0, 3 - int(np.floor(np.log10(abs(value))))) if value else 0
            fixed = f"{value:.{min(digits, 6)}f}"
            return fixed.rstrip("0").rstrip(".") if "." in fixed else fixed
        return f"{value:.3g}"
    return str(value)


def _plain(value: Any) -> float | int | str | None:
    if value is None or isinstance(value, bool | str):
        return None if value is None else str(value)
    return value if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)


def _norm(vectors: Array) -> Array:
    return np.sqrt(np.sum(vectors**2, axis=1))


def _known(values: Array) -> Array:
    return values[np.isfinite(values)]


def _peak(values: Array) -> float | None:
    known = _known(values)
    return float(known.max()) if known.size else None


def _arg_peak(values: Array) -> int:
    """The column of the largest value that is a number."""
    return int(np.nanargmax(values)) % values.shape[1]


def _rms(values: Array) -> float | None:
    known = _known(values)
    return float(np.sqrt(np.mean(known**2))) if known.size else None


def _quantiles(values: Array, shares: tuple[float, ...]) -> list[float | None]:
    known = _known(values)
    return [float(q) for q in np.quantile(known, shares)] if known.size else [None] * len(shares)


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value
