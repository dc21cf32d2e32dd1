"""What takes long yields to the loop, comes one at a time, and is ended when it is said: however early."""

from __future__ import annotations

import datetime
import json
import os
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from running_studio import Running, ask, dial, until

from pliant.errors import RejectedError, UnknownNameError
from pliant.record import Recording
from pliant.session.in_process.fast_run import simulate
from pliant.studio.stage import recorder
from pliant.studio.stage.stage import Stage
from pliant.studio.wire import text_of
from pliant.studio.work import archive
from pliant.studio.work.background import Slot, Work
from pliant.task.schema import load_task


def test_a_cancel_that_comes_before_the_process_is_not_lost() -> None:
    work = Work()
    with work.exclusive():
        assert work.cancel()
        with pytest.raises(RejectedError, match="was cancelled"):
            work.json_of_command("experiment", "dome", "--json")
        assert work._process is None
    assert not work.cancel()  # nothing is left of it for the next
    with work.exclusive():
        assert work.json_of_module("It", "json.tool", said='{"a": 1}') == {"a": 1}


def test_what_takes_long_yields_to_the_loop() -> None:
    work, before = Work(), os.getpriority(os.PRIO_PROCESS, 0)

    def run() -> None:
        with pytest.raises(RejectedError, match="was cancelled"):
            work.json_of_command("experiment", "dome", "--json")

    runs = Thread(target=run)
    runs.start()
    until(lambda: work._process is not None)
    assert work._process is not None
    number = work._process.pid
    until(lambda: os.getpriority(os.PRIO_PROCESS, number) == min(19, before + 10))
    work.cancel()
    runs.join()


def test_an_experiment_is_looked_up_and_not_imported_by_the_studio(monkeypatch: pytest.MonkeyPatch) -> None:
    work, asked = Work(), list[tuple[str, ...]]()

    def told(*words: str) -> dict[str, Any]:
        asked.append(words)
        return {"passed": True, "figures": []}

    monkeypatch.setattr(work, "json_of_command", told)
    sys.modules.pop("pliant_experiments.mobile.planner_trials", None)
    archive.run_experiment(work, "planner")
    assert asked[0][:2] == ("experiment", "planner")
    assert "pliant_experiments.mobile.planner_trials" not in sys.modules
    with pytest.raises(UnknownNameError, match="experiment"):
        archive.run_experiment(work, "os")


@pytest.mark.slow
def test_a_what_if_in_a_process_of_its_own_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    simulate(load_task("push")).save(tmp_path / "push.mcap")
    parameters = load_task("push").params
    assert archive.ask_what_if(Work(), "push.mcap", parameters) == archive.what_if(
        "push.mcap", parameters.model_dump_json()
    )
    with pytest.raises(RejectedError, match="a recording in"):
        archive.ask_what_if(Work(), "nothing.mcap", parameters)


def test_a_huge_recording_is_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    with (tmp_path / "huge.mcap").open("wb") as file:
        file.truncate(archive.MOST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(RejectedError, match="opens at most 400 MB"):
        archive.open_recording("huge.mcap")


def test_recordings_are_opened_one_at_a_time() -> None:
    work = Work()
    with work.opening():
        with pytest.raises(RejectedError, match="Another recording is being opened"), work.opening():
            pass
        with work.exclusive():
            pass  # which is another matter
    with work.opening():
        pass


@pytest.mark.slow
def test_a_recording_opened_in_a_process_of_its_own_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    simulate(load_task("push")).save(tmp_path / "push.mcap")
    own, work = json.loads(text_of(archive.open_recording("push.mcap"))), Work()
    with work.opening("Opening push.mcap"):
        assert work.in_progress == {"work": "", "open": "Opening push.mcap"}
        assert archive.ask_open(work, "push.mcap") == own
    assert work.in_progress == {"work": "", "open": ""}
    with pytest.raises(RejectedError, match="a recording in"):
        archive.ask_open(work, "nothing.mcap")


def test_opening_a_recording_is_cancelled_and_its_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    work, said, json_of_module = Work(), list[str](), Slot.json_of_module
    monkeypatch.setattr(
        Slot, "json_of_module", lambda self, name, *_: json_of_module(self, name, "asyncio")
    )  # which waits for its input

    def run() -> None:
        with work.opening("Opening push.mcap"), pytest.raises(RejectedError) as cancelled:
            archive.ask_open(work, "push.mcap")
        said.append(str(cancelled.value))

    monkeypatch.setattr("subprocess.Popen.communicate", lambda self, _: (self.wait(), ("", ""))[1])
    runs = Thread(target=run)
    runs.start()
    until(lambda: work.reader._process is not None)
    process = work.reader._process
    assert process is not None
    assert not work.cancel()  # which is another matter
    assert work.reader.cancel()
    runs.join()
    assert process.poll() is not None
    assert said == ["Opening push.mcap was cancelled."]


def test_whoever_cancels_nothing_is_told(studio: Running) -> None:
    with dial(studio) as socket:
        assert ask(socket, {"id": 1, "do": "cancel"})["cancelled"] is False
        assert ask(socket, {"id": 2, "do": "cancel", "what": "open"})["cancelled"] is False
        assert "'everything'" in ask(socket, {"id": 3, "do": "cancel", "what": "everything"})["error"]


def test_two_recordings_within_a_second_have_a_file_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, studio: Running
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    now = datetime.datetime(2026, 1, 2, 3, 4, 5)
    clock = SimpleNamespace(datetime=SimpleNamespace(now=lambda: now))
    monkeypatch.setattr(recorder, "datetime", clock)
    stage = Stage()
    stage.attach(studio.loop.name)
    files = []
    for _ in range(3):
        files.append(stage.record())
        studio.loop.wait(0.05)
        stage.stop_recording()
    assert [Path(file).name for file in files] == [
        "hand_guiding-20260102-030405.mcap",
        "hand_guiding-20260102-030405-2.mcap",
        "hand_guiding-20260102-030405-3.mcap",
    ]
    assert all(Path(file).stat().st_size > 0 for file in files)


@pytest.mark.slow
def test_a_recording_that_ends_at_once_has_a_file_even_beside_another_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, studio: Running
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    other, stage = Stage(), Stage()
    other.attach(studio.loop.name)
    stage.attach(studio.loop.name)
    other.record()
    try:
        file = Path(stage.record())
        stage.stop_recording()
        assert Recording.load(file).complete
    finally:
        other.stop_recording()
