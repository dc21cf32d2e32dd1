"""How a run ends: its exit code, the reason of a fault, the black box, the picture."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pliant.analysis.signals import BAD_READINGS
from support.words import pliant, say

SHORT = "name: short\nrobot: sim:ur5e\nlaw: admittance\nduration_s: 0.3\n"


def test_a_fault_ends_with_code_three_and_names_the_black_box(tmp_path: Path) -> None:
    (tmp_path / "deaf.yaml").write_text(SHORT + "sim: {sensor: {dropout: 1.0}}\n")
    done = pliant("run", "deaf.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "force sensor" in done.stderr
    assert "peak external force" not in done.stdout  # no reading was valid
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
