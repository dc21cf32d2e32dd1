"""What follows the commands of a loop stands when the loop ends, and does not move before somebody has agreed to it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from bridges import bridge_of, processes

from pliant.bridge.command_followers import followers
from pliant.bridge.published_topics import command_topics, live_topics
from pliant.bridge.starting import bridged
from pliant.cli import show
from pliant.cli.running import bridging
from pliant.compiling.ahead import ensure
from pliant.errors import PliantError
from pliant.mobile.mission.mission_task import MissionTask
from pliant.model.arm import Arm as UrArm
from pliant.ros2.message_types import FLOAT_ARRAY, JOINT_STATE, JOINT_TRAJECTORY, STRING, build
from pliant.ros2.node import Node, Reader
from pliant.session.session import Session
from pliant.task.schema import Task
from support.waiting import until

TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"
VELOCITY = "/forward_velocity_controller/commands"
GUARD = "pliant.ros2.watchdog"
SLOWLY = {"law": "hold", "interface": "velocity", "params": {"limits": {"speed_scale": 0.025}}}
FAR = np.array([6.0, 0, 0, 0, 0, 0])
"""An arm that goes so far so slowly is under way for more than a minute."""


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure("loop", "batch", "replay")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))


@pytest.fixture
def node(network: None) -> Iterator[Node]:
    """Somebody else in the network."""
    with Node("stranger") as node:
        yield node


def guard_of(session: Session) -> int:
    bridge = bridge_of(session)
    return next(pid for pid, (parent, words) in processes().items() if parent == bridge and words[2:3] == [GUARD])


def quit_loop(session: Session) -> None:
    session.stop()


def kill_loop(session: Session) -> None:
    os.kill(int(session.board.header.loop_pid), signal.SIGKILL)


def kill_bridge(session: Session) -> None:
    os.kill(bridge_of(session), signal.SIGKILL)


def end_bridge(session: Session) -> None:
    os.kill(bridge_of(session), signal.SIGTERM)


class Arm:
    """It has the last velocity that it was told, as a controller has."""

    def __init__(self, node: Node) -> None:
        self._reader = node.reader(VELOCITY, FLOAT_ARRAY, depth=1)
        self._qd = np.zeros(6)
        node.announce()

    @property
    def moves(self) -> bool:
        for message in self._reader.messages():
            self._qd = message.data
        return bool(np.abs(self._qd).max() > 0.05)

    @property
    def stands(self) -> bool:
        return not self.moves and not self._qd.any()


@pytest.mark.parametrize(
    "end", [kill_loop, *(pytest.param(end, marks=pytest.mark.slow) for end in (quit_loop, kill_bridge, end_bridge))]
)
def test_what_is_told_velocities_stands_however_it_ends(node: Node, end: Callable[[Session], None]) -> None:
    arm, task = Arm(node), Task.model_validate(SLOWLY)
    with contextlib.suppress(PliantError), Session(task) as session, bridged(session, agreed=True):
        session.move_joints(session.q + FAR)
        until(lambda: arm.moves)
        end(session)
        until(lambda: arm.stands)
    assert arm.stands


@pytest.mark.slow
def test_it_stands_while_loop_or_bridge_hang_and_without_a_guard(node: Node) -> None:
    arm = Arm(node)
    with Session(Task.model_validate(SLOWLY)) as session, bridged(session, agreed=True) as notes:
        session.move_joints(session.q + FAR)
        for pid in (int(session.board.header.loop_pid), bridge_of(session)):
            until(lambda: arm.moves)
            os.kill(pid, signal.SIGSTOP)
            try:
                until(lambda: arm.stands)
            finally:
                os.kill(pid, signal.SIGCONT)
        until(lambda: arm.moves)
        os.kill(guard_of(session), signal.SIGKILL)
        until(lambda: any("watchdog of the bridge has exited" in note for note in notes))
        until(lambda: arm.stands)
        session.wait(0.3)
        assert arm.stands  # and nothing more is sent


def listening(node: Node) -> tuple[Reader, Reader, Reader]:
    kinds = {TRAJECTORY: JOINT_TRAJECTORY, "/joint_states": JOINT_STATE, "/pliant/state": STRING}
    command, joints, state = (node.reader(name, kind, latched=kind == STRING) for name, kind in kinds.items())
    node.announce()
    return command, joints, state


@pytest.mark.parametrize("early", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_nothing_is_sent_to_whoever_listens_before_it_is_agreed(node: Node, *, early: bool) -> None:
    said: list[str] = []
    there = listening(node) if early else None
    with Session(Task(law="admittance")) as session, bridged(session, say=said.append) as notes:
        if there is None:
            session.wait(0.5)
            assert not any("withheld" in note for note in notes)
        command, joints, state = there or listening(node)
        counted = 0

        def hear() -> bool:
            nonlocal counted
            counted += len(joints.messages())
            return counted > 200

        until(hear)
        until(lambda: any(f"withheld: {TRAJECTORY}" in message.data for message in state.messages()))
        until(lambda: any("withheld" in note for note in notes))
        assert not command.messages()
    told = [note for note in notes if "withheld" in note]
    assert told == [f"Commands are withheld: a subscriber on {TRAJECTORY} would move. Use --yes to allow that."]
    assert said == notes


@pytest.mark.slow
def test_those_who_would_follow_are_found_and_the_user_is_asked(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    task, answers = Task(), [True, False]
    monkeypatch.setattr(show.Confirm, "ask", lambda *_, **__: answers.pop(0))
    assert followers(task) == ([], "")
    assert not bridging.may_follow(task, yes=False)  # and nobody was asked
    listening(node)
    until(lambda: followers(task) == ([TRAJECTORY], ""))  # a busy machine may take longer than a search does
    until(lambda: bridging.may_follow(task, yes=False))
    assert answers == [False]
    until(lambda: not (bridging.may_follow(task, yes=False) or answers))
    assert bridging.may_follow(task, yes=True)


def test_an_arm_that_would_jump_to_the_start_is_not_commanded_even_if_the_user_agreed(
    node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    model = UrArm.load("ur5e")
    told, end = [model.q_home.copy()], threading.Event()
    writer = node.writer("joint_states", JOINT_STATE)
    listening(node)

    def tell() -> None:
        while not end.wait(0.02):
            writer.say(build(JOINT_STATE, {"name": list(model.joint_names)}, [told[-1]]))

    teller = threading.Thread(target=tell)
    teller.start()
    try:
        assert bridging.may_follow(Task(), yes=True)
        told.append(model.q_home + np.array([0, 0.1, 0, 0, 0, 0]))
        until(lambda: not bridging.may_follow(Task(), yes=True))  # once the arm was heard in time
        words = " ".join(capsys.readouterr().err.split())
        assert "Commands are withheld, even with --yes: on /joint_states an arm reports shoulder_lift" in words
        assert "would jump there" in words
        assert bridging.may_follow(Task(start_q=tuple(told[-1].tolist())), yes=True)
        assert bridging.may_follow(Task(interface="velocity"), yes=True)
    finally:
        end.set()
        teller.join()


def test_a_task_that_keeps_its_command_to_itself_has_no_command_topic() -> None:
    silent = {"ros2": {"command": False}}
    assert command_topics(Task.model_validate(silent)) == []
    assert command_topics(MissionTask.model_validate(silent)) == []
    assert command_topics(Task(robot="ros2:ur5e")) == []
    assert [topic.name for topic in command_topics(MissionTask())] == [TRAJECTORY[1:], "cmd_vel"]
    assert "~/cartesian_velocity_command" not in [topic.name for topic in live_topics(MissionTask())]
