"""Robots from outside the package: from a file that a task names, or from an installed package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pliant
from pliant.cli.running.run_task import change_task
from pliant.errors import PliantError, RejectedError, UnknownNameError
from pliant.params.declare import validated
from pliant.robots import is_simulated, open_robot
from pliant.robots.robot_registry import KINDS, PLIANT_KINDS, kind_of
from pliant.task.schema import arm_model, arm_of, located

DRIVER = """
import time
from pathlib import Path
import pliant

LOG = Path(__file__).with_suffix(".log")

def note(word):
    with LOG.open("a") as file:
        print(word, file=file)

class Mine(pliant.Robot):
    interfaces = ("position",)

    def __init__(self, which, task):
        self.name, self.arm = f"mine:{which}", pliant.Arm.load("ur10e", task.tool)
        self.q, self.reads = self.arm.q_home, 0

    def open(self):
        note("open")

    def read(self, reading):
        self.reads += 1
        if FAILS == "read" and self.reads == 150:
            raise ConnectionResetError("the cable is out")
        r = reading[0]
        r.stamp_s = r.wrench_stamp_s = time.monotonic()
        r.q[:6], r.wrench[0] = self.q, 0.01 * (self.reads % 7)

    def write(self, command):
        if FAILS == "write" and self.reads == 150:
            raise OSError("the cable is out")
        self.q = command[0].q[:6].copy()

    def stop(self):
        note("stop")

    def close(self):
        note("close")

class Kind(pliant.RobotKind):
    name, help, moves_hardware = "mine", "my robot: mine:<which>", False

    def model(self, which):
        return "ur10e"

    def make(self, which, task):
        return Mine(which, task)

ROBOT = Kind()
note("loaded")
"""


@pytest.fixture(autouse=True)
def only_pliants_kinds() -> Iterator[None]:
    yield
    for name in [name for name in KINDS if name not in PLIANT_KINDS]:
        del KINDS[name]


def forget() -> None:
    """As in a process that has loaded no driver."""
    for name in [name for name in sys.modules if name.startswith("pliant_robot_")]:
        del sys.modules[name]
    for name in [name for name in KINDS if name not in PLIANT_KINDS]:
        del KINDS[name]


def driver(folder: Path, fails: str = "", text: str = DRIVER, name: str = "my_driver") -> Path:
    path = folder / f"{name}.py"
    path.write_text(f"FAILS = {fails!r}\n{text}")
    return path


def log(path: Path) -> list[str]:
    return path.with_suffix(".log").read_text().split()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, value: str = "my_package:ROBOT") -> None:
    """Install a package with an entry point, as pip would."""
    driver(folder, name="my_package")
    facts = folder / "my_package-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[pliant.robots]\nmine = {value}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "my_package", raising=False)


# ---- a file --------------------------------------------------------------------------------------------------------


def test_a_task_file_names_a_driver_beside_it_and_its_digest_is_recorded(tmp_path: Path) -> None:
    path = driver(tmp_path)
    (tmp_path / "mine.yaml").write_text("robot: my_driver.py:HOST\nduration_s: 1\n")
    task = pliant.load_task(tmp_path / "mine.yaml")
    assert task.robot == f"{path}:HOST"
    assert task.own_robot.file == str(path)
    assert len(task.own_robot.digest) == 64
    assert arm_of(task).name == task.own_robot.model == "ur10e"
    robot = open_robot(task.robot, task)
    assert robot.name == "mine:HOST"
    assert not is_simulated(task.robot)


def test_the_command_line_names_a_driver_and_another_robot_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(tmp_path)
    monkeypatch.chdir(tmp_path)
    task = change_task(pliant.load_task("push"), {"robot": "my_driver.py:HOST"}, [])
    assert task.robot == f"{tmp_path / 'my_driver.py'}:HOST"
    assert change_task(task, {"robot": "sim"}, []).robot == "sim:ur10e"
    assert change_task(task, {"robot": "sim:ur5e"}, []).own_robot == pliant.Task().own_robot


def test_a_driver_that_changes_before_the_loop_opens_it_is_rejected(tmp_path: Path) -> None:
    path = driver(tmp_path)
    task = pliant.Task(robot=f"{path}:HOST")
    path.write_text(path.read_text() + "\n# changed\n")
    with pytest.raises(RejectedError, match=r"my_driver\.py has changed since the run began"):
        open_robot(task.robot, task)


def test_a_recording_never_loads_a_driver_and_still_knows_its_arm(tmp_path: Path) -> None:
    path = driver(tmp_path)
    recorded = pliant.Task(robot=f"{path}:HOST").model_dump(mode="json")
    assert log(path) == ["loaded"]
    forget()
    task = validated(pliant.Task, recorded)
    assert arm_model(task) == "ur10e"
    assert arm_of(located(task)).n == 6
    assert not is_simulated(task.robot)
    assert log(path) == ["loaded"]
    path.unlink()
    assert arm_of(validated(pliant.Task, recorded)).name == "ur10e"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ROBOT = 3\n", r"my_driver\.py defines no robot\. Set ROBOT to an instance"),
        ("\n\n1 / 0\n", r"my_driver\.py:4: the driver cannot be loaded: ZeroDivisionError"),
        (
            DRIVER.replace('return "ur10e"', "raise KeyError(which)"),
            r"he driver of .*my_driver\.py:HOST raised Key",
        ),
    ],
)
def test_a_file_without_a_usable_driver_is_rejected_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        validated(pliant.Task, {"robot": f"{driver(tmp_path, text=text)}:HOST"})


def test_a_missing_file_is_rejected_with_what_there_is() -> None:
    with pytest.raises(pliant.InputError, match=r"robot is 'no_driver\.py:HOST'.*does not exist.*sim, ur, ros2"):
        validated(pliant.Task, {"robot": "no_driver.py:HOST"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("self.name, self.arm = ", "has no name, arm"),
        ("class Mine(pliant.Robot):", "is not a pliant.Robot"),
    ],
)
def test_an_incomplete_driver_is_rejected_before_it_is_opened(tmp_path: Path, line: str, message: str) -> None:
    other = {"self.name, self.arm = ": "self.left, self.arms = ", "class Mine(pliant.Robot):": "class Mine:"}[line]
    text = DRIVER.replace(line, other).replace("self.q, self.reads = self.arm.q_home, 0", "")
    task = pliant.Task(robot=f"{driver(tmp_path, text=text)}:HOST")
    with pytest.raises(RejectedError, match=f"is incomplete: its robot {message}"):
        open_robot(task.robot, task)


def test_an_interface_that_a_driver_lacks_is_rejected(tmp_path: Path) -> None:
    task = pliant.Task(robot=f"{driver(tmp_path)}:HOST", interface="velocity")
    with pytest.raises(pliant.InputError, match="supports: position"):
        open_robot(task.robot, task)


# ---- a package -----------------------------------------------------------------------------------------------------


def test_a_kind_from_a_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    task = pliant.Task(robot="mine:HOST")
    assert task.own_robot.file == ""
    assert open_robot(task.robot, task).name == "mine:HOST"
    assert kind_of("mine:HOST")[0].help == "my robot: mine:<which>"


def test_a_recording_knows_its_arm_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as during:
        install(tmp_path, during)
        recorded = pliant.Task(robot="mine:HOST").model_dump(mode="json")
    forget()
    assert arm_of(validated(pliant.Task, recorded)).name == "ur10e"


def test_an_unknown_kind_lists_packages_and_how_to_give_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    with pytest.raises(UnknownNameError, match=r"Known: mine, ros2, sim, ur\. .*is a file: my_driver\.py:HOST"):
        kind_of("kuka:1.2.3.4")


def test_a_package_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "my_package:NOTHING")
    with pytest.raises(RejectedError, match=r"mine cannot be loaded from my_package:NOTHING: AttributeError"):
        kind_of("mine:HOST")


def test_the_packages_of_a_kind_are_not_imported_before_it_is_used() -> None:
    code = "import sys, pliant.robots; print(sorted({'rtde_control', 'cyclonedds', 'rosbags'} & sys.modules.keys()))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


# ---- the loop ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", ["read", "write"])
def test_a_driver_that_raises_ends_the_loop_with_its_name_and_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    path = driver(tmp_path, fails)
    arm: Any = pliant.connect(f"{path}:HOST").start()
    with pytest.raises(
        pliant.LoopError,
        match=rf"the driver of mine:HOST raised \w+: the cable is out in {fails} \(my_driver\.py:\d+\)",
    ):
        arm.wait(600)
    assert log(path)[-3:] == ["open", "stop", "close"]
