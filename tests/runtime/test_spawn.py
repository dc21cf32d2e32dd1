"""Processes that are started before there is anything for them to do."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pliant.loop import processes
from pliant.loop.boards.board_files import alive
from pliant.loop.processes import LOOP, RECORDER, start_ahead
from pliant.session.session import connect

OWNER = """
import signal, sys, time
from pliant.loop import processes as spawn
spawn.start_ahead(spawn.LOOP)
print(spawn._waiting[spawn.LOOP][0].pid, flush=True)
if "wait" in sys.argv:
    time.sleep(600)
"""


def owner_with_a_waiting_loop(*words: str) -> tuple[subprocess.Popen[str], int]:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, *words], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    return owner, int(owner.stdout.readline())


def ends(pid: int, within_s: float = 60.0) -> bool:
    deadline = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def test_processes_started_ahead_become_the_loop_and_its_recorder(tmp_path: Path) -> None:
    start_ahead(LOOP, RECORDER)
    waiting = {module: process.pid for module, (process, _) in processes._waiting.items()}
    with connect("sim:ur5e", record=tmp_path / "run.mcap") as arm:
        assert arm._loop.pid == waiting[LOOP]
        assert arm._recorder is not None
        assert arm._recorder.pid == waiting[RECORDER]
        assert not processes._waiting
    with connect("sim:ur5e") as second:
        assert second._loop.pid != waiting[LOOP]


def test_a_process_that_died_while_it_waited_is_replaced() -> None:
    start_ahead(LOOP)
    first, _ = processes._waiting[LOOP]
    first.kill()
    first.wait()
    with connect("sim:ur5e") as arm:
        assert arm._loop.pid != first.pid
        assert arm.running


def test_a_process_that_was_started_in_another_folder_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_ahead(LOOP)
    first, _ = processes._waiting[LOOP]
    monkeypatch.chdir(tmp_path)
    with connect("sim:ur5e") as arm:
        assert arm._loop.pid != first.pid
        assert Path(f"/proc/{arm._loop.pid}/cwd").resolve() == tmp_path
    assert first.returncode is not None


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_a_process_that_nobody_wanted_ends_with_its_owner(how: str) -> None:
    owner, pid = owner_with_a_waiting_loop("wait" if how == "is killed" else "")
    if how == "is killed":
        owner.kill()
    owner.communicate()
    assert ends(pid)
