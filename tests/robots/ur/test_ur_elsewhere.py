"""An arm that stands elsewhere, through the controller's ports: its tool is weighed, its lag found; it gives way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pliant.control.parameters import Parameters, Sense
from pliant.identify import delay_motion
from pliant.identify.delay_motion import Excitation, move_free
from pliant.identify.payload_fit import identify
from pliant.identify.payload_motion import take_readings
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant.world.world_config import SimConfig
from pliant_experiments.robots.emulator_process import Emulator
from pliant_experiments.robots.ur_runs import task_file
from support.waiting import until

BELIEVED = Tool(mass_kg=0.5, com_m=(0.0, 0.0, 0.05), tcp_m=(0.0, 0.0, 0.15))
MOUNTED = Tool(mass_kg=1.2, com_m=(0.02, -0.03, 0.07), tcp_m=(0.0, 0.0, 0.15))
PATIENT = Parameters(sense=Sense(stale_s=1.0, hold_s=0.5, frozen_s=10.0, deadband_n=0.0, deadband_nm=0.0))
AWAY = Arm.load("ur5e").q_home + np.array([0.4, 0.1, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def elsewhere(ur_rtde: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An arm that does not stand where its model is at home, with another tool than the task believes."""
    cell = Task(tool=MOUNTED, sim=SimConfig(), start_q=tuple(AWAY.tolist()))
    file = task_file(cell, str(tmp_path_factory.mktemp("cell")))
    with Emulator(task=file, fault="watchdog slow 60") as running:  # a busy machine may hold a loop up
        yield running


def stamps_of(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """When each reading was made, on the controller's clock [s]; it never goes back."""
    return np.maximum.accumulate(records["reading"]["stamp_s"])


def task_of(ur: Emulator) -> Task:
    return Task(robot=ur.robot, tool=BELIEVED, params=PATIENT)


@pytest.mark.slow
def test_the_tool_is_weighed_by_turning_the_wrist_alone_from_where_the_arm_stands(elsewhere: Emulator) -> None:
    found = take_readings(task_of(elsewhere), 4, average_s=0.1, reach=0.6)
    assert found.q[:, :3] == pytest.approx(np.tile(AWAY[:3], (4, 1)), abs=0.01)
    assert np.ptp(found.q[:, 3:], axis=0).max() > 0.5
    payload = identify(found.wrenches, found.gravity)
    assert payload.mass_kg == pytest.approx(MOUNTED.mass_kg, rel=0.05)
    assert payload.com_m[2] + BELIEVED.sensor_m[2] == pytest.approx(MOUNTED.com_m[2], abs=0.02)


@pytest.mark.slow
def test_the_lag_is_looked_for_where_the_arm_stands(elsewhere: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    before, stamps = np.array(elsewhere.state["q"]), []
    along = delay_motion._along

    def keep(records: Any, *how: Any) -> Any:
        stamps.append(stamps_of(records))
        return along(records, *how)

    monkeypatch.setattr(delay_motion, "_along", keep)
    moved = move_free(task_of(elsewhere), Excitation(seconds=2.0), fast=False)
    assert np.abs(np.array(elsewhere.state["q"]) - before).max() < 0.01
    assert np.ptp(moved.command) == pytest.approx(0.002, rel=0.2)
    assert np.ptp(moved.position) > 0.0005
    # by the controller's own time: a busy machine lets the loop miss periods, and a tick is longer then
    time_s = np.arange(stamps[0][0], stamps[0][-1], 0.002)
    command, position = (np.interp(time_s, stamps[0], values) for values in (moved.command, moved.position))
    lags = [float(np.corrcoef(command[: -1 - k], position[1 + k :])[0, 1]) for k in range(40)]
    assert lags.index(max(lags)) > 2  # it follows, it does not lead


@pytest.mark.slow
def test_an_impedance_by_direct_torque_gives_way_by_force_over_stiffness_and_comes_back(elsewhere: Emulator) -> None:
    task = Task(robot=elsewhere.robot, law="impedance", interface="torque", tool=MOUNTED, params=PATIENT)
    far = 8.0 / PATIENT.impedance.stiffness[1][1]
    with Session(task) as session:
        before = session.pose

        def keeps(place: list[float]) -> bool:
            """Whether the tool is there for half a second."""
            session.read()
            session.wait(0.5)
            off = session.read()["observed"]["pose"][:, :3] - before[:3] - place
            return bool(np.abs(off).max() < 0.2 * far)

        elsewhere.inject("push 0 8 0 0 0 0 600")
        until(lambda: keeps([0.0, far, 0.0]))
        elsewhere.inject("push 0 0 0 0 0 0 0")
        until(lambda: np.abs(session.pose - before)[:3].max() < 0.1 * far)
        session.stop()
