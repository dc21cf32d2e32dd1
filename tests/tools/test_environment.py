"""The set-up of .venv: what a goal announces, the times it prints, and what is shown when a step fails."""

from __future__ import annotations

import os
import re
import runpy
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
    assert re.match(r"make demo \(about \d+ minutes? in a fresh clone\):\n", said)
    assert [line.split()[0] for line in said.splitlines()[1:]] == ["install", "compile", "run"]
    assert run(script, "step", "compile", sys.executable, "-c", "print('at work')").stdout == "at work\n"
    assert run(script, "step", "run", sys.executable, "-c", "").returncode == 0
    done = run(script, "summary", "demo")
    assert re.fullmatch(r"make demo: done in \d+ s \(compile \d+ s, run \d+ s\)\.\n", done.stdout)


def test_the_readme_states_the_declared_durations() -> None:
    declared = runpy.run_path(str(SCRIPT))["IN_ALL"]
    readme = (SCRIPT.parents[1] / "README.md").read_text()
    assert dict(re.findall(r"^make ([a-z-]+) +# (about \d+ minutes?):", readme, re.MULTILINE)) == declared


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


def test_a_library_without_a_wheel_is_named_and_the_set_up_goes_on(script: Path) -> None:
    folder = script.parent.parent
    bin_folder = folder / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "pip").touch()
    (bin_folder / "python").write_text('#!/bin/sh\ncase "$*" in *ompl*) exit 1 ;; esac\n')
    (bin_folder / "python").chmod(0o755)
    shutil.copy(SCRIPT.parent.parent / "pyproject.toml", folder)
    done = run(script, "dev")
    assert done.returncode == 0
    assert "Could not be installed: ompl. The tests that compare with them are skipped." in done.stdout


def test_without_a_usable_cache_folder_compiled_code_is_kept_in_the_clone(tmp_path: Path) -> None:
    makefile = tmp_path / "Makefile"
    shutil.copy(SCRIPT.parent.parent / "Makefile", makefile)
    with makefile.open("a") as file:
        file.write("\nshow-cache:\n\t@echo cache=$$PLIANT_CACHE\n")
    (tmp_path / "file").touch()

    def shown(cache_home: Path, **more: str) -> str:
        env = {**os.environ, "XDG_CACHE_HOME": str(cache_home), **more}
        if not more:
            env.pop("PLIANT_CACHE", None)
        words = ["make", "-s", "-C", str(tmp_path), "show-cache"]
        return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.strip()

    assert shown(tmp_path / "file") == f"cache={tmp_path}/.venv/kernels"
    assert shown(tmp_path / "home") == "cache="
    assert shown(tmp_path / "file", PLIANT_CACHE="/elsewhere") == "cache=/elsewhere"
