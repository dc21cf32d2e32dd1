"""A recorder that is killed, stopped or cannot write: the loop goes on, it is reported, and nobody waits for ever."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loop_ends import loop_pid, nothing_is_left_of

from pliant.errors import RecordingError
from pliant.loop import processes, saving
from pliant.loop.boards.board_files import process_state
from pliant.record.reader import Recording
from pliant.session import started_loop
from pliant.session.session import connect

LIMIT_BYTES = 400_000
"""A recorder that may write no more than this meets the same error as on a full disk."""


def test_a_recorder_that_was_stopped_is_continued_at_the_end_and_its_file_is_complete(tmp_path: Path, until) -> None:
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap", rate_hz=250).start()
    recorder = arm.recorder
    assert recorder is not None
    os.kill(recorder.pid, signal.SIGSTOP)
    until(lambda: process_state(recorder.pid) == "T")
    arm.wait(0.3)
    arm.stop()
    assert recorder.poll() == 0
    assert Recording.load(tmp_path / "run.mcap").records["tick"].tolist() == list(range(arm.board.head))


def test_a_recorder_that_hangs_is_killed_and_its_file_is_called_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], until
) -> None:
    hangs = "import signal, time; signal.signal(15, signal.SIG_IGN); print('hangs', flush=True); time.sleep(600)"
    monkeypatch.setattr(started_loop, "end_recorder", lambda one: saving.end_recorder(one, 0.5))
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap", rate_hz=250)
    monkeypatch.setattr(started_loop, "follow", lambda *_: subprocess.Popen([sys.executable, "-c", hangs]))
    until_recorded = type(arm)._await_start

    def start(self) -> None:
        self.board.recording = True
        until_recorded(self)

    monkeypatch.setattr(type(arm), "_await_start", start)
    arm.start()
    with pytest.raises(RecordingError, match=r"run\.mcap is incomplete: the recorder exited early \(killed by SIGKILL"):
        arm.stop()
    assert "The recorder did not end within 0.5 s: it was killed." in capfd.readouterr().err
    assert nothing_is_left_of(arm)


def test_a_killed_recorder_is_reported_while_the_loop_runs(tmp_path: Path, until) -> None:
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap", rate_hz=250).start()
    assert arm.recorder is not None
    assert arm.recording_problem == ""
    arm.recorder.kill()
    until(lambda: arm.recording_problem)
    assert "run.mcap is incomplete: the recorder exited early (killed by SIGKILL)." in arm.recording_problem
    assert arm.running
    with pytest.raises(RecordingError):
        arm.stop()


def test_a_recorder_on_a_full_disk_says_so_in_one_sentence_and_its_file_is_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], until
) -> None:
    spawned = saving.spawn

    def limited(*words: str) -> subprocess.Popen[bytes]:
        process = spawned(*words)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))
        return process

    monkeypatch.setattr(saving, "spawn", limited)
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap", rate_hz=500).start()
    until(lambda: arm.recording_problem)
    assert "the recorder could not write it" in arm.recording_problem
    head = arm.board.head
    until(lambda: arm.board.head > head + 20)  # the loop does not care
    with pytest.raises(RecordingError, match="could not write it"):
        arm.stop()
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert said.count("The recorder has ended, and the loop goes on: Cannot write") == 1
    kept = Recording.load(tmp_path / "run.mcap", partial=True)
    assert kept.records["tick"][0] == 0
    assert len(kept.records) > 0


def test_a_loop_that_was_stopped_ends_within_three_seconds_and_stops_its_robot(until) -> None:
    arm = connect("sim:ur5e").start()
    os.kill(loop_pid(arm), signal.SIGSTOP)
    until(lambda: process_state(loop_pid(arm)) == "T")
    began = time.monotonic()
    arm.stop()
    assert time.monotonic() - began < 3.0
    assert arm.board.reason == "a stop was requested"
    assert nothing_is_left_of(arm)


def test_a_process_that_has_ended_is_not_waited_for() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    assert processes.sees_out(process, 60.0)
    assert process.poll() == 0
