"""A mission at its own pace whose base was shoved: it looks for its way beside the periods, and hears meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pliant.control.telemetry import TELEMETRY
from pliant.loop import goal_requests
from pliant.mobile.mission import mission_loop
from pliant.mobile.mission.mission_loop import MissionProcess
from pliant.mobile.mission.mission_task import changed_mission, find_mission
from pliant.mobile.mission.stage_machine import Mission
from pliant.mobile.planning.base_poses import ReachPose

SHOVED_M = 0.007
"""More than a way forgives, and less than a locked base may move."""


class Patient(Mission):
    """A mission whose search takes until it is let go."""

    go_on = Event()

    def prepare(self, start: Any) -> ReachPose:
        assert self.go_on.wait(60.0)
        return super().prepare(start)


@pytest.fixture
def process(compiled: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[MissionProcess]:
    """The process of a mission in stage B, in which it looks for a way."""
    task = find_mission("fetch")
    assert task is not None
    task = changed_mission(task, ["start=6.0,2.2,0"])
    board: Any = SimpleNamespace(config={"mission": task.model_dump(mode="json")})
    process = MissionProcess(board)
    Patient.go_on.clear()
    monkeypatch.setattr(mission_loop, "Mission", Patient)
    process.is_moving = True
    periods(process, 100)
    process.robot.world.data.qpos[0] += SHOVED_M
    while process.stage == "A":
        periods(process, 1)
    yield process
    Patient.go_on.set()
    process._searcher.shutdown()


def periods(process: MissionProcess, n: int) -> np.ndarray[Any, Any]:
    records = TELEMETRY.new(n)
    for k in range(n):
        process.loop.period(records[k : k + 1])
    return records


def test_no_period_waits_for_the_search_and_the_base_stands_until_it_has_its_way(process: MissionProcess) -> None:
    assert process.mission.drive.seeks
    records = periods(process, 500)
    assert (process.stage, process.mission.drive.seeks) == ("B", True)
    np.testing.assert_array_equal(records["base"]["command"], 0.0)
    Patient.go_on.set()
    while process.mission.drive.seeks:
        periods(process, 1)
    reach_pose = process.mission.drive.reach_pose
    assert reach_pose is not None
    np.testing.assert_allclose(reach_pose.plan.path.start, process.robot.base_pose(), atol=1e-3)
    assert np.abs(periods(process, 500)["base"]["command"]).max() > 0.1


def test_a_halt_is_heard_while_it_looks_for_its_way(process: MissionProcess) -> None:
    process._carry_out(SimpleNamespace(code=goal_requests.HALT, number=0))
    periods(process, 1)
    assert process.stage == "stopping"
    assert "a stop was requested" in process.mission.log[-1].reason
