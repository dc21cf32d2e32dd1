"""`pliant emulate`, and `pliant run` on what is not simulated: what is refused, and that it asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.cli import show
from pliant.cli.emulating import version_of
from pliant.cli.main import main
from pliant.errors import InputError, RefusedError
from pliant.runtime.task import Task

HERE = f"127.51.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 255}"


def pliant(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "pliant.cli.main", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("emulate", "ur6e"), "There is no UR model 'ur6e'"),
        (("emulate", "ur5e", "--fault", "earthquake"), "There is no fault 'earthquake'"),
        (("emulate", "ur5e", "--version", "new"), "version is 'new'"),
        (("emulate", "ur5e", "--host", "0.0.0.0"), "an address of this machine alone"),
        (("emulate", "ur5e", "--task", "dmoe"), "Did you mean 'dome'"),
        (("run", "push", "--robot", "ur:1.2.3.4:5"), "no port"),
        (("run", "push", "--robot", "ur:127.0.0.1", "--fast"), "--fast is for simulated robots"),
    ],
)
def test_bad_input_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["pliant", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert said in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert shown.out == ""


def test_a_real_robot_is_not_moved_when_there_is_nobody_to_ask() -> None:
    pytest.importorskip("rtde_control")
    done = pliant("run", "hand_guiding", "--robot", "ur:127.51.0.1")
    assert done.returncode == 2
    assert "admittance on ur:127.51.0.1 by position" in done.stdout
    assert "tool speed" in done.stdout
    assert "Nothing has moved: there is nobody to ask. Say --yes if it may." in done.stderr


def test_no_is_an_answer_and_a_simulated_robot_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def no(question: str, **_: object) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(show.Confirm, "ask", no)
    show.ask_once(Task(robot="sim:ur5e"), yes=False)
    show.ask_once(Task(robot="ur:127.51.0.1"), yes=True)
    assert asked == []
    with pytest.raises(RefusedError, match="it was not confirmed"):
        show.ask_once(Task(robot="ur:127.51.0.1"), yes=False)
    assert len(asked) == 1


def test_it_listens_writes_its_trace_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    line = [
        sys.executable,
        "-m",
        "pliant.cli.main",
        "emulate",
        "ur3e",
        "--host",
        HERE,
        "--trace",
        str(tmp_path / "t.npy"),
    ]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    while "Ctrl-C" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "An emulated ur3e listens" in first
    assert "periods missed" in rest
    assert np.load(tmp_path / "t.npy")["q"].shape[1] == 6


def test_a_version_may_leave_out_what_is_zero() -> None:
    assert version_of("5.12") == (5, 12, 0, 0)
    with pytest.raises(InputError):
        version_of("5")
