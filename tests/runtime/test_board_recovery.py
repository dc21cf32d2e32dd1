"""A loop that is killed together with its owner: the next start saves what it left, once, and removes its board."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import Make, tell

from pliant.loop import board_layout
from pliant.loop.board import Board, running
from pliant.loop.board_layout import FAULT, RUNNING, STOPPED
from pliant.loop.boards import board_recovery
from pliant.loop.boards.board_files import alive
from pliant.loop.boards.board_recovery import recover
from pliant.record.reader import Recording
from pliant.task.schema import Task
from support.waiting import until

DEAD = 2**22 + 1
"""No process has this number."""

OWNER = (
    "import sys, time, pliant\n"
    "arm = pliant.connect('sim:ur5e', name=sys.argv[1], rate_hz=250).start()\n"
    "arm.wait(1.0)\n"
    "print(int(arm.board.header.loop_pid), flush=True)\n"
    "time.sleep(600)\n"
)


@pytest.fixture
def dead(make: Make) -> Board:
    """The board of a loop that was killed with its owner after 100 ticks."""
    board = make(ring_slots=200, task=Task().model_dump(mode="json"))
    board.set_status(RUNNING)
    tell(board, range(100))
    board.header.owner_pid, board.header.loop_pid = DEAD, DEAD
    return board


def boxes(folder: Path) -> list[Path]:
    return sorted(folder.glob("fault-*.mcap"))


def test_a_loop_and_its_owner_killed_at_once_leave_a_black_box_to_the_next_start(out: Path) -> None:
    name = f"both-{os.getpid()}"
    owner = subprocess.Popen([sys.executable, "-c", OWNER, name], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    loop = int(owner.stdout.readline())
    board = Board.attach(name)
    os.kill(owner.pid, signal.SIGSTOP)  # so that neither can do anything about the other
    os.kill(loop, signal.SIGKILL)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    until(lambda: not alive(loop))
    last = board.head
    code = "import pliant\nwith pliant.connect('sim:ur5e') as arm: arm.wait(0.02)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    (box,) = boxes(out)
    assert f"Loop {name} had been killed. Its last seconds were recovered: {box}" in done.stderr
    saved = Recording.load(box)
    assert saved.records["tick"].tolist() == list(range(last))
    assert board_recovery.KILLED in saved.meta["fault"]
    assert name not in running()


def test_what_was_recovered_is_recovered_once(dead: Board, out: Path) -> None:
    (said,) = recover()
    (box,) = boxes(out)
    assert said == f"Loop one had been killed. Its last seconds were recovered: {box}"
    assert len(Recording.load(box).records) == 100
    assert recover() == []
    assert not dead.path.exists()


def test_two_starts_at_once_recover_it_once(dead: Board, out: Path) -> None:
    said: list[str] = []
    starts = [threading.Thread(target=lambda: said.extend(recover())) for _ in range(4)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert len(said) == len(boxes(out)) == 1


def test_the_fault_that_was_noted_before_the_end_is_its_reason(dead: Board, out: Path) -> None:
    dead.annotate({"fault": "the cable is out"})
    recover()
    assert Recording.load(boxes(out)[0]).meta["fault"].startswith("the cable is out (its process and")


@pytest.mark.parametrize("status", [STOPPED, FAULT])
def test_a_loop_that_had_ended_leaves_no_second_black_box(dead: Board, out: Path, status: int) -> None:
    dead.annotate({"black_box": "there.mcap"} if status == FAULT else {})
    dead.finish(status, "it had ended")
    assert recover() == []
    assert boxes(out) == []
    assert not dead.path.exists()


def test_evidence_that_cannot_be_saved_stays_until_it_can(
    dead: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "file" / "out"))
    (said,) = recover()
    assert said.startswith("The last seconds of the killed loop one could not be saved: Cannot write ")
    assert said.endswith(f"To give them up, remove {dead.path}.")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "out"))
    assert "were recovered" in recover()[0]


@pytest.mark.parametrize("config", [{}, {"task": 5}, {"task": {"robot": 5}}, {"task": {"rate_hz": 0}}])
def test_a_forged_task_ends_in_a_sentence(make: Make, out: Path, config: dict[str, Any]) -> None:
    board = make(**config)
    board.set_status(RUNNING)
    tell(board, range(3))
    board.header.owner_pid = DEAD
    (said,) = recover()
    assert "could not be saved" in said
    assert boxes(out) == []


def test_a_dead_loop_of_another_version_is_kept_and_reported(dead: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_recovery, "fingerprint", lambda: board_layout.fingerprint() + 1)
    (said,) = recover()
    assert "another version of Pliant" in said
    assert dead.path.exists()


def test_all_ticks_of_the_last_five_seconds_are_in_it(make: Make, out: Path) -> None:
    board = make(ring_slots=4000, task=Task(rate_hz=500).model_dump(mode="json"))
    board.set_status(RUNNING)
    tell(board, range(6000))
    board.header.owner_pid = DEAD
    recover()
    assert np.array_equal(Recording.load(boxes(out)[0]).records["tick"], np.arange(3500, 6000))
