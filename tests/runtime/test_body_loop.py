"""A mobile manipulator in closed loop: it tracks, yields, stops, and tells others what it does."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.control.published import Published
from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError, UnknownNameError
from pliant.mobile.whole_body.body_config import BodySimConfig
from pliant.mobile.whole_body.closed_loop import BodyLoop, BodySettings, Lags
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.simulated_body import SimBody
from pliant.record import RecordingWriter
from pliant.records import FAULT_NUMBER, FAULT_SENSOR, WRENCH_MISSING
from pliant.ros2.message_types import typestore
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.world_config import Failure, Push, Sensor

DT = 0.002


@pytest.fixture(scope="module")
def body() -> Body:
    return Body()


def run(loop: BodyLoop, ticks: int, way: Any = None) -> Any:
    """Follow `way(t)` (pose, twist), or stay; returns the telemetry."""
    stay = loop.goal[0].pose.copy(), np.zeros(6)
    records = TELEMETRY.new(ticks)
    for i in range(ticks):
        loop.period(*(way(loop.time_s + loop.ahead_s) if way else stay), out=records[i : i + 1])
    return records


def begun(body: Body, law: str = "track", params: Parameters | None = None, **sim: Any) -> BodyLoop:
    config = BodySimConfig(**sim)
    lags = Lags(config.servo.lag_s, config.drive.lag_s)
    settings = BodySettings(law=law, params=params or Parameters(), lags=lags, dt=DT)
    return BodyLoop(SimBody(config=config, dt=DT), body, settings)


def test_the_tool_keeps_to_its_path_through_the_lags_of_base_and_arm(body: Body) -> None:
    loop = begun(body, wheels=True)
    start = loop.goal[0].pose.copy()

    def way(t: float) -> tuple[Any, Any]:
        pose, twist = start.copy(), np.zeros(6)
        pose[0] += 0.2 * (t - math.sin(t))
        pose[1] += 0.1 * (1 - math.cos(t))
        twist[:2] = 0.2 * (1 - math.cos(t)), 0.1 * math.sin(t)
        return pose, twist

    worst, record = 0.0, TELEMETRY.new()
    for _ in range(2500):
        robot: Any = loop.robot
        worst = max(worst, float(np.linalg.norm(robot.tool_pose()[:3] - way(loop.time_s)[0][:3])))
        loop.period(*way(loop.time_s + loop.ahead_s), out=record)
    assert worst < 0.002
    assert record["base"]["pose"][0, 0] > 0.3


def test_a_push_moves_a_compliant_tool_by_force_over_stiffness(body: Body) -> None:
    soft = Admittance(stiffness=diagonal(200.0, 20.0))
    params = Parameters(admittance=soft, sense=Sense(deadband_n=0.0, deadband_nm=0.0))
    push = Push(at_s=0.1, for_s=60.0, wrench=(0.0, 0.0, 10.0, 0.0, 0.0, 0.0))
    loop = begun(body, "comply", params, pushes=(push,))
    records = run(loop, 2500)
    height = records["observed"]["pose"][:, 2]
    assert height[-1] - height[0] == pytest.approx(0.05, abs=0.002)
    np.testing.assert_allclose(records["observed"]["wrench"][-500:, :3].mean(axis=0), [0, 0, 10.0], atol=0.3)


def test_the_tool_holds_a_wrench_by_driving_when_its_arm_is_not_enough(body: Body) -> None:
    stiff = diagonal(0.0, 200.0, 200.0, 20.0, 20.0, 20.0)
    damping = diagonal(100.0, 100.0, 100.0, 6.0, 6.0, 6.0)
    params = Parameters(
        admittance=Admittance(stiffness=stiff, damping_by="value", damping=damping),
        sense=Sense(deadband_n=0.0, deadband_nm=0.0),
    )
    push = Push(at_s=0.1, for_s=60.0, wrench=(20.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    loop = begun(body, "comply", params, pushes=(push,))
    records = run(loop, 3000)
    speed = np.polyfit(records["time_s"][-1000:], records["observed"]["pose"][-1000:, 0], 1)[0]
    assert speed == pytest.approx(0.2, rel=0.05)  # 20 N on a damper of 100 N s/m
    assert records["base"]["pose"][-1, 0] > 0.5


def test_a_failed_sensor_stops_base_and_arm(body: Body) -> None:
    sensor = Sensor(failures=(Failure(kind="missing", at_s=1.0),))
    loop = begun(body, "comply", sensor=sensor)
    start = loop.goal[0].pose.copy()
    records = run(loop, 1500, lambda t: (start + 0.2 * t * np.eye(7)[0], 0.2 * np.eye(6)[0]))
    assert records["state"]["fault"][-1] == FAULT_SENSOR + WRENCH_MISSING
    assert records["base"]["command"][490, 0] > 0.05
    np.testing.assert_array_equal(records["base"]["command"][-1], 0.0)
    np.testing.assert_array_equal(records["state"]["qd_cmd"][-1], 0.0)


class Lost:
    """A robot whose base pose becomes no number."""

    def __init__(self, robot: SimBody) -> None:
        self._robot, self.reads = robot, 0
        self.command, self.write = robot.command, robot.write

    def read(self, reading: Any, base: Any) -> None:
        self._robot.read(reading, base)
        self.reads += 1
        if self.reads > 300:
            base[0].pose[:] = math.nan


def test_a_base_pose_that_is_no_number_stops_everything(body: Body) -> None:
    loop = BodyLoop(Lost(SimBody(dt=DT)), body, BodySettings(dt=DT))
    start = loop.goal[0].pose.copy()
    records = run(loop, 800, lambda t: (start + 0.2 * t * np.eye(7)[0], 0.2 * np.eye(6)[0]))
    assert records["state"]["fault"][-1] == FAULT_NUMBER
    np.testing.assert_array_equal(records["base"]["command"][-1], 0.0)
    assert np.isfinite(records["command"]["q"]).all()


@pytest.mark.parametrize("law", ["track", "comply"])
@pytest.mark.parametrize("bad", ["target", "twist", "hold", "quaternion"])
def test_a_target_that_is_no_number_is_a_fault_and_brakes_base_and_arm(body: Body, law: str, bad: str) -> None:
    loop = begun(body, law)
    start = loop.goal[0].pose.copy()
    records = run(loop, 500, lambda t: (start + 0.2 * t * np.eye(7)[0], 0.2 * np.eye(6)[0]))
    assert records["base"]["command"][-1, 0] > 0.05
    asked = {"target": start.copy(), "twist": np.zeros(6), "hold": np.zeros(6)}
    if bad == "quaternion":
        asked["target"][3:] = 0.0
    else:
        asked[bad][1] = math.nan
    last = [loop.period(**asked).copy() for _ in range(400)][-1]
    assert last["state"]["fault"][0] == FAULT_NUMBER
    np.testing.assert_array_equal(last["base"]["command"][0], 0.0)
    np.testing.assert_array_equal(last["state"]["qd_cmd"][0], 0.0)
    assert all(np.isfinite(loop.state[name]).all() for name in ("twist", "pose", "q_cmd"))
    assert np.isfinite(loop.goal["pose"]).all()


def test_a_target_of_another_shape_is_refused_by_name(body: Body) -> None:
    loop = begun(body)
    with pytest.raises(InputError, match="target"):
        loop.period(np.zeros(6), np.zeros(6))
    with pytest.raises(InputError, match="hold"):
        loop.period(loop.goal[0].pose.copy(), np.zeros(6), np.zeros(3))


def test_stop_comes_to_rest(body: Body) -> None:
    loop = begun(body)
    start = loop.goal[0].pose.copy()
    run(loop, 500, lambda t: (start + 0.2 * t * np.eye(7)[0], 0.2 * np.eye(6)[0]))
    for _ in range(499):
        loop.stop()
    record = loop.stop()
    np.testing.assert_array_equal(record["base"]["command"][0], 0.0)
    np.testing.assert_array_equal(record["command"]["qd"][0], 0.0)


def test_a_recording_has_a_twist_for_the_base_and_targets_for_the_joints(body: Body, tmp_path: Path) -> None:
    loop = begun(body)
    start = loop.goal[0].pose.copy()
    records = run(loop, 200, lambda t: (start + 0.3 * t * np.eye(7)[0], 0.3 * np.eye(6)[0]))
    path = tmp_path / "body.mcap"
    joints, published = list(body.chain.joint_names[3:]), Published(6, ("position", "base"))
    with RecordingWriter(path, {"robot": "sim:mobile_ur5e"}, joints, published=published) as writer:
        writer.append(records)
    with AnyReader([path], default_typestore=typestore()) as reader:
        found: dict[str, list[Any]] = {}
        for connection, _, data in reader.messages():
            if not connection.topic.startswith("/pliant"):
                found.setdefault(connection.topic, []).append(reader.deserialize(data, connection.msgtype))
    twists, joints = found["/cmd_vel"], found["/joint_command"]
    assert len(twists) == len(joints) == 200
    assert twists[-1].header.frame_id == "mobile_base"
    assert [m.twist.linear.x for m in twists] == records["base"]["command"][:, 0].tolist()
    assert [m.twist.angular.z for m in twists] == records["base"]["command"][:, 1].tolist()
    assert {m.twist.linear.y for m in twists} == {0.0}
    assert twists[-1].twist.linear.x > 0.05
    np.testing.assert_array_equal(joints[-1].position, records["command"]["q"][-1, :6])
    assert found["/tool_pose"][0].header.frame_id == "world"
    heading = found["/base_pose"][-1].pose.orientation
    assert 2 * math.atan2(heading.z, heading.w) == pytest.approx(records["base"]["pose"][-1, 2])


def test_an_arm_without_a_base_has_none_in_its_telemetry() -> None:
    records = simulate(Task(duration_s=0.02)).records
    assert not records["base"].tobytes().strip(b"\0")


def test_an_unknown_law_and_impossible_lags_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="track"):
        BodySettings(law="trak")
    with pytest.raises(InputError, match=r"lags\.arm_s"):
        Lags(arm_s=math.nan)
