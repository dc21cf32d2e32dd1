"""Finding tool and lag through the controller's ports: from where the arm stands, and with what is really there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pliant.experiments.emulated import Emulator
from pliant.experiments.ur_runs import task_file
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.params.control import Parameters, Sense
from pliant.robots.sim.config import SimConfig
from pliant.runtime.delay import Excitation, move_free
from pliant.runtime.identify import take_readings
from pliant.runtime.task import Task
from pliant.sense.payload import identify

BELIEVED = Tool(mass_kg=0.5, com_m=(0.0, 0.0, 0.05), tcp_m=(0.0, 0.0, 0.15))
MOUNTED = Tool(mass_kg=1.2, com_m=(0.02, -0.03, 0.07), tcp_m=(0.0, 0.0, 0.15))
AWAY = Arm.load("ur5e").q_home + np.array([0.4, 0.1, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def elsewhere(ur_rtde: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An arm that does not stand where its model is at home, with another tool than the task believes."""
    cell = Task(tool=MOUNTED, sim=SimConfig(), start_q=tuple(AWAY.tolist()))
    with Emulator(task=task_file(cell, str(tmp_path_factory.mktemp("cell")))) as running:
        yield running


def task_of(ur: Emulator) -> Task:
    patient = Parameters(sense=Sense(stale_s=1.0, hold_s=0.5, frozen_s=10.0))
    return Task(robot=ur.robot, tool=BELIEVED, params=patient)


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))


def test_the_tool_is_weighed_by_turning_the_wrist_alone_from_where_the_arm_stands(elsewhere: Emulator) -> None:
    found = take_readings(task_of(elsewhere), 4, average_s=0.1, reach=0.6)
    assert found.q[:, :3] == pytest.approx(np.tile(AWAY[:3], (4, 1)), abs=0.01)
    assert np.ptp(found.q[:, 3:], axis=0).max() > 0.5
    payload = identify(found.wrenches, found.gravity)
    assert payload.mass_kg == pytest.approx(MOUNTED.mass_kg, rel=0.05)
    assert payload.com_m[2] + BELIEVED.sensor_m[2] == pytest.approx(MOUNTED.com_m[2], abs=0.02)


def test_the_lag_is_looked_for_where_the_arm_stands(elsewhere: Emulator) -> None:
    before = np.array(elsewhere.state["q"])
    moved = move_free(task_of(elsewhere), Excitation(seconds=2.0), fast=False)
    assert np.abs(np.array(elsewhere.state["q"]) - before).max() < 0.01
    assert np.ptp(moved.command) == pytest.approx(0.002, rel=0.2)
    assert np.ptp(moved.position) > 0.0005
    lags = [float(np.corrcoef(moved.command[: -1 - k], moved.position[1 + k :])[0, 1]) for k in range(40)]
    assert lags.index(max(lags)) > 2  # it follows, it does not lead
