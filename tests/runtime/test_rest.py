"""Before the first motion of a real arm: a force that tool and offset do not explain is refused, and nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.errors import RejectedError
from pliant.loop import resting_check
from pliant.loop.resting_check import check_rest, limit_of
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, READING
from pliant.robots.simulated import SimRobot
from pliant.task.schema import Event, Task, load_task
from pliant.world.world_config import Failure, Sensor, SimConfig

TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
REAL = "ur:127.49.0.1"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there stays: nothing has to settle."""
    monkeypatch.setattr(resting_check, "SETTLE_S", 0.0)
    monkeypatch.setattr(resting_check, "BEFORE_S", 0.02)


def look(mounted: Tool, push: Any = None, sensor: Sensor | None = None, **fields: Any) -> None:
    """Judge a task whose robot is not simulated by an arm that has this tool, and is pushed like this."""
    task = Task(**{"robot": REAL, "law": "admittance", "tool": TOOL, **fields})
    robot = SimRobot("ur5e", mounted, SimConfig(sensor=sensor or Sensor()), task.dt)
    if push is not None:
        robot.push(np.array(push, float), 60.0)
        for _ in range(20):
            robot.write(COMMAND.new())
    check_rest(task, robot, Arm.load("ur5e", task.tool), READING.new())


def test_a_tool_that_is_not_mounted_is_refused_with_what_was_read_and_what_the_task_expects() -> None:
    said = (
        r"reads 0\.\d N at rest\. With the declared tool \(0\.8 kg\) and sense\.bias it should read 7\.8 N\. "
        r"They differ by 7\.\d N \(as vectors\)"
    )
    with pytest.raises(RejectedError, match=said) as refused:
        look(Tool())
    assert "admittance starts only below 2 N" in str(refused.value)
    _, *remedies = str(refused.value).split("\n- ")
    for remedy in ("Take hands and objects off", "pliant identify payload", "pliant tare", "raise sense.deadband_n"):
        assert sum(remedy in line for line in remedies) == 1


def test_a_hand_on_the_tool_is_refused_too() -> None:
    with pytest.raises(RejectedError, match=r"They differ by (9|10)\.\d N"):
        look(TOOL, push=[0, 10, 0, 0, 0, 0])


def test_a_centre_of_mass_elsewhere_is_refused_for_its_moment() -> None:
    said = r"They differ by 0\.[34]\d N m \(as vectors\); admittance starts only below 0\.3 N m"
    with pytest.raises(RejectedError, match=said) as refused:
        look(Tool(mass_kg=0.8, com_m=(0.05, 0.0, 0.06), tcp_m=TOOL.tcp_m))
    assert "raise sense.deadband_nm" in str(refused.value)


def test_a_sensor_that_sends_no_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting_check, "LONGEST_S", 0.05)
    with pytest.raises(RejectedError, match="gave fewer than 5 usable readings within"):
        look(TOOL, sensor=Sensor(failures=(Failure(kind="missing", at_s=0.0),)))


def test_the_tasks_own_tool_an_offset_that_was_tared_and_a_force_that_may_be_there_are_not_refused() -> None:
    look(TOOL)
    weight = Arm.load("ur5e", TOOL).tool_weight(Arm.load("ur5e").q_home)
    look(TOOL, tool=Tool(), params={"sense": {"bias": weight.tolist()}})
    look(TOOL, tool=Tool(), params={"sense": {"deadband_n": 8.0, "deadband_nm": 0.5}})


def test_who_does_not_feel_and_who_is_simulated_is_not_judged() -> None:
    look(Tool(), law="hold")
    look(Tool(), law="impedance", interface="torque", params={"impedance": {"form": "simple"}})
    look(Tool(), robot="sim:ur5e")


def test_the_strictest_law_of_the_script_counts_and_a_contact_only_if_the_script_starts_it() -> None:
    limit = limit_of(Task(events=(Event(at_s=1, law="admittance"),)))
    assert limit == ("admittance", 2.0, pytest.approx(0.3), "sense.deadband_n")
    dome = load_task("dome")
    assert limit_of(dome) == ("contact", dome.params.contact.preload_n, math.inf, "contact.preload_n")
    assert limit_of(dome.model_copy(update={"events": ()})) is None
