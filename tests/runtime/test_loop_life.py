"""Life and death of the control process: whoever dies, the robot is stopped or goes on, and somebody says so."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from loop_ends import loop_pid, nothing_is_left_of

from pliant.errors import InputError, LoopError, RecordingError
from pliant.loop import processes as spawn_module
from pliant.loop import saving
from pliant.loop.board import Board, running
from pliant.loop.board_layout import STARTING, STOPPED
from pliant.loop.boards.board_files import alive
from pliant.params.declare import validated
from pliant.record.reader import Recording
from pliant.session import started_loop as started_module
from pliant.session.in_process.rerun import replay
from pliant.session.session import Session, connect
from pliant.task.schema import Task

GOAL = (0.4, -1.4, 1.7, -1.9, -1.5, 0.3)


def run_python(code: str, *arguments: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


# ---- ordinary ends -------------------------------------------------------------------------------------------------


def test_the_end_of_with_stops_the_loop_and_leaves_nothing(out: Path) -> None:
    with connect("sim:ur5e") as arm:
        assert arm.running
        assert alive(loop_pid(arm))
        assert loop_pid(arm) != os.getpid()
        assert arm.wait(0.05).tick > 0
    assert not arm.running
    assert (arm.board.status, arm.board.reason) == (STOPPED, "a stop was requested")
    assert nothing_is_left_of(arm)
    assert not out.exists()
    arm.stop()  # once more does no harm
    ended = r"The control loop has ended: a stop was requested\. Start a new session\.$"
    with pytest.raises(LoopError, match=ended):
        arm.move_joints(GOAL)  # nobody is there to carry it out


def test_sigint_is_ignored_and_sigterm_is_a_normal_stop(out: Path, until) -> None:
    with connect("sim:ur5e") as arm:
        head = arm.board.head
        os.kill(loop_pid(arm), signal.SIGINT)
        until(lambda: arm.board.head > head + 50)
        assert arm.running
        os.kill(loop_pid(arm), signal.SIGTERM)
        until(lambda: not arm.running)
    assert (arm.board.status, arm.board.reason) == (STOPPED, "a signal requested the stop")
    assert arm._loop.returncode == 0
    assert nothing_is_left_of(arm)
    assert not out.exists()


def test_a_task_with_a_duration_ends_by_itself(out: Path) -> None:
    task = validated(Task, {"duration_s": 0.2})
    with Session(task, ticks=task.ticks) as arm:
        arm.join()
        assert (arm.board.status, arm.board.reason) == (STOPPED, "the task is complete")
        assert arm.read()["tick"].tolist() == list(range(100))
    assert nothing_is_left_of(arm)


def test_a_loop_that_hangs_after_it_has_told_its_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started_module, "_STOP_S", 0.2)
    arm = connect("sim:ur5e").start()
    os.kill(loop_pid(arm), signal.SIGSTOP)
    arm.board.finish(STOPPED, "the task is complete")
    arm.join()
    assert nothing_is_left_of(arm)


def test_an_error_in_the_body_of_with_stops_the_loop_and_passes_through() -> None:
    arm = connect("sim:ur5e")
    with pytest.raises(ZeroDivisionError), arm:
        raise ZeroDivisionError
    assert nothing_is_left_of(arm)


def test_ctrl_c_during_the_start_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        monkeypatch.undo()  # once
        raise KeyboardInterrupt

    arm = connect("sim:ur5e")
    # it waits for the line with its board, and so for as long as it takes until Ctrl-C comes
    monkeypatch.setattr(started_module, "spawn", lambda module, _: spawn_module._start(module))
    monkeypatch.setattr(started_module.time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        arm.start()
    assert not arm.board.path.exists()
    assert arm._loop.poll() is not None


@pytest.mark.slow
def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import pliant\n"
        "arm = pliant.connect('sim:ur5e').start()\n"
        "print(arm.wait(0.02).tick > 0, arm.name, int(arm.board.header.loop_pid))\n"
    )  # and it never stops the loop: the end of the interpreter does
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    ticked, name, pid = done.stdout.split()
    assert ticked == "True"
    assert name not in running()
    assert not alive(int(pid))


# ---- two at once ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Session, Session]]:
    with connect("sim:ur5e") as one, connect("sim:ur5e", name=f"two-{os.getpid()}") as two:
        yield one, two


def test_two_loops_run_at_once_and_do_not_touch_each_other(pair: tuple[Session, Session], until) -> None:
    one, two = pair
    assert one.name != two.name
    assert loop_pid(one) != loop_pid(two)
    one.move_joints(GOAL)
    until(lambda: np.abs(one.q - GOAL).max() < 1e-3)
    head = two.board.head
    until(lambda: two.board.head > head)
    assert (two.read()["command"]["qd"] == 0).all()


def test_the_same_name_twice_is_an_error_and_the_first_goes_on(pair: tuple[Session, Session], until) -> None:
    first = pair[1]
    with pytest.raises(InputError, match=f"A loop named '{first.name}' is already running. Choose another name."):
        connect("sim:ur5e", name=first.name).start()
    head = first.board.head
    until(lambda: first.board.head > head + 20)
    assert first.name in running()
    assert first.running


# ---- somebody is killed --------------------------------------------------------------------------------------------


def test_a_killed_loop_is_reported_and_its_last_seconds_are_saved(
    out: Path, tmp_path: Path, until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "BLACK_BOX_S", 1.0)
    arm = connect("sim:ur5e", law="admittance", record=tmp_path / "run.mcap", rate_hz=250).start()
    arm.set({"sense.cutoff_hz": 40})
    arm.push([20, 0, 0], for_s=1)
    until(lambda: arm.board.head > 300)
    os.kill(loop_pid(arm), signal.SIGKILL)
    with pytest.raises(
        LoopError, match=r"exited without reporting a reason \(killed by SIGKILL while running"
    ) as caught:
        arm.wait(1)
    last = arm.board.head
    with pytest.raises(LoopError) as again:
        arm.move_joints(GOAL)
    assert again.value.black_box == caught.value.black_box
    arm.stop()  # it has ended
    assert nothing_is_left_of(arm)
    assert arm._recorder is not None
    assert arm._recorder.poll() == 0

    box = caught.value.black_box
    assert box is not None
    assert box.parent == out
    saved = Recording.load(box)
    assert saved.complete
    assert saved.records["tick"].tolist() == list(range(last - 250, last))
    assert "killed by SIGKILL" in saved.meta["fault"]
    again = replay(saved)
    assert (again.ticks, again.largest) == (len(saved.records) - 1, 0.0)
    recorded = Recording.load(tmp_path / "run.mcap")
    assert recorded.complete
    assert recorded.meta["fault"] == saved.meta["fault"]  # its owner has said so, after it was dead
    assert recorded.records["tick"].tolist() == list(range(last))


@pytest.mark.slow
def test_two_loops_killed_at_once_leave_two_black_boxes(out: Path) -> None:
    arms = [connect("sim:ur5e").start() for _ in range(2)]
    boxes = []
    for arm in arms:
        arm.wait(0.02)
        os.kill(loop_pid(arm), signal.SIGKILL)
    for arm in arms:
        with pytest.raises(LoopError) as caught:
            arm.stop()
        boxes.append(caught.value.black_box)
    assert len(set(boxes)) == 2
    assert sorted(out.iterdir()) == sorted(boxes)


def test_a_black_box_that_cannot_be_saved_hides_neither_the_reason_nor_the_mess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").write_text("a file where the folder should be")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "out"))
    arm = connect("sim:ur5e").start()
    arm.wait(0.02)
    os.kill(loop_pid(arm), signal.SIGKILL)
    with pytest.raises(LoopError, match=r"without reporting a reason.*could not be saved") as caught:
        arm.wait(1)
    assert caught.value.black_box is None
    assert nothing_is_left_of(arm)


def test_a_loop_without_an_owner_stops_and_clears_up(out: Path, tmp_path: Path, until) -> None:
    owner = run_python(
        "import sys, time, pliant\n"
        "arm = pliant.connect('sim:ur5e', record=sys.argv[1]).start()\n"
        "arm.wait(0.05)\n"
        "print(arm.name, int(arm.board.header.loop_pid), arm._recorder.pid, flush=True)\n"
        "time.sleep(600)\n",
        tmp_path / "run.mcap",
    )
    assert owner.stdout is not None
    name, loop, recorder = owner.stdout.readline().split()
    board = Board.attach(name)
    owner.kill()
    owner.wait()
    until(lambda: not alive(int(loop)))
    assert board.status == STOPPED
    assert "started the loop has exited" in board.reason
    assert name not in running()
    until(lambda: not alive(int(recorder)))
    assert len(Recording.load(tmp_path / "run.mcap").records) == board.head
    assert not out.exists()


def test_a_killed_reader_and_a_killed_recorder_do_not_disturb_the_loop(tmp_path: Path, until) -> None:
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap").start()
    reader = run_python(
        "import sys; from pathlib import Path; from pliant.loop.board import Board\n"
        "board, at = Board.attach(Path(sys.argv[1])), 0\n"
        "print('reading', flush=True)\n"
        "while True:\n    _, at, _ = board.read(at)\n    board.latest()\n",
        arm.board.path,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    assert arm._recorder is not None
    until(lambda: (tmp_path / "run.mcap").exists())
    arm._recorder.kill()
    reader.kill()
    reader.wait()
    arm.read()
    arm.wait(1.0)
    assert arm.running
    ticks = arm.read()["tick"]  # a loop that waited for one of them would not have come so far
    assert len(ticks) >= 500
    assert (np.diff(ticks) == 1).all()
    with pytest.raises(RecordingError, match=r"run\.mcap is incomplete.*killed by SIGKILL"):
        arm.stop()
    assert nothing_is_left_of(arm)


def is_started(arm: Session) -> bool:
    """Whether there is a loop, which is not said to be started while its recorder is missing."""
    try:
        return loop_pid(arm) > 0
    except LoopError:
        return False


def test_a_recorded_loop_does_not_tick_before_its_recorder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until
) -> None:
    recorder = spawn_module._start(spawn_module.RECORDER)  # it waits for the line that names board and file
    monkeypatch.setattr(started_module, "follow", lambda *_: recorder)
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap", rate_hz=125)
    starts = Thread(target=arm.start)
    starts.start()
    until(lambda: is_started(arm))
    starts.join(2.0)  # time for many ticks
    assert (arm.board.status, arm.board.head) == (STARTING, 0)
    assert recorder.stdin is not None
    recorder.stdin.write(json.dumps([str(arm.board.path), str(tmp_path / "run.mcap"), "0"]).encode() + b"\n")
    recorder.stdin.close()
    starts.join()
    arm.wait(0.1)
    arm.stop()
    assert Recording.load(tmp_path / "run.mcap").records["tick"].tolist() == list(range(arm.board.head))


def test_a_recorder_that_dies_before_the_start_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(started_module, "follow", lambda *_: run_python("raise SystemExit(9)"))
    arm = connect("sim:ur5e", record=tmp_path / "run.mcap").start()
    assert arm.running
    with pytest.raises(RecordingError, match=r"is incomplete.*exit code 9"):
        arm.stop()


def test_a_recording_that_cannot_be_written_is_refused_before_anything_moves(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    arm = connect("sim:ur5e", record=tmp_path / "file" / "run.mcap")
    with pytest.raises(RecordingError, match="Cannot write "):
        arm.start()
    assert arm.name not in running()
