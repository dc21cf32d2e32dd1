"""The bridge beside a running loop, and a real ROS 2 that hears it, commands it and tunes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from bridges import bridge_of, longest_run

import pliant
from pliant.bridge import starting
from pliant.bridge.starting import bridged
from pliant.compiling.ahead import ensure
from pliant.errors import LoopError
from pliant.ros2 import message_types
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant_experiments.robots.ros2_peer import Peer, peer_interpreter
from support.waiting import until

Array = np.ndarray[Any, Any]

IN_A_ROW = 250
"""So many messages of every topic, none missing, are every value."""

RATE_HZ = 125
PATIENT = """
import sys
from functools import partial, partialmethod
from pliant.bridge import bridge_process as process
from pliant.bridge.helper_process import AGREED, helper_main
from pliant.mobile.mission.mission_link import attach_any
from pliant.ros2.node import Node
process._MOST = 1000
Node.writer = partialmethod(Node.writer, depth=1000)
sys.exit(helper_main(sys.argv[1], partial(process.serve, agreed=sys.argv[2:] == [AGREED]), attach_any))
"""
"""A bridge that, held up for less than eight seconds, leaves out nothing, and keeps it until the peer has it."""

TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"
HEARD = {
    "/joint_states": message_types.JOINT_STATE,
    "/ft_sensor_readings": message_types.WRENCH_STAMPED,
    "/pliant/cartesian_velocity_command": message_types.TWIST,
    "/pliant/tool_pose": message_types.POSE_STAMPED,
    TRAJECTORY: message_types.JOINT_TRAJECTORY,
}


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    def spawn(_: str, link: Session, *more: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", PATIENT, str(link.board.path), *more]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    monkeypatch.setattr(starting, "_spawn", spawn)


@pytest.fixture
def session(peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A loop that moves, with its bridge."""
    ensure("loop", "batch", "replay")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    push = {"at_s": 0, "for_s": 60, "wrench": [15, 5, 0, 0, 0, 1]}
    task = Task.model_validate({"law": "admittance", "rate_hz": RATE_HZ, "sim": {"pushes": [push]}})
    with Session(task) as session, bridged(session, agreed=True):
        yield session


def six(part: dict[str, Any], *names: str) -> list[float]:
    return [part[name][axis] for name in names for axis in "xyz"]


def stamp(message: dict[str, Any]) -> int:
    return message["header"]["stamp"]["sec"] * 10**9 + message["header"]["stamp"]["nanosec"]


Heard = dict[str, list[dict[str, Any]]]


class Tape(threading.Thread):
    """All records of a loop, from now on: the ring holds some seconds only, and asking the peer may take longer."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._parts, self._one, self._end = session, list[Array](), threading.Lock(), threading.Event()
        session.read()
        self._lost = session.lost

    def run(self) -> None:
        while not self._end.wait(0.2):
            self.records()

    def records(self) -> Array:
        """All of them until now."""
        with self._one:
            self._parts.append(self._session.read())
            assert self._session.lost == self._lost
            return np.concatenate(self._parts)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()


def ticks_of(heard: Heard, records: Array) -> dict[str, list[set[int]]]:
    """Of which ticks each message can be: of one by its stamp, of those with its values where it has none."""
    ticks: dict[Any, set[int]] = {}
    columns = records["timing"]["wall_ns"], records["state"]["twist"], records["command"]["q"][:, :6]
    for column in columns:
        for tick, value in zip(records["tick"].tolist(), column.tolist(), strict=True):
            ticks.setdefault(tuple(value) if isinstance(value, list) else value, set()).add(tick)

    def key_of(topic: str, message: dict[str, Any]) -> Any:
        if topic == TRAJECTORY:
            return tuple(message["points"][0]["positions"])
        return tuple(six(message, "linear", "angular")) if HEARD[topic] == message_types.TWIST else stamp(message)

    return {topic: [ticks[key_of(topic, message)] for message in told] for topic, told in heard.items()}


def heard_in_a_row(peer: Peer, tape: Tape) -> tuple[Heard, dict[str, list[set[int]]], Array]:
    """What the peer has heard, of which ticks, and the records: from its first message on, none is missing."""
    until(lambda: min(peer("count", topic=topic) for topic in HEARD) >= IN_A_ROW)
    heard = {topic: peer("collect", topic=topic) for topic in HEARD}
    ticks = ticks_of(heard, records := tape.records())
    for topic, told in ticks.items():
        assert longest_run(told) == len(told), topic
    return heard, ticks, records


@pytest.mark.usefixtures("_patient")
def test_a_real_ros_hears_every_value_of_the_loop(peer: Peer, session: Session) -> None:
    with Tape(session) as tape:
        for topic, kind in HEARD.items():
            peer("hear", topic=topic, type=kind)
        heard, ticks, records = heard_in_a_row(peer, tape)
    at = dict(zip(records["tick"].tolist(), records, strict=True))
    for message, (tick,) in zip(heard["/joint_states"], ticks["/joint_states"], strict=True):
        r = at[tick]["reading"]
        assert message["name"] == list(session.arm.joint_names)
        assert message["position"] == r["q"][:6].tolist()
        assert message["velocity"] == r["qd"][:6].tolist()
        assert message["effort"] == r["tau"][:6].tolist()
    for message, (tick,) in zip(heard["/ft_sensor_readings"], ticks["/ft_sensor_readings"], strict=True):
        assert six(message["wrench"], "force", "torque") == at[tick]["reading"]["wrench"].tolist()
    for message, (tick,) in zip(heard["/pliant/tool_pose"], ticks["/pliant/tool_pose"], strict=True):
        p, o = message["pose"]["position"], message["pose"]["orientation"]
        pose = [p["x"], p["y"], p["z"], o["w"], o["x"], o["y"], o["z"]]
        assert pose == at[tick]["observed"]["pose"].tolist()
    for message in heard[TRAJECTORY]:
        (point,) = message["points"]
        assert message["joint_names"] == list(session.arm.joint_names)
        assert (point["velocities"], point["time_from_start"]) == ([], {"sec": 0, "nanosec": 10_000_000})


def told(peer: Peer, name: str) -> list[str]:
    """What the bridge has said in words."""
    return [message["data"] for message in peer("collect", topic=f"/pliant/{name}")]


def test_the_bridge_is_a_node_and_takes_goals_commands_and_changes(peer: Peer, session: Session) -> None:
    until(lambda: "pliant" in peer("graph")["nodes"])
    texts = {f"/pliant/{name}" for name in ("state", "fault", "parameters", "answer")}
    requests = ["command", "equilibrium", "goal_pose", "goal_wrench", "set"]
    its = {"publishes": sorted({*HEARD, *texts}), "hears": [f"/pliant/{name}" for name in requests]}
    until(lambda: peer("topics_of", node="pliant") == its)
    for name in ("state", "fault", "parameters", "answer"):
        peer("hear", topic=f"/pliant/{name}", type=message_types.STRING, latched=True)
    kinds = (
        message_types.STRING,
        message_types.POINT_STAMPED,
        message_types.POSE_STAMPED,
        message_types.WRENCH_STAMPED,
        message_types.STRING,
    )
    for name, kind in zip(requests, kinds, strict=True):
        peer("writer", topic=f"/pliant/{name}", type=kind)
    until(lambda: all(peer("listeners", topic=f"/pliant/{name}") for name in requests))

    until(lambda: told(peer, "state") == ["running admittance"])
    peer("say", topic="/pliant/set", data="admittance.stiffness 450")
    peer("say", topic="/pliant/set", data="admittance.stiffness -450")
    until(lambda: len(told(peer, "answer")) == 2)  # topics do not wait for each other
    peer("say", topic="/pliant/command", data="halt")
    until(lambda: len(told(peer, "answer")) == 3)
    assert told(peer, "answer")[0] == "done: set: admittance.stiffness = [450, 450, 450, 450, 450, 450]"
    assert told(peer, "answer")[1].startswith("rejected: set: admittance.stiffness is ")
    assert told(peer, "answer")[2] == "done: command: halt was sent to the loop"
    until(lambda: told(peer, "state")[-1] == "running admittance halted")
    assert session.parameters.admittance.stiffness[0][0] == 450
    peer("say", topic="/pliant/equilibrium", point={"x": 0.4, "y": 0.1, "z": 0.5})
    until(lambda: session.state.goal.pose[:3].tolist() == [0.4, 0.1, 0.5])
    peer("say", topic="/pliant/goal_wrench", wrench={"force": {"z": 2.5}})
    until(lambda: session.state.goal.wrench.tolist() == [0, 0, 2.5, 0, 0, 0])
    peer("say", topic="/pliant/goal_pose", header={"frame_id": "map"}, pose={"orientation": {"w": 1.0}})
    until(lambda: len(told(peer, "answer")) == 4)
    assert "header.frame_id is 'map', but it must be 'base' or empty" in told(peer, "answer")[3]
    peer("say", topic="/pliant/command", data="quit")
    session.join()
    until(lambda: told(peer, "state")[-1].startswith("stopped"))
    assert told(peer, "fault") == [""]


@pytest.mark.slow
def test_a_loop_that_is_killed_is_told_to_everyone(peer: Peer, session: Session) -> None:
    for name in ("state", "fault"):
        peer("hear", topic=f"/pliant/{name}", type=message_types.STRING, latched=True)
    until(lambda: told(peer, "fault") and told(peer, "state"))
    os.kill(int(session.board.header.loop_pid), signal.SIGKILL)
    with pytest.raises(LoopError):
        session.join()
    until(lambda: len(told(peer, "fault")) == 2 and told(peer, "state")[-1].startswith("fault"))
    assert told(peer, "fault")[-1] != ""


@pytest.mark.slow
def test_killing_the_bridge_does_not_disturb_the_loop_and_is_told(
    network: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside an rclpy that this Python cannot import, as that of a ROS for another one: then there are topics only."""
    ensure("loop", "batch", "replay")
    (tmp_path / "rclpy").mkdir()
    (tmp_path / "rclpy" / "__init__.py").write_text("import _rclpy_pybind11_of_another_python\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    with Session(Task(law="admittance")) as session:
        with bridged(session) as notes:
            (said,) = notes
            assert said.startswith("ROS 2 topics only. Services and parameters need rclpy, which this Python can")
            assert "another_python" in said
            session.wait(0.2)
            session.read()
            os.kill(pid := bridge_of(session), signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            session.wait(1.0)
            assert np.all(np.diff(session.read()["tick"]) == 1)
            assert session.running
        assert notes[1:] == ["The ROS 2 bridge exited before the loop (exit code -9)."]


SLOWLY = """
import sys, time
from pathlib import Path
from pliant.bridge import services
from pliant.bridge.helper_process import helper_main
from pliant.bridge.request_order import Turns
from pliant.session.link import Link, attach
board, folder = sys.argv[1], Path(sys.argv[2])
tare, in_turn = Link.tare, Turns.in_turn
def slow_tare(link):
    (folder / "tares").touch()
    while not (folder / "may end").exists():
        time.sleep(0.01)
    return tare(link)
def noted(turns, word, *more):
    (folder / f"{word} was heard").touch()
    return in_turn(turns, word, *more)
Link.tare, Turns.in_turn = slow_tare, noted
sys.exit(helper_main(board, services.serve, attach))
"""
"""The services, with a tare that takes as long as the test wants, and a note of every request that is heard."""


def asked_at_once(peer: Peer, folder: Path, trigger: str) -> list[Any]:
    """What comes of a start while the sensor is tared, and of a halt after that, in the order of the answers."""
    for service, sign in (("tare", "tares"), ("start", "start was heard")):
        peer("begin_call", service=f"/pliant/{service}", type=trigger)
        until((folder / sign).exists)
    peer("begin_call", service="/pliant/halt", type=trigger)
    until(lambda: peer("answers"))
    (folder / "may end").touch()
    return until(lambda: len(came := peer("answers")) == 3 and came)


@pytest.mark.slow
def test_services_and_parameters_where_rclpy_can_be_imported(peer: Peer, tmp_path: Path) -> None:
    """The services run in an interpreter that has both: the peer's, with our packages beside its own."""
    ensure("loop", "batch", "replay")
    paths = [str(Path(pliant.__file__).parent.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    skip = ("LD_LIBRARY_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE")
    environment = {name: value for name, value in os.environ.items() if name not in skip}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    with Session(Task(law="admittance")) as session:
        words = [str(peer_interpreter()), "-c", SLOWLY, str(session.board.path), str(tmp_path)]
        services = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        assert services.stdout is not None
        assert services.stdout.readline() == "ready\n"
        trigger, setting = "std_srvs/srv/Trigger", "rcl_interfaces/srv/SetParametersAtomically"
        assert peer("call", service="/pliant/halt", type=trigger) == {
            "success": True,
            "message": "halt was sent to the loop",
        }
        until(lambda: session.state.goal.stop == 1)
        session.resume()
        until(lambda: session.state.goal.stop == 0)
        came = asked_at_once(peer, tmp_path, trigger)
        # a stop overtakes what takes a while, and a start that was asked before it is refused
        assert came[0] == ["/pliant/halt", {"success": True, "message": "halt was sent to the loop"}]
        done = {service: answer["success"] for service, answer in came}
        assert done == {"/pliant/tare": True, "/pliant/start": False, "/pliant/halt": True}, came
        until(lambda: session.state.goal.stop == 1)
        refused = peer("call", service="/pliant/set_start", type=trigger)
        assert not refused["success"]
        assert "Switch to contact" in refused["message"]
        where = "/pliant_services/set_parameters_atomically"
        one = {"name": "sense.deadband_n", "value": {"type": 3, "double_value": 2.5}}
        assert peer("call", service=where, type=setting, parameters=[one])["result"]["successful"]
        assert session.parameters.sense.deadband_n == 2.5
        bad = {"name": "sense.deadband_n", "value": {"type": 3, "double_value": -2.5}}
        answer = peer("call", service=where, type=setting, parameters=[bad])["result"]
        assert not answer["successful"]
        assert "sense.deadband_n is -2.5" in answer["reason"]
        assert session.parameters.sense.deadband_n == 2.5
        session.stop()
        assert services.wait(120.0) == 0
