"""`pliant run` of a mission, as a user meets it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.compiling.ahead import ensure
from support.words import say

LINE = [sys.executable, "-u", "-m", "pliant.cli.main"]
NEAR = ("--set", "start=6.0,2.2,0")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Everything is in the cache, so that nothing is said about compiling."""
    ensure("loop", "body", "planner")


def pliant(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LINE, *map(str, words)], capture_output=True, text=True, timeout=900, cwd=cwd)


@pytest.mark.slow
def test_a_mission_tells_its_stages_and_leaves_a_picture_an_animation_and_a_recording(tmp_path: Path) -> None:
    done = pliant("run", "tasks/fetch.yaml", *NEAR, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for word in ("A: the arm", "B: the base", "C: base", "done", "tool: position error", "path: planned"):
        assert word in done.stdout
    assert (tmp_path / "out" / "fetch.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "fetch.gif").stat().st_size < 2_000_000
    assert (tmp_path / "out" / "fetch.mcap").exists()
    plotted = pliant("plot", "out/fetch.mcap", "-o", "again.png", cwd=tmp_path)
    assert plotted.returncode == 0, plotted.stderr
    assert (tmp_path / "again.png").exists()


@pytest.mark.slow
def test_a_mission_that_is_stopped_ends_with_code_3_and_its_reason(tmp_path: Path) -> None:
    done = pliant("run", "fetch", *NEAR, "--set", "travel.limit_s=1", "--set", "travel.limit_s_m=0", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1].startswith("pliant: The mission did not reach its goal: stage B")
    assert "stopped" in done.stdout
    assert (tmp_path / "out" / "fetch.mcap").exists()


@pytest.mark.slow
def test_ctrl_c_brings_the_robot_to_rest_and_ends_normally(tmp_path: Path) -> None:
    line, env = [*LINE, "run", "fetch"], {**os.environ, "COLUMNS": "200"}
    pipe = subprocess.PIPE
    with subprocess.Popen(line, cwd=tmp_path, env=env, text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("fetch (simulated): ")
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert "stop was requested" in said
    assert "base and arm have stopped" in said
    assert "Stopped by Ctrl-C" in said
    assert not (tmp_path / "out" / "fetch.png").exists()


BAD = {
    "a start in a wall": (("run", "fetch", "--set", "start=4.95,1,0"), "start"),
    "no such map": (("run", "fetch", "--set", "map=rome.yaml"), "rome.yaml"),
    "an option of a task": (("run", "fetch", "--watch"), "--watch"),
    "another verb": (("check", "fetch"), "mission"),
    "a parameter of an arm's law": (
        ("run", "fetch", "--set", "admittance.stiffness=400"),
        "fetch is a mission and has no admittance parameters.",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    words, named = BAD[case]
    done = say(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pliant: ")
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.rglob("*.*"))
