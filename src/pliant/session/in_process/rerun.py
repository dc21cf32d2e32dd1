"""Run recorded inputs through the tick again and compare the outputs bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.compiling.ahead import ensure, lines_on_stderr
from pliant.compiling.entry_points import law_groups
from pliant.control.laws.registry import law_of
from pliant.control.parameters import PARAMETERS, set_layout
from pliant.control.telemetry import fill, state_after, telemetry_of
from pliant.control.tick import step
from pliant.control.tick_entries import new_work
from pliant.errors import InputError, RecordingError
from pliant.kernel import kernel, record_at
from pliant.loop.run_description import MODEL, model_bytes, recorded_arm, versions
from pliant.params.declare import validated
from pliant.record import record_messages
from pliant.record.reader import Recording
from pliant.records import COMMAND, MODES, OBSERVED, STATE, TICK, Layout
from pliant.task.schema import Task

_TICK = TICK.dtype


@kernel
def rerun(handle, sets, which, span, state, command, observed, work, mode, dt):
    """Ticks first … last-1 with the recorded readings and goals.

    `span` is (addresses of the recorded telemetry and of that for the results, bytes of a record, first, last).
    """
    records, out, size, first, last = span
    s, c, o, w = state[0], command[0], observed[0], work[0]
    for i in range(first, last):
        t = record_at(records + i * size, _TICK)
        step(handle[0], sets[which[i]], s, t.reading, t.goal, c, o, w, mode, dt)
        fill(out + i * size, t.tick, dt, t.revision, t.reading, t.goal, o, c, s, w)


@dataclass(frozen=True)
class Replayed:
    """The result of a replay."""

    ticks: int
    """Number of replayed ticks."""
    largest: float
    """Largest difference from the recording; 0 if every number agrees."""
    where: str
    """The field and tick of the largest difference."""
    gaps: int
    """Number of gaps in the recording."""
    records: np.ndarray[Any, Any]
    """The replayed telemetry, one record per tick."""


def replay(recording: Recording) -> Replayed:
    """Run a recording through the tick. After a gap in the records it continues from the recorded state."""
    task = _task_of(recording)
    kept = recording.attachments.get(MODEL)
    arm = recorded_arm(task, recording.meta, kept)
    if kept is not None and kept != model_bytes(arm):
        raise RecordingError(recording.path, "was made with a different arm model and cannot be replayed exactly.")
    records = recording.records
    sets, which = _parameter_sets(recording, set_layout(type(task.params)))
    expected = telemetry_of(type(task.params)).dtype
    if records.dtype != expected:
        why = record_messages.difference(expected, records.dtype)
        raise RecordingError(recording.path, f"was made with another version of its law and cannot be replayed: {why}.")
    out = records.copy()
    laws = [law_of(number).name for number in np.unique([records["goal"]["law"], records["state"]["law"]]) if number]
    ensure("replay", *law_groups(laws), notice=lines_on_stderr())
    state, command, observed, work = STATE.new(), COMMAND.new(), OBSERVED.new(), new_work(laws, type(task.params))
    starts = np.flatnonzero(np.diff(records["tick"]) != 1) + 1
    edges = [0, *starts.tolist(), len(records)]
    ran = 0
    for first, last in pairwise(edges):
        begin = first
        if records["tick"][first] != 0:  # the state before this tick is that of no record: start one tick later
            state = state_after(records[first])
            command[0], observed[0] = records["command"][first], records["observed"][first]
            begin = first + 1
        rerun(
            arm.handle, sets, which, (records.ctypes.data, out.ctypes.data, records.itemsize, begin, last),
            state, command, observed, work, MODES[task.interface], task.dt,
        )  # fmt: skip
        ran += last - begin
    largest, where = difference(records, out)
    return Replayed(ran, largest, where, len(starts), out)


def _task_of(recording: Recording) -> Task:
    if not len(recording.records):
        raise RecordingError(recording.path, "has no records and cannot be replayed.")
    if "mission" in recording.meta:
        raise RecordingError(recording.path, "is the recording of a mission. Missions cannot be replayed.")
    if "task" not in recording.meta:
        raise RecordingError(recording.path, "does not contain its task and cannot be replayed.")
    try:
        # readings are recorded: neither the simulated world nor the sensor is needed, nor the files of their kinds
        needed = {name: value for name, value in recording.meta["task"].items() if name not in ("sim", "sensor")}
        return validated(Task, needed)
    except InputError as error:
        made, ours = recording.meta.get("versions", {}).get("pliant", "an unknown version"), versions()["pliant"]
        which = f"Pliant {made}, with code that differs from this version" if made == ours else f"Pliant {made}"
        what = f"was recorded by {which} (this is {ours}), and its task cannot be run here: {error}"
        raise RecordingError(recording.path, f"{what} Replay it with the version that recorded it.") from None


def _parameter_sets(recording: Recording, layout: Layout) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All sets as one array, and for every record the index of the set in force."""
    revisions = [item.revision for item in recording.parameters]
    missing = set(np.unique(recording.records["revision"]).tolist()) - set(revisions)
    if missing:
        raise RecordingError(recording.path, f"lacks the parameter sets {sorted(missing)} and cannot be replayed.")
    kept = recording.parameter_layout
    if kept is None or kept.dtype.descr != layout.dtype.descr:
        raise RecordingError(recording.path, "was made by a version with other parameters and cannot be replayed.")
    sets = layout.new(len(revisions))
    for i, item in enumerate(recording.parameters):
        sets[i] = item.values
    index = {revision: i for i, revision in enumerate(revisions)}
    return sets.view(PARAMETERS.dtype), np.array([index[int(r)] for r in recording.records["revision"]], np.int64)


def difference(one: np.ndarray[Any, Any], two: np.ndarray[Any, Any]) -> tuple[float, str]:
    """The largest absolute difference between two telemetry arrays, and the field and tick where it is."""
    largest, where = 0.0, ""
    for part in one.dtype.names or ():
        first, second = one[part], two[part]
        for name in (first.dtype.names or ()) if part not in ("timing", "base") else ():
            a, b = first[name].astype(float), second[name].astype(float)
            with np.errstate(invalid="ignore"):
                gap = np.abs(a - b)
            gap[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
            gap[np.isnan(gap)] = np.inf  # a number here, none there
            if gap.size and gap.max() > largest:
                row = int(np.unravel_index(np.argmax(gap), gap.shape)[0])
                largest, where = float(gap.max()), f"{part}.{name} at tick {int(one['tick'][row])}"
    return largest, where
