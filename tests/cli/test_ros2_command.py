"""`pliant run` over ROS 2: what is said, what is asked, what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pliant.analysis.mission_figures import recorded_mission
from pliant.cli.main import main
from pliant.cli.running.run_task import change_task
from pliant.record import Recording
from pliant.ros2.message_types import JOINT_TRAJECTORY, STRING, TWIST
from pliant.ros2.node import Node, Reader
from pliant.task.schema import Task, located
from support.waiting import until
from support.words import say

RUN = "import sys; from pliant.cli.main import main; sys.argv = ['pliant', *sys.argv[1:]]; main()"
TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"
PATIENTLY = "from pliant.bridge import command_followers; command_followers._FIND_S = 10.0; "
"""Who listens is found also on a machine that is busy."""
WITHOUT = "import sys; sys.modules['cyclonedds'] = None; "


def pliant(*words: str, code: str = RUN, **how: Any) -> subprocess.CompletedProcess[str]:
    given = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **how}
    return subprocess.run([sys.executable, "-c", code, *words], timeout=900, **given)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "push", "--ros2"),
        pytest.param(("run", "push", "--robot", "ros2", "--yes"), marks=pytest.mark.slow),
        pytest.param(("experiment", "ros2"), marks=pytest.mark.slow),
    ],
)
def test_what_needs_the_extra_says_how_to_get_it(words: tuple[str, ...]) -> None:
    done = pliant(*words, code=WITHOUT + RUN)
    assert done.returncode == 2
    assert done.stderr == "pliant: ROS 2 needs the package cyclonedds: pip install -e '.[ros2]' in Pliant's folder.\n"


def test_the_arm_of_a_task_can_be_driven_over_ros() -> None:
    task = change_task(Task(robot="sim:ur10e"), {"robot": "ros2"}, [])
    assert task.robot == "ros2:ur10e"
    assert change_task(Task(robot="ur:10.0.0.7#ur3e"), {"robot": "ros2"}, []).robot == "ros2:ur3e"


def test_the_file_of_an_arm_over_ros_is_found_from_the_folder_of_the_task(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").touch()
    assert located(Task(robot="ros2:arm.urdf#tip"), tmp_path).robot == f"ros2:{tmp_path / 'arm.urdf'}#tip"


def test_what_is_simulated_at_full_speed_has_no_bridge() -> None:
    done = say("run", "push", "--fast", "--ros2")
    assert done.returncode == 2
    assert done.stderr.startswith("pliant: --ros2 needs a real-time run")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ROS_DOMAIN_ID", "house", "ROS_DOMAIN_ID is 'house', but it must be a whole number from 0 to 232"),
        ("ROS_DOMAIN_ID", "-1", "ROS_DOMAIN_ID is '-1'"),
        ("ROS_DOMAIN_ID", "233", "ROS_DOMAIN_ID is '233'"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "MOON", "one of SUBNET, LOCALHOST, OFF, SYSTEM_DEFAULT"),
    ],
)
def test_a_setting_that_cannot_be_understood_is_refused_before_a_loop_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["pliant", "run", "push", "--ros2"])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_run_with_the_bridge_says_who_it_is_and_where_its_command_would_go(network: None) -> None:
    done = pliant("run", "push", "--ros2", "--duration", "0.5")
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    order = [
        said.index(words) for words in ("Loop ", "Real-time scheduling: ", "ROS 2: node /pliant in domain", "0.5 s, ")
    ]
    assert order == sorted(order)
    assert f"Commands on {TRAJECTORY} are withheld: subscribers would follow them." in said
    assert "services and parameters need rclpy" in " ".join(done.stderr.split())
    assert "Start moving?" not in done.stderr


def held_back(state: Reader) -> bool:
    return any(f"withheld: {TRAJECTORY}" in message.data for message in state.messages())


@pytest.mark.slow
@pytest.mark.parametrize("yes", [True, False])
def test_an_arm_that_listens_follows_only_if_it_may(network: None, tmp_path: Path, *, yes: bool) -> None:
    withheld, printed = f"Commands are withheld: a subscriber on {TRAJECTORY}", tmp_path / "printed"
    with Node("arm") as node, printed.open("wb") as out:
        arm, state = node.reader(TRAJECTORY, JOINT_TRAJECTORY), node.reader("/pliant/state", STRING, latched=True)
        node.announce()
        words = [
            sys.executable,
            "-c",
            RUN if yes else PATIENTLY + RUN,
            "run",
            "push",
            "--ros2",
            "--duration",
            "600",
            *(["--yes"] if yes else []),
        ]
        run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            until(lambda: arm.messages() if yes else held_back(state), 600.0)  # its processes have to start first
            until(lambda: yes or withheld in " ".join(printed.read_text().split()))  # the run hears of it later
            assert yes or not arm.messages()
        finally:
            run.send_signal(signal.SIGINT)
            run.wait()
        said = " ".join(printed.read_text().split())
        assert run.returncode == 0, said
    assert (f"Commands are published on {TRAJECTORY}. Any arm or base that subscribes follows them." in said) == yes
    asked = f"Subscribers on {TRAJECTORY} would move with this robot."
    jumps = "An arm moves to the first position at once, from wherever it is. Workspace clear? Start moving? [y/N]"
    assert (f"{asked} {jumps}" in said) == (not yes)
    assert (withheld in said) == (not yes)


@pytest.mark.slow
def test_a_mission_runs_in_real_time_beside_the_bridge(network: None, tmp_path: Path) -> None:
    done = pliant("run", "fetch", "--fast", "--ros2")
    assert (done.returncode, done.stderr[:36]) == (2, "pliant: --ros2 needs a real-time run")
    place = ["--set", "start=6.0,2.2,0", "--record", str(tmp_path / "live.mcap")]
    with Node("base") as node:
        base = node.reader("/cmd_vel", TWIST, depth=1)
        node.announce()
        done = pliant("run", "fetch", "--ros2", "--yes", *place, cwd=tmp_path)
        said = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == 0, done.stderr
        until(lambda: any((last.linear.x, last.angular.z) == (0, 0) for last in base.messages()))
    assert f"Commands are published on {TRAJECTORY} and /cmd_vel" in said
    assert "B: the base drives" in said
    assert recorded_mission(Recording.load(tmp_path / "live.mcap")).log[-1].stage == "done"


def test_nobody_there_is_waited_for_in_words_and_ends_as_bad_input(network: None, tmp_path: Path) -> None:
    task = tmp_path / "task.yaml"
    task.write_text("robot: ros2:ur5e\nlaw: admittance\nros2: {wait_s: 0.3}\n")
    done = pliant("run", str(task), cwd=tmp_path, env={**os.environ, "ROS_DOMAIN_ID": "7", "COLUMNS": "400"})
    assert done.returncode == 2
    waits, says = done.stderr.splitlines()
    assert waits.startswith("Waiting up to 0.3 s (ros2.wait_s) for an arm in ROS 2 domain 7 (ROS_DOMAIN_ID)")
    for topic in ("/joint_states", "/ft_sensor_readings", TRAJECTORY):
        assert topic in waits
    assert says.startswith("pliant: No arm answers over ROS 2: no joint states with shoulder_pan_joint")
    assert "within 0.3 s (ros2.wait_s) in domain 7 (ROS_DOMAIN_ID)" in says
