"""`ros2:<model>`: an arm that publishes joint states and a wrench over ROS 2, and takes joint commands over it.

The arm has to be one that a model describes; joints are known by their names, in whatever order they come. Messages are
heard when the loop reads: nothing here waits. Joint states that stop coming stop the arm.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError, RefusedError, RobotError
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, IDLE, WRENCH_MISSING, WRENCH_OK
from pliant.robots.ros2.config import Ros2Config
from pliant.robots.ros2.guard import Guard
from pliant.ros2.commands import trajectory_topic, velocity_topic
from pliant.ros2.messages import JOINT_STATE, WRENCH_STAMPED
from pliant.ros2.node import Node
from pliant.ros2.templates import Stencil

Array = np.ndarray[Any, Any]

# A command that cannot be sent at once is dropped: the next one is newer. The loop never waits for a subscriber.
_SEND_WAIT_S = 0.0
_POLL_S = 0.005


class Ros2Robot:
    """An arm over ROS 2, by position (trajectories of one point) or by joint velocity."""

    interfaces = ("position", "velocity")

    def __init__(self, source: str, tool: Tool, config: Ros2Config, interface: str = "position") -> None:
        self.name, self.config, self.fault = f"ros2:{source}", config, ""
        self.arm = Arm.load(source, tool)
        self._names = list(config.joint_names or self.arm.joint_names)
        if len(self._names) != self.arm.n:
            raise InputError("ros2.joint_names", tuple(self._names), f"{self.arm.n} names, one per joint of {source}")
        self._by_velocity = interface == "velocity"
        self._sign = 1.0 if config.wrench_is == "on_robot" else -1.0
        self._joints = JointStates(self._names)
        self._wrench, self._wrench_stamp_s = np.zeros(6), math.nan
        self._unsent_since = math.inf
        self._guard: Guard | None = None

    @property
    def command_topic(self) -> str:
        """Where the arm is told what to do."""
        return self.config.velocity if self._by_velocity else self.config.trajectory

    # -- the loop's side --

    def open(self) -> None:
        """Join the network and wait for the arm: its joint states, its wrench, and someone who takes commands."""
        config = self.config
        # another node may publish what the loop does: two of one name would confuse the graph
        self._node = Node(f"{config.node}_driver", config.namespace).open()
        by_velocity, name = self._by_velocity, self._node.full_name(self.command_topic)
        topic = velocity_topic(name) if by_velocity else trajectory_topic(name, config.ahead_s)
        self._stencil = Stencil(topic, self._names, COMMAND)
        self._writer = self._node.writer(name, topic.message_type, wait_s=_SEND_WAIT_S, depth=1)
        self._states = self._node.reader(config.joint_states, JOINT_STATE, reliable=False)
        self._forces = self._node.reader(config.wrench, WRENCH_STAMPED, reliable=False) if config.wrench else None
        self._node.announce()
        self._await_arm(name)
        if by_velocity:  # it would go on with the last velocity for ever
            self._guard = Guard(config, self.arm.n)
            self._guard.start()

    def _await_arm(self, command: str) -> None:
        states, forces = self._node.full_name(self.config.joint_states), self._node.full_name(self.config.wrench)
        self._until(self._hear_joints, f"no joint states with {', '.join(self._names)} on {states}")
        if self._forces is not None:
            self._until(self._hear_wrench, f"no wrench came on {forces} (an arm without a sensor: ros2.wrench empty)")
        self._until(lambda: self._writer.listeners > 0, f"nobody takes joint commands on {command}")

    def _until(self, happened: Callable[[], bool], complaint: str) -> None:
        deadline = time.monotonic() + self.config.wait_s
        while not happened():
            if time.monotonic() > deadline:
                raise RobotError(f"{complaint} within {self.config.wait_s:g} s")
            time.sleep(_POLL_S)

    def read(self, reading: Any) -> None:
        """The newest joint states and wrench; a fault when there have been no joint states for ros2.stale_s."""
        r, n = reading[0], self.arm.n
        self._hear_joints()
        age = time.monotonic() - self._joints.heard_s
        if age > self.config.stale_s:
            topic = self._node.full_name(self.config.joint_states)
            self.fault = f"no new joint states came on {topic} for {age:.2f} s (ros2.stale_s)"
            return
        r.q[:n], r.qd[:n], r.tau[:n] = self._joints.q, self._joints.qd, self._joints.tau
        r.stamp_s = self._joints.stamp_s
        self._hear_wrench()
        r.wrench[:] = self._wrench
        known = not math.isnan(self._wrench_stamp_s)
        r.wrench_stamp_s = self._wrench_stamp_s if known else 0.0
        r.wrench_state = WRENCH_OK if known else WRENCH_MISSING

    def write(self, command: Any) -> None:
        """Send the command; what cannot be sent is dropped, and for ros2.stale_s long it is a fault."""
        if command[0].mode == IDLE or self.fault:
            return
        if self._writer.send(self._stencil.fill(command.view(np.uint8).data, 0)):
            self._unsent_since = math.inf
            return
        now = time.monotonic()
        self._unsent_since = min(self._unsent_since, now)
        if now - self._unsent_since > self.config.stale_s:
            self.fault = f"no command could be sent for {self.config.stale_s:g} s (ros2.stale_s)"

    def push(self, wrench: Any, for_s: float) -> None:
        """A real arm is pushed by hand."""
        raise RefusedError("Only a simulated arm can be pushed.")

    def stop(self) -> None:
        """Velocity zero; an arm that is told positions comes to rest at the last one by itself."""
        if self._by_velocity and hasattr(self, "_writer"):
            with contextlib.suppress(Exception):
                rest = COMMAND.new()
                self._writer.send(self._stencil.fill(rest.view(np.uint8).data, 0))

    def close(self) -> None:
        """Leave the network; the stop that was sent last has been taken, or has had time to be."""
        if hasattr(self, "_writer"):
            self._writer.flush(0.5)
        if self._guard is not None:
            self._guard.release()
        if hasattr(self, "_node"):
            self._node.close()

    # -- messages --

    def _hear_joints(self) -> bool:
        """Take the newest joint states in; True once there have been any."""
        for message in reversed(self._states.messages()):
            if self._joints.take(message):
                break
        return not math.isinf(self._joints.heard_s)

    def _hear_wrench(self) -> bool:
        """Take the newest wrench in; True once there has been one."""
        heard = self._forces.messages() if self._forces is not None else []
        if heard:
            f, t = heard[-1].wrench.force, heard[-1].wrench.torque
            self._wrench[:] = f.x, f.y, f.z, t.x, t.y, t.z
            self._wrench *= self._sign
            self._wrench_stamp_s = stamp_of(heard[-1]) or time.time()
        return not math.isnan(self._wrench_stamp_s)


class JointStates:
    """The newest joint states of an arm, in the order of its joints."""

    def __init__(self, names: list[str]) -> None:
        self._names, n = names, len(names)
        self._order: tuple[list[str], list[int] | None] = ([], None)
        self.q, self.qd, self.tau = np.zeros(n), np.zeros(n), np.zeros(n)
        self.stamp_s, self.heard_s = 0.0, -math.inf

    def take(self, message: Any) -> bool:
        """Take a message over; False if it does not hold all joints of the arm.

        One with the stamp of the last one is no news: a publisher that repeats itself counts as silent.
        """
        order = self._order_of(message.name)
        if order is None or len(message.position) != len(message.name):
            return False
        stamp, q = stamp_of(message), np.asarray(message.position, float)[order]
        if stamp and stamp == self.stamp_s:
            return True
        now = stamp or time.time()
        if len(message.velocity) == len(message.name):
            self.qd[:] = np.asarray(message.velocity, float)[order]
        elif self.heard_s > -math.inf and now > self.stamp_s:
            self.qd[:] = (q - self.q) / (now - self.stamp_s)
        if len(message.effort) == len(message.name):
            self.tau[:] = np.asarray(message.effort, float)[order]
        self.q[:], self.stamp_s, self.heard_s = q, now, time.monotonic()
        return True

    def _order_of(self, names: list[str]) -> list[int] | None:
        """Where our joints are among `names`; None if one is missing. Publishers seldom change their minds."""
        if names != self._order[0]:
            place = {name: i for i, name in enumerate(names)}
            known = all(name in place for name in self._names)
            self._order = (list(names), [place[name] for name in self._names] if known else None)
        return self._order[1]


def stamp_of(message: Any) -> float:
    """When a message was made, by its header [s]; 0 if it does not say."""
    stamp = message.header.stamp
    return stamp.sec + 1e-9 * stamp.nanosec
