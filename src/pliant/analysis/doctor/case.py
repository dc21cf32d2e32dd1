"""The arrays that the checks use, one row per tick, taken from the recording alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.analysis import signals
from pliant.analysis.signals import Span
from pliant.control.laws.contact.contact_states import DWELL, FAULT, PAUSED, READY, RETRACT, SEEK, SLIDE
from pliant.errors import RecordingError
from pliant.record import Recording
from pliant.record.reader import ParameterSet
from pliant.records import FAULT_SENSOR, IDLE, POSITION, TORQUE, TROUBLES, VELOCITY, WRENCH_OK

Array = np.ndarray[Any, Any]

# Fewer ticks than this say nothing.
LEAST_TICKS = 50
_QUANTITY = {POSITION: "q", VELOCITY: "qd", TORQUE: "tau"}


@dataclass(frozen=True, eq=False)
class Case:
    """A run: its records, period [s], number of joints, parameter sets and fault.

    `fault` is the recorded reason for which the loop ended. A fault of the robot itself appears only here.
    """

    records: Array
    dt: float
    n: int
    sets: tuple[ParameterSet, ...] = ()
    fault: str = ""

    @classmethod
    def of(cls, recording: Recording) -> Case:
        """The case of a recording; raises RecordingError if it is too short for a diagnosis."""
        dt = signals.period_s(recording)
        if len(recording.records) < LEAST_TICKS or not dt > 0:
            why = f"has {len(recording.records)} records; a diagnosis needs at least {LEAST_TICKS}."
            raise RecordingError(recording.path, why)
        fault = str(recording.meta.get("fault") or "")
        return cls(recording.records, dt, recording.n, tuple(recording.parameters), fault)

    @cached_property
    def time_s(self) -> Array:
        """Time since the start of the run [s]."""
        return signals.finite(self.records["time_s"])

    @property
    def contact(self) -> Array:
        """The records of the contact law."""
        return self.records["contact"]

    @cached_property
    def active(self) -> Array:
        """Ticks in which a contact law seeks or presses."""
        return np.isin(self.contact["state"], (SEEK, DWELL, SLIDE, PAUSED))

    @cached_property
    def is_contact(self) -> bool:
        """Whether a contact law was active or about to start."""
        return bool(np.isin(self.contact["state"], (READY, SEEK, DWELL, SLIDE, PAUSED)).any())

    @cached_property
    def begun_in_contact(self) -> bool:
        """Whether the recording begins while a contact law presses or slides: what came before is not in it."""
        first = self.contact[0]
        pressing = np.isin(first["state"], (DWELL, SLIDE, PAUSED, RETRACT))
        return bool(pressing and first["since_s"] > 1.5 * self.dt)

    @cached_property
    def failed(self) -> Array:
        """Ticks in which the contact law is in its fault state, which it can reach from idle too."""
        return self.contact["state"] == FAULT

    @cached_property
    def sensor_fault(self) -> int:
        """The problem of the force sensor that ended the run, a number of TROUBLES; 0 if it was not the sensor."""
        numbers = self.records["state"]["fault"]
        trouble = int(numbers[np.argmax(numbers != 0)]) - FAULT_SENSOR
        return trouble if trouble in TROUBLES else WRENCH_OK

    @cached_property
    def force(self) -> Array:
        """Unfiltered external force at the tool in the base frame [N]; NaN where it is not finite."""
        return signals.finite(self.records["observed"]["wrench"][:, :3])

    @cached_property
    def pressed(self) -> Array:
        """Unfiltered force along the normal that the law used [N]; NaN where no normal is known."""
        normal = self.contact["normal"]
        known = np.linalg.norm(normal, axis=1) > 0.5
        return np.where(known, np.sum(self.force * normal, axis=1), np.nan)

    @cached_property
    def into(self) -> Array:
        """Measured speed of the tool into the surface [m/s]."""
        return -np.sum(self.records["observed"]["twist"][:, :3] * self.contact["normal"], axis=1)

    @cached_property
    def target(self) -> Array:
        """Target force of the contact law in each tick, as set [N]; the recorded one if no parameter is recorded.

        The recorded target starts at first contact. Without contact it is 0, and any force would count as firm.
        """
        return self.setting("contact.target_n", float(self.contact["target_n"].max()))

    @cached_property
    def target_n(self) -> float:
        """The largest target while the law was active [N]; 0 if it never was."""
        return float(self.target[self.active].max(initial=0.0))

    @cached_property
    def mode(self) -> int:
        """The command mode used most."""
        modes = self.records["command"]["mode"]
        modes = modes[modes != IDLE]
        return int(np.bincount(modes).argmax()) if len(modes) else IDLE

    @cached_property
    def commanded(self) -> Array:
        """The joint commands, in the quantity of the mode (ticks × joints)."""
        return signals.finite(self.records["command"][_QUANTITY.get(self.mode, "q")][:, : self.n])

    @cached_property
    def measured(self) -> Array:
        """The measured joints, in the same quantity."""
        return signals.finite(self.records["reading"][_QUANTITY.get(self.mode, "q")][:, : self.n])

    def setting(self, name: str, default: float) -> Array:
        """A parameter by its dotted name, in each tick; `default` where the recording does not contain it."""
        values = np.full(len(self.records), float(default))
        for item in self.sets:
            try:
                found: Any = item.values
                for part in name.split("."):
                    found = found[part]
            except (ValueError, KeyError, IndexError):
                continue
            values[self.records["revision"] == item.revision] = float(found)
        return values

    def spans(self, active: Array, *, least_s: float = 0.0, join_s: float = 0.0) -> tuple[Span, ...]:
        """The time spans in which `active` is true, merged across gaps below `join_s`, each at least `least_s` long."""
        edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(np.int8))).reshape(-1, 2)
        joined: list[list[int]] = []
        for begin, end in edges.tolist():
            if joined and (begin - joined[-1][1]) * self.dt <= join_s:
                joined[-1][1] = end
            else:
                joined.append([begin, end])
        kept = [(a, b) for a, b in joined if (b - a) * self.dt >= least_s - 1e-9]
        return tuple(Span(float(self.time_s[a]), float(self.time_s[b - 1]) + self.dt) for a, b in kept)

    def seconds(self, active: Array) -> float:
        """For how long `active` is true in total [s]."""
        return float(np.count_nonzero(active) * self.dt)


def smooth(values: Array, ticks: int) -> Array:
    """A moving average over about `ticks` ticks (an odd number), along the first axis, with the length of the data."""
    half = max(0, ticks // 2)
    if half == 0 or len(values) < 2:
        return values
    width = min(half, (len(values) - 1) // 2)
    padded = np.pad(values, [(width, width), *[(0, 0)] * (values.ndim - 1)], mode="edge")
    total = np.cumsum(padded, axis=0)
    total = np.concatenate((np.zeros_like(total[:1]), total))
    return (total[2 * width + 1 :] - total[: -2 * width - 1]) / (2 * width + 1)


def longest_s(spans: tuple[Span, ...]) -> float:
    """Length of the longest span [s]; 0 without spans."""
    return max((span.end_s - span.start_s for span in spans), default=0.0)
