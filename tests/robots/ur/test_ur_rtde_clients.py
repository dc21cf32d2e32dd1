"""The unmodified clients of ur_rtde take the emulator for a controller."""

from __future__ import annotations

import pytest

from pliant_experiments.robots.emulator_process import Emulator
from support.waiting import until


def test_the_dashboard_client_gets_its_answers(ur: Emulator) -> None:
    from dashboard_client import DashboardClient

    board = DashboardClient(ur.host)
    board.connect(10000)
    assert board.isConnected()
    assert board.polyscopeVersion() == "5.26.0.0"
    assert board.isInRemoteControl()
    assert "RUNNING" in board.robotmode()
    assert board.getRobotModel() == "UR5"
    board.disconnect()


def test_the_receive_client_sees_the_arm_and_the_io_client_gets_through(ur: Emulator) -> None:
    from rtde_io import RTDEIOInterface
    from rtde_receive import RTDEReceiveInterface

    receive = RTDEReceiveInterface(ur.host)
    assert receive.isConnected()
    until(lambda: receive.getActualQ() == pytest.approx(ur.state["q"], abs=1e-3))
    assert receive.getRobotMode() == 7
    assert receive.getSafetyMode() == 1
    assert len(receive.getActualTCPPose()) == 6
    assert receive.getTargetSpeedFraction() == 1.0
    assert RTDEIOInterface(ur.host).setSpeedSlider(0.5)
    until(lambda: receive.getTargetSpeedFraction() == 0.5)
    receive.disconnect()


def test_the_control_client_commands_the_arm_and_the_watchdog_ends_its_program(ur: Emulator) -> None:
    from rtde_control import RTDEControlInterface

    control = RTDEControlInterface(ur.host, 500.0)
    until(control.isProgramRunning)
    assert control.setPayload(0.8, [0.0, 0.0, 0.06])
    assert control.setTcp([0.0, 0.0, 0.15, 0.0, 0.0, 0.0])
    assert ur.state["mass_kg"] == 0.8
    goal = [angle + 0.01 for angle in ur.state["q"]]
    assert control.servoJ(goal, 0.0, 0.0, 0.002, 0.03, 300.0)
    until(lambda: max(abs(a - b) for a, b in zip(ur.state["q"], goal, strict=True)) < 1e-3)
    assert control.servoStop()
    assert control.setWatchdog(5.0)
    until(lambda: not control.isProgramRunning())
    assert "watchdog" in ur.state["why"]
    assert control.reuploadScript()
    until(control.isProgramRunning)
    control.stopScript()
    control.disconnect()
