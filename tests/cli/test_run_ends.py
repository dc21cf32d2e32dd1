"""How a run ends: its exit code, the reason of a fault, the black box, the picture."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.analysis.signals import BAD_READINGS
from pliant.errors import UnwritableError
from pliant.loop.board import Board, running
from pliant.session.in_process.fast_run import Run
from support.waiting import until
from support.words import pliant, say

SHORT = "name: short\nrobot: sim:ur5e\nlaw: admittance\nduration_s: 0.3\n"


def test_a_fault_ends_with_code_three_and_names_the_black_box(tmp_path: Path) -> None:
    (tmp_path / "deaf.yaml").write_text(SHORT + "sim: {sensor: {dropout: 1.0}}\n")
    done = pliant("run", "deaf.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "force sensor" in done.stderr
    assert "peak measured force" not in done.stdout  # no reading was valid
    assert BAD_READINGS in done.stdout
    assert "met" not in done.stdout
    assert len(list((tmp_path / "out").glob("fault-*.mcap"))) == 1


@pytest.mark.slow
def test_a_fault_in_a_recorded_run_says_where_the_recording_is(tmp_path: Path) -> None:
    (tmp_path / "deaf.yaml").write_text(SHORT + "sim: {sensor: {dropout: 1.0}}\n")
    done = pliant("run", "deaf.yaml", "--record", "deaf.mcap", "--name", f"deaf-{os.getpid()}", cwd=tmp_path)
    assert done.returncode == 3
    assert f"Loop deaf-{os.getpid()}." in " ".join(done.stdout.split())
    assert "Recording: deaf.mcap" in done.stdout
    assert say("replay", "deaf.mcap", cwd=tmp_path).returncode == 0


def test_a_fault_in_a_fast_run_leaves_a_black_box_too(tmp_path: Path) -> None:
    (tmp_path / "deaf.yaml").write_text(SHORT + "sim: {sensor: {dropout: 1.0}}\n")
    done = pliant("run", "deaf.yaml", "--fast", cwd=tmp_path)
    assert done.returncode == 3
    box = next((tmp_path / "out").glob("fault-*.mcap"))
    assert str(Path("out", box.name)) in done.stderr
    assert say("replay", box).returncode == 0


@pytest.mark.parametrize("more", [(), ("--record", "file/deaf.mcap")], ids=["black box", "recording"])
def test_a_fault_in_a_fast_run_whose_file_cannot_be_written_is_still_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    (tmp_path / "deaf.yaml").write_text(SHORT + "sim: {sensor: {dropout: 1.0}}\n")
    (tmp_path / "file").mkdir()
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "deaf.yaml" / "out"))
    monkeypatch.setattr(Run, "save", _on_a_full_disk)
    done = say("run", str(tmp_path / "deaf.yaml"), "--fast", *more, cwd=tmp_path)
    assert done.returncode == 3
    assert "force sensor" in done.stderr
    assert "(the last seconds could not be saved: Cannot write " in done.stderr
    assert BAD_READINGS in done.stdout  # the summary is printed all the same
    assert "Recording:" not in done.stdout


def test_a_fast_run_without_a_fault_whose_file_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "save", _on_a_full_disk)
    done = say("run", "push", "--fast", "--duration", "0.2", "--record", "push.mcap", cwd=tmp_path)
    assert done.returncode == 2
    assert "Cannot write push.mcap: " in done.stderr
    assert "peak tool speed" in done.stdout


def _on_a_full_disk(_: Run, path: Path) -> None:
    raise UnwritableError(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def test_a_recorder_that_dies_is_reported_while_the_loop_runs_and_the_summary_is_printed(tmp_path: Path) -> None:
    name = f"lost-{os.getpid()}"
    words = ["-m", "pliant.cli.main", "run", "push", "--duration", "3", "--record", "run.mcap", "--name", name]
    with (tmp_path / "said").open("w") as said:
        run = subprocess.Popen(
            [sys.executable, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=said, text=True, process_group=0
        )
        until(lambda: name in running() and Board.attach(name).head > 0)
        os.kill(_recorder_of(run.pid), signal.SIGKILL)
        until(lambda: "run.mcap is incomplete" in (tmp_path / "said").read_text())
        assert run.poll() is None
        out, _ = run.communicate(timeout=120)
    assert "peak tool speed" in out
    text = " ".join((tmp_path / "said").read_text().split())
    warning = "Warning: run.mcap is incomplete: the recorder exited early (killed by SIGKILL). The loop keeps running."
    assert warning in text
    assert text.endswith("pliant: run.mcap is incomplete: the recorder exited early (killed by SIGKILL).")
    assert run.returncode == 2


def _recorder_of(owner: int) -> int:
    """The recorder among the processes that `owner` started."""
    children = Path(f"/proc/{owner}/task/{owner}/children").read_text().split()
    return next(int(pid) for pid in children if b"pliant.loop.saving" in Path(f"/proc/{pid}/cmdline").read_bytes())


def test_the_demo_runs_by_itself_and_leaves_a_picture(tmp_path: Path) -> None:
    done = pliant("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "largest difference 0." in done.stdout
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_whose_contact_ends_in_a_fault_says_why_and_fails() -> None:
    done = say("run", "dome", "--fast", "--duration", "3", "--set", "contact.seek_m=0.001")
    assert done.returncode == 3
    assert "The contact ended in a fault: no surface was found within contact.seek_m (0.001 m). Start" in done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[1] for line in lines if len(line) > 2 and line[1] in ("ready", "seek", "fault")] == [
        "ready",
        "seek",
        "fault",
    ]
