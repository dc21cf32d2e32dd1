"""The set-up of .venv: what a goal announces, the times it prints, and what is shown when a step fails."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "environment.py"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A copy of the script, so that .venv is a folder of the test."""
    (tmp_path / "tools").mkdir()
    return Path(shutil.copy(SCRIPT, tmp_path / "tools"))


def run(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)


def test_a_goal_announces_its_steps_and_ends_with_one_line_of_times(script: Path) -> None:
    said = run(script, "announce", "demo").stdout
    assert said.startswith("make demo:\n")
    assert [line.split()[0] for line in said.splitlines()[1:]] == ["install", "compile", "run"]
    assert run(script, "step", "compile", sys.executable, "-c", "print('at work')").stdout == "at work\n"
    assert run(script, "step", "run", sys.executable, "-c", "").returncode == 0
    done = run(script, "summary", "demo")
    assert re.fullmatch(r"make demo: done in \d+ s \(compile \d+ s, run \d+ s\)\.\n", done.stdout)


def test_a_set_up_that_is_there_is_not_announced_again(script: Path) -> None:
    venv = script.parent.parent / ".venv"
    venv.mkdir()
    (venv / ".ready").touch()
    assert "install  already done" in run(script, "announce", "demo").stdout
    assert run(script, "announce", "lint").stdout == ""


def test_a_step_that_fails_fails_the_goal(script: Path) -> None:
    run(script, "announce", "demo")
    assert run(script, "step", "run", sys.executable, "-c", "raise SystemExit(3)").returncode == 3


def test_an_install_that_fails_shows_why_and_where_the_log_is(script: Path) -> None:
    folder = script.parent.parent
    bin_folder = folder / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "pip").touch()
    (bin_folder / "python").write_text("#!/bin/sh\necho 'Could not fetch numba'\nexit 7\n")
    (bin_folder / "python").chmod(0o755)
    shutil.copy(SCRIPT.parent.parent / "pyproject.toml", folder)
    done = run(script, "dev")
    assert done.returncode == 1
    assert "Could not fetch numba" in done.stderr
    assert done.stderr.strip().endswith(f"tools: failed (exit code 7). Full log: {folder / '.venv' / 'tools.log'}")
    assert done.stdout == ""
