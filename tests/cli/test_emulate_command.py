"""`pliant emulate`, and `pliant run` on what is not simulated: what is refused, and that it asks."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.cli.main import main
from pliant.cli.running.emulating import version_of
from pliant.errors import InputError
from support.needs import needs

HERE = f"127.51.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 255}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("emulate", "ur6e"), "Unknown UR model 'ur6e'"),
        (("emulate", "ur5e", "--fault", "earthquake"), "Unknown fault 'earthquake'"),
        (("emulate", "ur5e", "--version", "new"), "--version is 'new'"),
        (("emulate", "ur5e", "--host", "0.0.0.0"), "a loopback address"),
        (("emulate", "ur5e", "--task", "domee"), "Did you mean 'dome'"),
        (("emulate", "ur10e", "--task", "lab"), "Task lab is for two_link (2 joints), but ur10e has 6. Choose another"),
        (
            ("emulate", "ur5e", "--fault", "silence @ 3"),
            "'silence' needs one number: the duration [s], as in 'silence 0.5 @ 3'.",
        ),
        (("emulate", "ur5e", "--fault", "hang up 3"), "'hang up' takes no number, as in 'hang up @ 3'."),
        (("run", "push", "--robot", "ur:1.2.3.4:5"), "without a port"),
        (("run", "push", "--robot", "ur:127.0.0.1", "--fast"), "--fast simulates; it cannot drive"),
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


@needs("ur_rtde")
@pytest.mark.parametrize("verb", ["run", "studio"])
def test_a_controller_that_does_not_answer_is_told_and_nobody_is_asked(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "guided.yaml"
    file.write_text("robot: ur:127.51.0.1\nlaw: admittance\n")
    monkeypatch.setattr(sys, "argv", ["pliant", verb, str(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert "admittance on ur:127.51.0.1, position commands" in shown.out
    assert "tool speed" in shown.out
    assert "pliant: No UR controller answers at 127.51.0.1" in shown.err
    assert "Start moving?" not in shown.err


def test_it_listens_writes_its_trace_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pliant.cli.main", "emulate", "ur3e", "--host", HERE]
    words += ["--trace", str(tmp_path / "t.npy"), "--fault", "silence 0.1"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first, said = process.stdout.readline(), []
    while "Ctrl-C" not in (line := process.stdout.readline()):
        assert line, "it has ended"
        said.append(line)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Emulated ur3e listening" in first
    assert "Fault: silence 0.1, at once.\n" in said
    assert re.search(r"periods? missed\.", rest)
    assert np.load(tmp_path / "t.npy")["q"].shape[1] == 6


def test_a_version_may_leave_out_what_is_zero() -> None:
    assert version_of("5.12") == (5, 12, 0, 0)
    with pytest.raises(InputError):
        version_of("5")
