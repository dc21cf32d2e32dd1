"""A node of a real ROS 2, controlled by lines of JSON. It runs in the interpreter of that ROS 2, not in Pliant's.

It does not use Pliant. It subscribes to topics and reports messages, publishes, echoes, emulates an ideal arm, calls
services, and lists the graph.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from importlib import import_module
from typing import Any

rclpy: Any = import_module("rclpy")
qos: Any = import_module("rclpy.qos")
# How long a service may take to appear and to answer on a busy machine [s].
_PATIENCE_S = 120.0


def kind(message_type: str) -> Any:
    """The class of a message or service, as in ``std_msgs/msg/String``."""
    package, folder, name = message_type.split("/")
    return getattr(import_module(f"{package}.{folder}"), name)


def plain(value: Any) -> Any:
    """A message as JSON values; numbers keep every bit."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def filled(message: Any, values: dict[str, Any]) -> Any:
    """The message with these fields."""
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        if isinstance(value, dict):
            value = filled(getattr(message, name), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            package, _, inner = types[name].removeprefix("sequence<").rstrip(">").partition("/")
            value = [filled(kind(f"{package}/msg/{inner}")(), item) for item in value]
        setattr(message, name, value)
    return message


class Arm:
    """An ideal arm: joint states and a wrench at a fixed rate, commands by either interface."""

    def __init__(self, node: Any, joints: list[str], q: list[float], rate_hz: float, wrench: list[float]) -> None:
        self._node, self._joints, self._q = node, joints, dict(zip(joints, q, strict=True))
        self._qd = [0.0] * len(joints)
        self._dt, self._wrench = 1.0 / rate_hz, wrench
        self.sent: list[Any] = []
        self.told: list[Any] = []
        self._states = node.create_publisher(kind("sensor_msgs/msg/JointState"), "/joint_states", 10)
        self._forces = node.create_publisher(kind("geometry_msgs/msg/WrenchStamped"), "/ft_sensor_readings", 10)
        trajectory, array = kind("trajectory_msgs/msg/JointTrajectory"), kind("std_msgs/msg/Float64MultiArray")
        place = "/scaled_joint_trajectory_controller/joint_trajectory"
        node.create_subscription(trajectory, place, self._move, 10)
        node.create_subscription(array, "/forward_velocity_controller/commands", self._drive, 10)
        self.timer = node.create_timer(self._dt, self._publish)

    def _move(self, message: Any) -> None:
        self.told.append([time.time(), list(message.points[0].positions)])
        self._q.update(zip(message.joint_names, message.points[0].positions, strict=True))

    def _drive(self, message: Any) -> None:
        self._qd = list(message.data)
        self.told.append([time.time(), self._qd])

    def _publish(self) -> None:
        for name, speed in zip(self._joints, self._qd, strict=True):
            self._q[name] += speed * self._dt
        stamp = self._node.get_clock().now().to_msg()
        state, force = kind("sensor_msgs/msg/JointState")(), kind("geometry_msgs/msg/WrenchStamped")()
        state.header.stamp = force.header.stamp = stamp
        names = sorted(self._q)  # as drivers do: not in the order of the arm
        state.name, state.position = names, [self._q[name] for name in names]
        speed_of = dict(zip(self._joints, self._qd, strict=True))
        state.velocity, state.effort = [speed_of[name] for name in names], [0.0] * len(names)
        drift = 1e-3 * (len(self.sent) % 7)  # a real sensor always has some noise
        for part, values in ((force.wrench.force, self._wrench[:3]), (force.wrench.torque, self._wrench[3:])):
            part.x, part.y, part.z = (float(value) + drift for value in values)
        self._states.publish(state)
        self._forces.publish(force)
        seen = [force.wrench.force.x, force.wrench.force.y, force.wrench.force.z]
        self.sent.append([stamp.sec + 1e-9 * stamp.nanosec, [self._q[name] for name in self._joints], seen])


class PeerNode:
    """Executes the commands; every method named ``do_…`` returns the answer."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.heard: dict[str, list[Any]] = {}
        self.writers: dict[str, Any] = {}
        self.answers: list[Any] = []
        self.arm: Arm | None = None

    def do_hear(self, topic: str, type: str, latched: bool = False) -> None:  # noqa: A002 (the word of ROS)
        durability = qos.DurabilityPolicy.TRANSIENT_LOCAL if latched else qos.DurabilityPolicy.VOLATILE
        self.heard[topic] = []
        profile = qos.QoSProfile(depth=2000, durability=durability)
        self.node.create_subscription(kind(type), topic, self.heard[topic].append, profile)

    def do_collect(self, topic: str) -> list[Any]:
        return [plain(message) for message in self.heard[topic]]

    def do_count(self, topic: str) -> int:
        return len(self.heard[topic])

    def do_writer(self, topic: str, type: str) -> None:  # noqa: A002
        self.writers[topic] = (self.node.create_publisher(kind(type), topic, 2000), kind(type))

    def do_listeners(self, topic: str) -> int:
        return self.writers[topic][0].get_subscription_count()

    def do_say(self, topic: str, **values: Any) -> None:
        writer, make = self.writers[topic]
        writer.publish(filled(make(), values))

    def do_stream(self, topic: str, messages: list[dict[str, Any]], rate_hz: float) -> None:
        writer, make = self.writers[topic]
        due = time.monotonic()
        for values in messages:
            writer.publish(filled(make(), values))
            due += 1.0 / rate_hz
            time.sleep(max(0.0, due - time.monotonic()))

    def do_echo(self, here: str, there: str, type: str) -> None:  # noqa: A002
        writer = self.node.create_publisher(kind(type), there, 2000)
        self.node.create_subscription(kind(type), here, writer.publish, 2000)

    def do_arm(self, **how: Any) -> None:
        self.arm = Arm(self.node, **how)

    def do_silence(self) -> None:
        assert self.arm is not None
        self.arm.timer.cancel()

    def do_log(self) -> dict[str, Any]:
        assert self.arm is not None
        return {"sent": self.arm.sent, "told": self.arm.told}

    def do_last(self) -> list[float]:
        assert self.arm is not None
        return self.arm.told[-1][1] if self.arm.told else []

    def do_graph(self) -> dict[str, Any]:
        topics = {name: kinds[0] for name, kinds in self.node.get_topic_names_and_types()}
        return {"nodes": sorted(self.node.get_node_names()), "topics": topics}

    def do_publishers(self, topic: str) -> list[list[str]]:
        found = self.node.get_publishers_info_by_topic(topic)
        return [[info.node_name, info.topic_type, str(info.topic_type_hash)] for info in found]

    def do_topics_of(self, node: str) -> dict[str, list[str]]:
        out = self.node.get_publisher_names_and_types_by_node(node, "/")
        into = self.node.get_subscriber_names_and_types_by_node(node, "/")
        return {"publishes": sorted(name for name, _ in out), "hears": sorted(name for name, _ in into)}

    def do_call(self, service: str, type: str, **values: Any) -> Any:  # noqa: A002
        client = self.node.create_client(kind(type), service)
        if not client.wait_for_service(timeout_sec=_PATIENCE_S):
            raise TimeoutError(f"service {service} is not available")
        future = client.call_async(filled(kind(type).Request(), values))
        rclpy.spin_until_future_complete(self.node, future, timeout_sec=_PATIENCE_S)
        return plain(future.result())

    def do_begin_call(self, service: str, type: str) -> None:  # noqa: A002
        """Call a service without waiting for its answer."""
        client = self.node.create_client(kind(type), service)
        if not client.wait_for_service(timeout_sec=_PATIENCE_S):
            raise TimeoutError(f"service {service} is not available")
        future = client.call_async(kind(type).Request())
        future.add_done_callback(lambda done: self.answers.append([service, plain(done.result())]))

    def do_answers(self) -> list[Any]:
        """The answers to earlier calls, in order of arrival."""
        return self.answers


def main() -> None:
    """Execute commands from standard input until it ends."""
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in sys.stdin] + [lines.put("")], daemon=True).start()
    rclpy.init()
    peer = PeerNode(rclpy.create_node("peer"))
    print(json.dumps({"answer": "ready"}), flush=True)
    while True:
        rclpy.spin_once(peer.node, timeout_sec=0.002)
        if lines.empty():
            continue
        line = lines.get()
        if not line:
            return
        request = json.loads(line)
        try:
            answer = {"answer": getattr(peer, f"do_{request.pop('do')}")(**request)}
        except Exception as error:  # returned to the caller
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
