"""Replay: a recording runs through the tick again without a difference, or it is said where, or why it cannot."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.control.telemetry import TELEMETRY
from pliant.errors import ModelError, RecordingError
from pliant.loop.run_description import MODEL
from pliant.params.declare import validated
from pliant.record.reader import Recording
from pliant.record.writer import RecordingWriter
from pliant.records import Layout
from pliant.session.in_process.fast_run import simulate
from pliant.session.in_process.rerun import difference, replay
from pliant.task.schema import Task, load_task

TASK = {
    "duration_s": 1.0,
    "law": "admittance",
    "sim": {"sensor": {"dropout": 0.2}, "pushes": [{"at_s": 0.1, "for_s": 0.5, "wrench": [20, 5, 0, 0, 0, 0]}]},
    "events": [{"at_s": 0.4, "set": {"admittance.stiffness": 150.0}}, {"at_s": 0.7, "law": "hold"}],
}


PUSHED = "sim: {pushes: [{at_s: 0.1, for_s: 0.2, wrench: [20, 5, 0, 0, 0, 0]}]}\n"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    path = tmp_path_factory.mktemp("replay") / "run.mcap"
    simulate(validated(Task, TASK)).save(path)
    return Recording.load(path)


def test_a_whole_run_has_no_difference(recording: Recording) -> None:
    again = replay(recording)
    assert (again.ticks, again.largest, again.where, again.gaps) == (500, 0.0, "", 0)
    for part in ("observed", "command", "state"):
        assert again.records[part].tobytes() == recording.records[part].tobytes()


@pytest.mark.parametrize("first", [1, 137, 350, 498])
def test_a_recording_that_begins_in_the_middle_runs_from_its_first_record(recording: Recording, first: int) -> None:
    again = replay(replace(recording, records=recording.records[first:]))
    assert (again.ticks, again.largest, again.gaps) == (500 - first - 1, 0.0, 0)


def test_gaps_are_bridged_by_the_recorded_state(recording: Recording) -> None:
    kept = np.r_[0:100, 130:131, 160:300, 301:500]
    again = replay(replace(recording, records=recording.records[kept]))
    assert (again.ticks, again.largest, again.gaps) == (len(kept) - 3, 0.0, 3)


@pytest.mark.parametrize(
    ("part", "field", "tick"), [("reading", "q", 250), ("reading", "wrench", 120), ("goal", "pose", 300)]
)
def test_a_changed_input_makes_a_difference_from_its_tick_on(
    recording: Recording, part: str, field: str, tick: int
) -> None:
    records = recording.records.copy()
    records[part][field][tick, 0] += 0.5
    again = replay(replace(recording, records=records))
    assert again.largest > 0
    for name in ("observed", "command", "state"):
        assert again.records[name][:tick].tobytes() == records[name][:tick].tobytes()
    assert any(again.records[name][tick] != records[name][tick] for name in ("observed", "command", "state"))
    kind, _, number = again.where.partition(" at tick ")
    assert kind.split(".")[0] in ("observed", "command", "state")
    assert int(number) >= tick


def test_the_smallest_change_of_an_output_is_found_and_located(recording: Recording) -> None:
    records = recording.records.copy()
    before = records["command"]["q"][321, 2]
    records["command"]["q"][321, 2] = np.nextafter(before, np.inf)
    again = replay(replace(recording, records=records))
    assert 0 < again.largest < 1e-15
    assert again.where == "command.q at tick 321"


def test_a_changed_parameter_makes_a_difference(recording: Recording) -> None:
    sets = list(recording.parameters)
    values = sets[1].values.copy()
    values["gains"]["K1"][0, 0] += 1.0
    sets[1] = sets[1]._replace(values=values)
    again = replay(replace(recording, parameters=sets))
    assert again.largest > 0
    assert again.records["state"][:200].tobytes() == recording.records["state"][:200].tobytes()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(("part", "field"), [("observed", "pose"), ("state", "weakest")])
def test_a_number_that_is_none_is_the_largest_difference(bad: float, part: str, field: str) -> None:
    one, two = TELEMETRY.new(10), TELEMETRY.new(10)
    one["tick"] = two["tick"] = np.arange(50, 60)
    two["command"]["q"][3] = 1.0
    two[part][field][7, 2] = bad
    for a, b in ((one, two), (two, one)):
        assert difference(a, b) == (np.inf, f"{part}.{field} at tick 57")
    assert difference(two, two) == (0.0, "")


def test_a_run_that_ended_for_want_of_a_finite_joint_reading_runs_again(recording: Recording) -> None:
    """NaN in, NaN in the record: still no difference."""
    records = recording.records.copy()
    records["reading"]["q"][400:, 1] = np.nan
    changed = replay(replace(recording, records=records)).records
    again = replay(replace(recording, records=changed))
    assert (changed["state"]["fault"][400:] != 0).all()
    assert np.isfinite(changed["command"]["q"]).all()
    assert again.largest == 0.0


def test_an_arm_from_a_file_is_run_again_from_anywhere_and_without_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, elsewhere = tmp_path / "cell", tmp_path / "elsewhere"
    cell.mkdir()
    elsewhere.mkdir()
    shutil.copy(Path(__file__).parent.parent / "data" / "seven_joints.xml", cell / "arm.xml")
    (cell / "job.yaml").write_text("robot: sim:arm.xml\nlaw: admittance\nduration_s: 0.4\n" + PUSHED)
    monkeypatch.chdir(elsewhere)
    simulate(load_task(cell / "job.yaml")).save(tmp_path / "run.mcap")
    recording = Recording.load(tmp_path / "run.mcap")
    assert replay(recording).largest == 0.0
    (cell / "arm.xml").unlink()
    again = replay(recording)
    assert (again.ticks, again.largest) == (200, 0.0)
    with pytest.raises(ModelError, match="does not exist"):
        replay(replace(recording, attachments={}))


# ---- what cannot be run again --------------------------------------------------------------------------------------


def test_a_missing_parameter_set_is_named(recording: Recording) -> None:
    with pytest.raises(RecordingError, match=r"lacks the parameter sets \[1\]"):
        replay(replace(recording, parameters=recording.parameters[:1]))


def test_a_recording_of_another_model_is_refused(recording: Recording) -> None:
    other = bytearray(recording.attachments[MODEL])
    other[-9] ^= 1
    with pytest.raises(RecordingError, match="a different arm model"):
        replay(replace(recording, attachments={MODEL: bytes(other)}))


def test_a_recording_with_another_tool_than_it_says_is_refused(recording: Recording) -> None:
    task = json.loads(json.dumps(recording.meta["task"]))
    task["tool"]["mass_kg"] = 1.5
    with pytest.raises(RecordingError, match="a different arm model"):
        replay(replace(recording, meta={**recording.meta, "task": task}))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda r: replace(r, records=r.records[:0]), "no records"),
        (lambda r: replace(r, meta={}), "does not contain its task"),
        (lambda r: replace(r, meta={"task": {"robot": "sim:ur5e", "springs": 3}}), "springs"),
        (lambda r: replace(r, parameter_layout=None), "other parameters"),
        (lambda r: replace(r, parameter_layout=Layout("P", r.parameter_layout.fields[::-1])), "other parameters"),
    ],
)
def test_what_cannot_be_run_again_says_why(recording: Recording, change: Callable[..., Any], why: str) -> None:
    with pytest.raises(RecordingError, match=why):
        replay(change(recording))


def test_a_recording_that_knows_nothing_of_its_run_is_refused(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "run.mcap", {}, ["one"]) as writer:
        writer.append(TELEMETRY.new(3))
    with pytest.raises(RecordingError, match="does not contain its task"):
        replay(Recording.load(tmp_path / "run.mcap"))
