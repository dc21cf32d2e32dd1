"""The driver on the emulated controller: what it sets, sends and says, and how each fault ends."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pliant.cli import show
from pliant.control.parameters import Parameters, Sense
from pliant.errors import RejectedError
from pliant.loop.task_runner import TaskRunner
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, POSITION, READING, TORQUE, VELOCITY
from pliant.robots import following, open_robot
from pliant.robots.emulator.ports import SECONDARY
from pliant.robots.ur import connecting, driver, recovery
from pliant.robots.ur.address import UrAddress
from pliant.robots.ur.driver import UrRobot
from pliant.task.schema import Task, load_task
from pliant_experiments.robots.emulator_process import Emulator
from pliant_experiments.robots.ur_runs import task_file
from support.waiting import until

TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15), tcp_quat=(0.0, 1.0, 0.0, 0.0))
# a busy machine may hold packets back, and that is not what is tested here
PATIENT = Parameters(sense=Sense(stale_s=1.0, hold_s=0.5, frozen_s=10.0))


@pytest.fixture(scope="module")
def emulator(ur_rtde: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An arm that nothing pushes but what a test injects."""
    guided = load_task("hand_guiding")
    quiet = guided.model_copy(update={"sim": guided.sim.model_copy(update={"pushes": ()})})
    with Emulator(task=task_file(quiet, str(tmp_path_factory.mktemp("cell")))) as running:
        yield running


@pytest.fixture(autouse=True)
def slow_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are no loop: they may pause for longer than a loop may, and so may the emulator."""
    monkeypatch.setattr(driver, "WATCHDOG_S", 60.0)
    monkeypatch.setattr(driver, "_STOP_S", 60.0)


class Driven:
    """A robot with its records, driven by hand."""

    def __init__(self, robot: UrRobot) -> None:
        self.robot, self.reading, self.command = robot, READING.new(), COMMAND.new()
        robot.read(self.reading)
        self.command[0].q[:] = self.reading[0].q

    def run(self, periods: int, mode: int = POSITION, pause_s: float = 0.002, **change: Any) -> None:
        """So many periods, or until a fault; `change` is what is added to joints of a field in every one."""
        self.command[0].mode = mode
        for _ in range(periods):
            self.robot.read(self.reading)
            if self.robot.fault:
                return
            for name, values in change.items():
                self.command[0][name][:6] += values
            if mode == VELOCITY and "q" not in change:
                self.command[0].q[:] = self.reading[0].q
            self.robot.write(self.command)
            time.sleep(pause_s)

    def run_until(self, holds: Callable[[], Any], mode: int = POSITION) -> Any:
        """Some periods after the other until this holds: nobody knows how much the arm does in one of them."""
        return until(lambda: self.run(10, mode) or holds())

    def until_fault(self, mode: int = POSITION) -> str:
        return self.run_until(lambda: self.robot.fault, mode)


@contextmanager
def driven(ur: Emulator, **fields: Any) -> Iterator[Driven]:
    robot = open_robot(ur.robot, Task(robot=ur.robot, **{"tool": TOOL, "params": PATIENT, **fields}))
    assert isinstance(robot, UrRobot)
    if "params" not in fields:
        robot.silence_s = 60.0
    robot.open()
    try:
        yield Driven(robot)
    finally:
        robot.stop()
        robot.close()


def test_payload_and_tool_point_are_set_from_the_task(ur: Emulator) -> None:
    with driven(ur):
        state = ur.state
        assert state["mass_kg"] == 0.8
        assert state["com_m"] == pytest.approx([0.0, 0.0, 0.06])
        assert state["tcp"] == pytest.approx([0.0, 0.0, 0.15, np.pi, 0.0, 0.0])


def test_push_up_read_plus_z(ur: Emulator) -> None:
    with driven(ur) as it:
        it.run(20)
        weight = it.robot.arm.tool_weight(it.reading[0].q[:6])
        it.run_until(lambda: it.reading[0].wrench == pytest.approx(weight, abs=1.5))
        ur.inject("push 0 0 20 0 0 0 60")
        up = _z_of(it.robot.arm.sensor_pose(it.reading[0].q[:6])[3:])
        it.run_until(lambda: (it.reading[0].wrench - weight)[2] * up == pytest.approx(20.0, abs=3.0))
        ur.inject("push 0 0 0 0 0 0 0")


def _z_of(quat: Any) -> float:
    """z component in base axes of the sensor's z axis."""
    return float(1.0 - 2.0 * (quat[1] ** 2 + quat[2] ** 2))


@pytest.mark.slow
def test_a_cell_with_another_tool_than_the_tasks_does_not_begin(ur: Emulator) -> None:
    task = Task(robot=ur.robot, law="admittance", tool=Tool(mass_kg=3.0, tcp_m=TOOL.tcp_m), params=PATIENT)
    cell = TaskRunner(task, lambda *_: None)
    try:
        with pytest.raises(
            RejectedError, match=r"Nothing has moved: .* reads 7\.\d N at rest\. .* should read 29\.4 N"
        ):
            cell.begin()
    finally:
        cell.robot.stop()
        cell.robot.close()


def test_nobody_is_asked_before_the_controller_answers(ur: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def nobody(question: str, **_: object) -> bool:
        asked.append(question)
        raise EOFError

    monkeypatch.setattr(show.Confirm, "ask", nobody)
    with pytest.raises(RejectedError, match="No UR controller answers"):
        show.ask_once(Task(robot="ur:127.49.0.1"), yes=False)
    with pytest.raises(RejectedError, match="No UR controller answers"):
        show.ask_once(Task(robot="ur:127.49.0.1"), yes=True)
    show.ask_once(Task(robot=ur.robot), yes=True)
    show.ask_once(Task(robot="sim:ur5e"), yes=False)
    assert asked == []
    with pytest.raises(RejectedError, match="no terminal to confirm the start"):
        show.ask_once(Task(robot=ur.robot), yes=False)
    monkeypatch.setattr(show.Confirm, "ask", lambda question, **_: False)
    with pytest.raises(RejectedError, match="the start was not confirmed"):
        show.ask_once(Task(robot=ur.robot), yes=False)
    assert len(asked) == 1


def test_positions_move_the_joints_there(ur: Emulator) -> None:
    with driven(ur) as it:
        before = it.reading[0].q[0]
        it.run(100, q=np.array([2e-4, 0, 0, 0, 0, 0]))
        it.run_until(lambda: it.reading[0].q[:6] == pytest.approx(it.command[0].q[:6], abs=2e-3))
        assert it.robot.fault == ""
        assert it.reading[0].q[0] > before + 0.015


def test_velocities_move_the_joints_and_the_end_stops_them(ur: Emulator) -> None:
    with driven(ur, interface="velocity") as it:
        before = it.reading[0].q[0]
        it.command[0].qd[0] = 0.1
        it.run_until(lambda: it.reading[0].q[0] > before + 0.005, VELOCITY)
        assert it.robot.fault == ""
    until(lambda: not ur.state["plays"])
    until(lambda: max(map(abs, ur.state["qd"])) < 2e-3)


def test_an_arm_that_does_not_go_where_it_is_told_is_a_fault_with_the_joint(ur: Emulator) -> None:
    with driven(ur, interface="velocity") as it:
        it.run(4000, VELOCITY, q=np.array([0, 0, 2e-4, 0, 0, 0]))  # told to be elsewhere, and not to move
        assert f"at {ur.host} elbow_joint does not follow: it is at" in it.robot.fault
        assert it.command[0].q[2] - it.reading[0].q[2] > following.NEAR


def test_torques_that_carry_the_arm_hold_it(ur: Emulator) -> None:
    with driven(ur, interface="torque") as it:
        q = it.reading[0].q[:6].copy()
        it.command[0].tau[:6] = it.robot.arm.bias(q, np.zeros(6))
        began, moved = it.reading[0].stamp_s, []
        while it.reading[0].stamp_s - began < 0.3:  # by the controller's own time
            it.run(1, TORQUE)
            moved.append(np.abs(it.reading[0].q[:6] - q).max())
        assert it.robot.fault == ""
        assert max(moved) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("protective stop", "is in a protective stop"),
        ("emergency stop", "is in an emergency stop"),
        ("safeguard stop", "is in a safeguard stop"),
        ("safety stop", "was stopped by its safety system"),
        ("mode idle", "mode 'idle', not 'running'"),
        ("stop program", "the program on the controller"),
        ("speed slider 0.5", "was set to 50 %"),
    ],
)
def test_a_fault_is_told_the_arm_stops_and_a_new_connection_works(ur: Emulator, fault: str, said: str) -> None:
    with driven(ur) as it:
        it.run(20)
        ur.inject(fault)
        assert said in it.until_fault()
        assert ur.host in it.robot.fault
        until(lambda: max(map(abs, ur.state["qd"])) < 2e-3)
    until(lambda: not ur.state["plays"])
    assert not recovery.may_be_ours(ur.host, None)  # whatever plays there next is someone else's
    ur.inject("clear")
    with driven(ur) as it:
        it.run(20)
        assert it.robot.fault == ""


@pytest.mark.parametrize(
    ("fault", "said"),
    [("protective stop", "cannot move: it is in a protective stop"), ("mode idle", "'idle'"),
     ("local control", "in local control"), ("speed slider 0.5", r"The speed slider .* is at 50 %, .* to 100 %")],
)  # fmt: skip
def test_a_robot_that_cannot_move_is_refused_before_it_is_commanded(ur: Emulator, fault: str, said: str) -> None:
    ur.inject(fault)
    with pytest.raises(RejectedError, match=said), driven(ur):
        pass


def test_another_model_than_the_task_believes_is_refused(ur: Emulator) -> None:
    robot = open_robot(f"{ur.robot}#ur10e", Task(robot=f"{ur.robot}#ur10e"))
    with pytest.raises(RejectedError, match=rf"reports a UR5, but the robot is set to ur10e\. Use {ur.robot}#ur5e\."):
        robot.open()


def test_a_rate_above_that_of_the_controller_is_refused_with_the_option(ur: Emulator) -> None:
    said = r"rate_hz is 1000 Hz, but a UR controller runs at 500 Hz\. Lower rate_hz, or add --rate 500\."
    with pytest.raises(RejectedError, match=said):
        open_robot(ur.robot, Task(robot=ur.robot, rate_hz=1000.0))


@pytest.mark.slow
def test_another_model_is_refused_by_where_its_tool_is_when_the_dashboard_is_silent(
    ur: Emulator, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connecting, "check_dashboard", lambda address: None)
    robot = open_robot(f"{ur.robot}#ur10e", Task(robot=f"{ur.robot}#ur10e", tool=TOOL))
    try:
        with pytest.raises(RejectedError, match=r"tool point .* is \d{3} mm away from that of a ur10e with this tool"):
            robot.open()
    finally:
        robot.stop()
        robot.close()
    assert f"The dashboard of {ur.host} does not answer" in capfd.readouterr().err
    with driven(ur) as it:  # the same without a dashboard, and with the right model
        assert it.robot.fault == ""


def test_a_dashboard_that_is_not_there_says_nothing(ur_rtde: None) -> None:
    assert connecting.check_dashboard(UrAddress("127.49.0.1", "ur5e")) is None


def play_program(ur: Emulator) -> None:
    """Someone else's program, sent as a script."""
    with socket.create_connection((ur.host, SECONDARY)) as line:
        line.sendall(b"def palletise():\n movej([0,0,0,0,0,0])\nend\n")
        until(lambda: ur.state["plays"])


def test_someone_elses_program_is_not_ended_but_named_and_the_start_refused(ur: Emulator) -> None:
    recovery.forget(ur.host)  # of another test
    play_program(ur)
    try:
        words = r"A program is running on the controller .*PLAYING .* Stop it"
        with pytest.raises(RejectedError, match=words), driven(ur):
            pass
        assert ur.state["plays"]
    finally:
        ur.ask("stop")


@pytest.mark.slow
def test_what_a_loop_has_left_behind_is_ended_and_a_file_that_plays_is_not(
    ur: Emulator, capfd: pytest.CaptureFixture[str]
) -> None:
    play_program(ur)
    recovery.remember(ur.host)
    assert not recovery.may_be_ours(ur.host, "PLAYING palletise.urp")
    with driven(ur) as it:
        assert it.robot.fault == ""
    assert f"Ending the program that an earlier loop left on the controller at {ur.host}" in capfd.readouterr().err
    assert not recovery.may_be_ours(ur.host, None)  # this one has ended as it should


@pytest.mark.slow
def test_a_program_that_its_watchdog_is_about_to_end_is_waited_for(
    ur: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_program(ur)
    opened = connecting.open_receive

    def and_then_it_ends(*how: Any) -> Any:
        receive = opened(*how)
        threading.Timer(0.2, lambda: ur.ask("stop")).start()
        return receive

    monkeypatch.setattr(connecting, "open_receive", and_then_it_ends)
    monkeypatch.setattr(driver, "_LEFT_S", 30.0)
    with driven(ur) as it:
        it.run(5)
        assert it.robot.fault == ""


def test_a_program_that_runs_again_takes_commands_again(ur: Emulator) -> None:
    with driven(ur) as it:
        it.run(5)
        before = it.reading[0].q[0]
        it.robot._halted_at = it.reading[0].stamp_s  # one packet said that it had stopped
        it.run(50, q=np.array([2e-4, 0, 0, 0, 0, 0]))
        it.run_until(lambda: it.reading[0].q[:6] == pytest.approx(it.command[0].q[:6], abs=2e-3))
        assert it.robot.fault == ""
        assert it.reading[0].q[0] > before + 0.007


@contextmanager
def silenced(ur: Emulator, monkeypatch: pytest.MonkeyPatch, mode: int, speed: float, **fields: Any) -> Iterator[Driven]:
    """A robot whose first joint is faster than this, on a line found silent, with a watchdog that does not act yet."""
    sense = Sense(stale_s=0.3, hold_s=0.2, frozen_s=10.0)
    with driven(ur, interface="velocity" if mode == VELOCITY else "torque", params=Parameters(sense=sense)) as it:
        for name, values in fields.items():
            it.command[0][name][:6] = values
        it.run_until(lambda: ur.state["qd"][0] > speed, mode)

        # The driver's clock gains a period per reading: its 500 ms pass within this second on a busy machine, too. A
        # longer silence would end the line itself.
        gained_s = 0.0
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + gained_s, sleep=time.sleep)
        monkeypatch.setattr(driver, "time", clock)

        def falls_silent() -> str:
            nonlocal gained_s
            ur.inject("silence 1")
            for _ in range(600):
                gained_s += it.robot.dt
                it.run(1, mode, pause_s=0.0)
            return it.robot.fault

        assert "has sent nothing for 500 ms" in until(falls_silent)
        yield it
        assert ur.state["plays"]
        it.robot._lost = False  # the line was never gone: let it end as it should


@pytest.mark.slow
def test_a_silent_line_still_carries_the_command_to_stand(ur: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    with silenced(ur, monkeypatch, VELOCITY, 0.02, qd=[0.05, 0, 0, 0, 0, 0]):
        until(lambda: max(map(abs, ur.state["qd"])) < 2e-3)


@pytest.mark.slow
def test_a_silent_line_still_carries_the_command_to_push_no_more(ur: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    tau = Arm.load("ur5e", TOOL).bias(np.array(ur.state["q"]), np.zeros(6))
    tau[0] += 2.0

    def speeds_up() -> bool:
        before = ur.state
        time.sleep(0.2)
        after = ur.state
        return after["qd"][0] - before["qd"][0] >= 0.1 * (after["time_s"] - before["time_s"])

    with silenced(ur, monkeypatch, TORQUE, 0.1, tau=tau):
        until(lambda: not speeds_up())


def test_a_start_that_is_elsewhere_is_refused_with_the_joint(ur: Emulator) -> None:
    start = np.array(ur.state["q"]) + np.array([0, 0, 0.5, 0, 0, 0])
    with pytest.raises(RejectedError, match=r"elbow_joint is 28\.6° away"), driven(ur, start_q=tuple(start.tolist())):
        pass
