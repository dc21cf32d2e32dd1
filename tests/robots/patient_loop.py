"""A loop on an arm over ROS 2 that bears a stall of a minute; a task may specify 5 s at most.

How long an arm may lag behind its command stays as the task specifies. As a program this is that loop:
``python patient_loop.py <board>``.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from pliant.loop import control_loop
from pliant.loop.processes import LOOP
from pliant.robots.ros2_arm.ros2_robot import Ros2Robot
from pliant.session import started_loop

STALE_S = 60.0


def use_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions on an arm over ROS 2 be that patient."""
    spawn = started_loop.spawn

    def patient(module: str, *arguments: str) -> subprocess.Popen[bytes]:
        if module != LOOP:
            return spawn(module, *arguments)
        return subprocess.Popen([sys.executable, __file__, *arguments], stdout=2, start_new_session=True)

    monkeypatch.setattr(started_loop, "spawn", patient)


def make_patient(robot: Ros2Robot) -> None:
    """Let this robot and its guard bear a stall; before it is opened."""
    robot.config = robot.config.model_copy(update={"stale_s": STALE_S})


if __name__ == "__main__":
    build = Ros2Robot.__init__

    def build_patient(robot: Ros2Robot, *given: Any, **named: Any) -> None:
        build(robot, *given, **named)
        make_patient(robot)

    Ros2Robot.__init__ = build_patient  # type: ignore[method-assign]
    sys.exit(control_loop.main(sys.argv[1]))
