"""`ros2:<model>`: an arm that publishes joint states and a wrench over ROS 2 and accepts joint commands over it.

A model must describe the arm; joints are matched by name, in any order. Messages are processed when the loop reads,
without waiting. The arm stops when joint states stop arriving or are not plausible.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError, RejectedError
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, IDLE, WRENCH_MISSING, WRENCH_OK
from pliant.robots.following import Following
from pliant.robots.interface import Robot
from pliant.robots.ros2_arm.joint_states import Forces, JointStates
from pliant.robots.ros2_arm.ros2_config import Ros2Config
from pliant.ros2.joint_commands import trajectory_topic, velocity_topic
from pliant.ros2.message_types import JOINT_STATE, WRENCH_STAMPED
from pliant.ros2.network import domain_id, resolved
from pliant.ros2.node import Node
from pliant.ros2.templates import Stencil
from pliant.ros2.watchdog import LEAST_S, Guard

Array = np.ndarray[Any, Any]

# A command that cannot be sent at once is dropped: the next one is newer. The loop never waits for a subscriber.
_SEND_WAIT_S = 0.0
_POLL_S = 0.005
# How often to check for subscribers, in commands: the check takes as long as sending.
_LOOKS = 16
# How long the arm may take to take the stop [s].
_STOP_S = 0.5
# The joint states of sixty joints with long names are smaller than this [bytes].
_LARGEST = 1 << 13
_NOTHING = COMMAND.new().view(np.uint8)
_GUARDED = {
    "": "",
    "hung": "the loop hung for longer than {:g} s, and the watchdog stopped the arm",
    "gone": "the watchdog process, which stops the arm if the loop dies or hangs, has exited",
}


class Ros2Robot(Robot):
    """An arm over ROS 2, by position (trajectories of one point) or by joint velocity."""

    interfaces = ("position", "velocity")

    def __init__(self, source: str, tool: Tool, config: Ros2Config, interface: str = "position") -> None:
        self.name, self.config, self.fault = f"ros2:{source}", config, ""
        self.arm = Arm.load(source, tool)
        self._names = list(config.joint_names or self.arm.joint_names)
        if len(self._names) != self.arm.n:
            raise InputError("ros2.joint_names", tuple(self._names), f"{self.arm.n} names, one per joint of {source}")
        self._by_velocity = interface == "velocity"
        self._joints = JointStates(self.arm, self._names, config.stale_s)
        self._wrench = Forces(1.0 if config.wrench_is == "on_robot" else -1.0, config.stale_s)
        self._following = Following(self._names, config.stale_s)
        self._unsent_since, self._written = math.inf, 0
        self._guard: Guard | None = None

    @property
    def command_topic(self) -> str:
        """The topic of the joint command."""
        return self.config.velocity if self._by_velocity else self.config.trajectory

    # -- the loop's side --

    def open(self) -> None:
        """Join the network and wait for the arm: joint states, a wrench, and a subscriber for commands."""
        config, topic = self.config, self._join()
        self._await_arm()
        if self._by_velocity:  # it would continue with the last velocity forever
            rests = [(topic.name, topic.message_type, bytes(self._stencil.fill(_NOTHING.data, 0)))]
            name = f"{config.node}_guard"
            self._guard = Guard(name, config.namespace, rests, config.stale_s, meets_s=config.wait_s)
            self._guard.start()

    def meet(self, say: Callable[[str], object]) -> None:
        """Report what is needed, wait for it, and leave again; raises if it does not arrive. Nothing is sent."""
        try:
            topics = [self._node_name(topic) for topic in (self.config.joint_states, self.config.wrench)]
            say(
                f"Waiting up to {self.config.wait_s:g} s (ros2.wait_s) for an arm in ROS 2 domain {domain_id()} "
                f"(ROS_DOMAIN_ID): joint states on {topics[0]}, a wrench on {topics[1]}, and a subscriber for joint "
                f"commands on {self._node_name(self.command_topic)}."
            )
            self._join()
            self._await_arm()
        finally:
            self.close()

    def _node_name(self, topic: str) -> str:
        return resolved(topic, f"{self.config.node}_driver", self.config.namespace)

    def _join(self) -> Any:
        """Appear in the network; returns the topic of the commands."""
        config = self.config
        # another node may publish what the loop does: two of one name would confuse the graph
        self._node = Node(f"{config.node}_driver", config.namespace).open()
        name = self._node.full_name(self.command_topic)
        topic = velocity_topic(name) if self._by_velocity else trajectory_topic(name, config.ahead_s)
        self._stencil = Stencil(topic, self._names, COMMAND)
        self._writer = self._node.writer(name, topic.message_type, wait_s=_SEND_WAIT_S, depth=1)
        how: dict[str, Any] = {"reliable": False, "largest": _LARGEST}
        self._states = self._node.reader(config.joint_states, JOINT_STATE, **how)
        self._forces = self._node.reader(config.wrench, WRENCH_STAMPED, **how)
        self._node.announce()
        return topic

    def _await_arm(self) -> None:
        """Wait until everything that the arm needs is there, all of it within ros2.wait_s."""
        config, deadline = self.config, time.monotonic() + self.config.wait_s
        states, forces = self._node.full_name(config.joint_states), self._node.full_name(config.wrench)
        command = self._node.full_name(self.command_topic)
        self._until(self._hear_joints, deadline, f"no joint states with {', '.join(self._names)} arrived on {states}")
        self._until(self._hear_wrench, deadline, f"no wrench arrived on {forces}")
        self._until(lambda: self._writer.listeners > 0, deadline, f"no subscriber for joint commands on {command}")

    def _until(self, happened: Callable[[], bool], deadline: float, complaint: str) -> None:
        while not happened():
            if self.fault:
                raise RejectedError(f"The arm over ROS 2 cannot be driven: {self.fault}.", field="robot")
            if time.monotonic() > deadline:
                raise RejectedError(
                    f"No arm answers over ROS 2: {complaint} within {self.config.wait_s:g} s (ros2.wait_s) in domain "
                    f"{domain_id()} (ROS_DOMAIN_ID). Check that its driver runs there, and that the names under ros2: "
                    "in the task match the driver's.",
                    field="robot",
                )
            time.sleep(_POLL_S)
            self._hear_joints()

    def read(self, reading: Any) -> None:
        """The newest joint states and wrench; a fault if no joint states arrive for ros2.stale_s."""
        r, n, joints, forces = reading[0], self.arm.n, self._joints, self._wrench
        now = time.monotonic()  # before reading: a pause of this process must not look like one of the arm
        if self._written:  # before the first command nothing has to be stopped, and a start takes a while
            self._beat()
        self._hear_joints()
        self._hear_wrench()
        age = now - joints.heard_s
        if age > self.config.stale_s and not self.fault:
            topic = self._node.full_name(self.config.joint_states)
            self.fault = f"no new joint states arrived on {topic} for {age:.2f} s (ros2.stale_s)"
        self.fault = self.fault or self._following.fault(joints.q)
        if self.fault:
            return
        r.q[:n], r.qd[:n], r.tau[:n] = joints.q, joints.qd, joints.tau
        r.stamp_s, r.wrench[:] = joints.stamp_s, forces.wrench
        r.wrench_stamp_s = forces.made_s(joints.stamp_s, self.config.stale_s) if forces.is_known else 0.0
        r.wrench_state = WRENCH_OK if forces.is_known else WRENCH_MISSING

    def write(self, command: Any) -> None:
        """Send the command. A command that cannot be sent is dropped; after ros2.stale_s it is a fault."""
        self._beat()
        if command[0].mode == IDLE:
            self._following.forget()
            return
        self._look()
        if self.fault:
            return
        self._following.tell(command[0].q)
        if self._writer.send(self._stencil.fill(command.view(np.uint8).data, 0)):
            self._unsent_since = math.inf
            return
        now = time.monotonic()
        self._unsent_since = min(self._unsent_since, now)
        if now - self._unsent_since > self.config.stale_s:
            self.fault = f"no command could be sent for {self.config.stale_s:g} s (ros2.stale_s)"

    def _look(self) -> None:
        """Whether there are still subscribers: a controller that comes back would get a command far from its arm."""
        if self._written % _LOOKS == 0 and not self._writer.listeners and not self.fault:
            topic = self._node.full_name(self.command_topic)
            self.fault = (
                f"the subscriber for joint commands on {topic} is gone. Check whether its controller still runs"
            )
        self._written += 1

    def _beat(self) -> None:
        """A heartbeat for the guard; a guard that has acted or exited is a fault."""
        if self._guard is not None and not self.fault:
            self.fault = _GUARDED[self._guard.beat()].format(max(self.config.stale_s, LEAST_S))

    def stop(self) -> None:
        """Send velocity zero; with the position interface the arm stops at the last position by itself.

        The guard is released once the arm has received it. Otherwise the guard stops the arm.
        """
        if not self._by_velocity or not hasattr(self, "_writer"):
            return
        taken = False
        with contextlib.suppress(Exception):
            taken = self._rest()
        if self._guard is not None:
            self._guard.release() if taken else self._guard.leave()

    def _rest(self) -> bool:
        """Send velocity zero; True once all subscribers have received it."""
        rest, deadline = self._stencil.fill(_NOTHING.data, 0), time.monotonic() + _STOP_S
        while not self._writer.send(rest):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return self._writer.flush(_STOP_S)

    def close(self) -> None:
        """Wait for the guard to finish, then leave the network."""
        if self._guard is not None:
            self._guard.wait()
        if hasattr(self, "_node"):
            self._node.close()

    # -- messages --

    def _hear_joints(self) -> bool:
        """Process joint states; True once plausible ones have arrived."""
        for message, publisher in self._states.told():
            self._joints.take(message, publisher)
        self._blame(self._joints.fault, self.config.joint_states)
        return self._joints.is_known and not self.fault

    def _hear_wrench(self) -> bool:
        """Process the newest wrench; True once a usable one has arrived."""
        for message, publisher in self._forces.told():
            self._wrench.take(message, publisher, self._joints.now_s)
        self._blame(self._wrench.fault, self.config.wrench)
        return self._wrench.is_known and not self.fault

    def _blame(self, words: str, topic: str) -> None:
        if words and not self.fault:
            self.fault = f"on {self._node.full_name(topic)} {words}"
