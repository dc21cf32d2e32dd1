"""`pliant run` over ROS 2: what is said, what is asked, what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pliant.cli.main import main
from pliant.cli.running import change_task
from pliant.runtime.task import Task, located

RUN = "import sys; from pliant.cli.main import main; sys.argv = ['pliant', *sys.argv[1:]]; main()"
WITHOUT = "import sys; sys.modules['cyclonedds'] = None; "


def pliant(*words: str, code: str = RUN, **how: Any) -> subprocess.CompletedProcess[str]:
    given = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **how}
    return subprocess.run([sys.executable, "-c", code, *words], timeout=300, **given)


def test_what_needs_the_extra_says_how_to_get_it() -> None:
    for words in (("run", "push", "--ros2"), ("run", "push", "--robot", "ros2", "--yes")):
        done = pliant(*words, code=WITHOUT + RUN)
        assert done.returncode == 2
        assert done.stderr == "pliant: ROS 2 needs a package that is not installed: pip install 'pliant[ros2]'.\n"


def test_the_arm_of_a_task_can_be_driven_over_ros() -> None:
    task = change_task(Task(robot="sim:ur10e"), {"robot": "ros2"}, [])
    assert task.robot == "ros2:ur10e"
    assert change_task(Task(robot="ur:10.0.0.7#ur3e"), {"robot": "ros2"}, []).robot == "ros2:ur3e"


def test_the_file_of_an_arm_over_ros_is_found_from_the_folder_of_the_task(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").touch()
    assert located(Task(robot="ros2:arm.urdf#tip"), tmp_path).robot == f"ros2:{tmp_path / 'arm.urdf'}#tip"


def test_a_real_arm_is_not_moved_when_nobody_is_there_to_be_asked() -> None:
    done = pliant("run", "push", "--robot", "ros2:ur5e")
    assert done.returncode == 2
    assert "Nothing has moved: there is nobody to ask. Say --yes if it may." in done.stderr


def test_what_is_simulated_at_full_speed_has_no_bridge() -> None:
    done = pliant("run", "push", "--fast", "--ros2")
    assert done.returncode == 2
    assert done.stderr.startswith("pliant: --ros2 is for a loop in real time")


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


def test_a_run_with_the_bridge_says_who_it_is_and_where_its_command_goes(network: None) -> None:
    done = pliant("run", "push", "--ros2", "--duration", "0.5")
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert "ROS 2: node /pliant in domain" in said
    assert "scaled_joint_trajectory_controller/joint_trajectory: an arm that listens there follows." in said
    assert "services and parameters need rclpy" in said


def test_an_arm_that_does_not_answer_is_a_fault_of_the_robot(network: None, tmp_path: Any) -> None:
    task = tmp_path / "task.yaml"
    task.write_text("robot: ros2:ur5e\nlaw: admittance\nros2: {wait_s: 0.3}\n")
    done = pliant("run", str(task), "--yes", cwd=tmp_path)
    assert done.returncode == 3
    assert "no joint states with shoulder_pan_joint" in done.stderr
    assert done.stderr.count("\n") == 1
