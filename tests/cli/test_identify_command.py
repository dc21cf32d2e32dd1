"""`pliant identify payload` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pliant.task.schema import load_task
from support.words import Said, say

MINE = """\
# My gripper.
robot: sim:ur5e
law: admittance
tool: {tcp_m: [0, 0, 0.15]}   # nobody has weighed it
params:
  sense: {cutoff_hz: 25}  # quiet
sim:
  tool: {mass_kg: 1.2, com_m: [0.02, -0.03, 0.07], tcp_m: [0, 0, 0.15]}
  sensor: {bias: [4, -6, 9, 0.3, -0.2, 0.1]}
  pushes: [{at_s: 0.5, for_s: 9, wrench: [20, 0, 0, 0, 0, 0]}]
"""


def identify(*words: object, cwd: Path) -> Said:
    return say("identify", *words, cwd=cwd)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    return path


def test_it_writes_mass_centre_and_bias_into_the_task_and_keeps_the_comments(mine: Path) -> None:
    done = identify("payload", "mine.yaml", "--fast", "--write", cwd=mine.parent)
    assert done.returncode == 0, done.stderr
    assert "condition number" in done.stdout
    assert "Written to mine.yaml: tool.mass_kg, tool.com_m, params.sense.bias" in " ".join(done.stdout.split())
    task = load_task(mine)
    assert task.tool.mass_kg == pytest.approx(1.2, rel=0.01)
    assert task.tool.com_m == pytest.approx((0.02, -0.03, 0.07), abs=2e-3)
    assert task.params.sense.bias == pytest.approx((4, -6, 9, 0.3, -0.2, 0.1), abs=0.05)
    text = mine.read_text()
    assert text.startswith("# My gripper.\nrobot: sim:ur5e\n")
    assert "# nobody has weighed it\n" in text
    assert "]}  # quiet\n" in text
    assert text.endswith(MINE[MINE.index("sim:\n") :])


def test_without_write_the_file_stays_as_it_is(mine: Path) -> None:
    done = identify("payload", "mine.yaml", "--fast", "--poses", "6", cwd=mine.parent)
    assert done.returncode == 0, done.stderr
    assert mine.read_text() == MINE


ROS = "controller:\n  ros__parameters:\n    admittance: {mass: [5, 5, 5, 1, 1, 1]}\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("payload", "push", "--write"), "'push' comes with Pliant and cannot be changed. Copy /"),
        (("payload", "ros.yaml", "--write"), "ROS 2 parameter file"),
        (("payload", "missing.yaml"), "an existing YAML file"),
        (("payload", "mine.yaml", "--poses", "3"), "--poses is 3, but it must be 4 to 60."),
        (("friction", "mine.yaml"), "friction"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(words: tuple[str, ...], why: str, mine: Path) -> None:
    (mine.parent / "ros.yaml").write_text(ROS)
    done = identify(*words, cwd=mine.parent)
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.strip()]) == 1
    assert mine.read_text() == MINE


PROBE = """\
# A probe.
robot: sim:ur5e
law: contact
tool: {mass_kg: 0.8, com_m: [0, 0, 0.06], tcp_m: [0, 0, 0.15]}
params:
  sense: {cutoff_hz: 11.4}
  contact: {lag_s: 0.09}   # a guess
sim:
  surfaces: [{position_m: [0.4919, 0.1333, 0.3349]}]
"""


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    path = tmp_path / "probe.yaml"
    path.write_text(PROBE)
    return path


def test_the_lag_is_found_and_written_where_check_and_law_take_it_from(probe: Path) -> None:
    done = identify("delay", "probe.yaml", "--contact", "--duration", "3", "--fast", "--write", cwd=probe.parent)
    assert done.returncode == 0, done.stderr
    assert "command to motion" in done.stdout
    assert "motion to force" in done.stdout
    task = load_task(probe)
    assert task.params.contact.lag_s == pytest.approx(0.05, abs=0.002)
    assert task.response.delay_s + task.response.servo_s == pytest.approx(0.034, abs=0.001)
    assert "# a guess\n" in probe.read_text()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("delay", "probe.yaml", "--poses", "6"), "--poses does not apply to identify delay"),
        (("payload", "probe.yaml", "--contact"), "--contact does not apply to identify payload"),
        (("delay", "probe.yaml", "--amplitude", "50"), "--amplitude is 50 mm, but it must be 0.1 to 20 mm."),
        (
            ("delay", "probe.yaml", "--joint", "9", "--fast"),
            "--joint is 9, but it must be 1 to 6. Leave it out to move",
        ),
        (("delay", "push", "--contact", "--fast"), "--contact needs a surface, but task push declares none."),
        (("payload", "push", "--fast", "--robot", "ur:127.0.0.1"), "--fast simulates; it cannot drive ur:127.0.0.1."),
        (("delay", "dome", "--write"), "'dome' comes with Pliant and cannot be changed. Copy /"),
    ],
)
def test_a_lag_that_is_asked_for_wrongly_is_one_sentence(words: tuple[str, ...], why: str, probe: Path) -> None:
    done = identify(*words, cwd=probe.parent)
    assert done.returncode == 2
    assert why in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.strip()]) == 1
    assert probe.read_text() == PROBE
