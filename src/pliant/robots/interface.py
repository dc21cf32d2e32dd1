"""What a robot driver must do: the contract between the control loop and an arm (see docs/robot-driver.md)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pliant import records
from pliant.errors import RejectedError
from pliant.model.arm import Arm


class Robot(ABC):
    """An arm that is read and commanded once per period. A driver is a subclass.

    The loop calls, in one thread of its own process: `open` once, then `read` and `write` in every period, and on every
    exit `stop`, then `close`. The constructor connects to nothing. Joint values are in rad, rad/s and N m (m, m/s and N
    for prismatic joints), in the order of `arm`; time is in seconds.
    """

    IDLE = records.IDLE
    """`command.mode`: no command in this period. The arm holds its position."""
    POSITION = records.POSITION
    """`command.mode`: go to `command.q`; `command.qd` is its velocity."""
    VELOCITY = records.VELOCITY
    """`command.mode`: move at `command.qd`; `command.q` is where that leads."""
    TORQUE = records.TORQUE
    """`command.mode`: apply `command.tau`, which carries the weight of arm and tool."""
    WRENCH_OK = records.WRENCH_OK
    """`reading.wrench_state`: the wrench is good."""
    WRENCH_MISSING = records.WRENCH_MISSING
    """`reading.wrench_state`: the sensor gave no reading."""
    WRENCH_SATURATED = records.WRENCH_SATURATED
    """`reading.wrench_state`: the sensor is at the end of its range."""

    name: str
    """Name of the robot in messages: its address, such as ``ur:192.168.0.3``."""
    arm: Arm
    """Model of the arm, with the tool of the task: ``Arm.load(model, task.tool)``."""
    interfaces: tuple[str, ...]
    """Which commands `write` carries out: one or more of ``position``, ``velocity`` and ``torque``."""
    fault: str = ""
    """Why the robot stopped or can no longer be reached: one sentence without a full stop, "" if all is well.

    Once set it stays set. The loop ends at the next period, and does not call `write` again.
    """

    @abstractmethod
    def open(self) -> None:
        """Connect, check that this is the robot of the task and that it is ready, and arm its watchdog.

        Nothing moves. A robot that cannot be used raises an error that says what to do. Returns when `read` works.
        """

    @abstractmethod
    def read(self, reading: Any) -> None:
        """Fill ``reading[0]`` with the newest state; see the record Reading in the reference.

        Returns at once: if nothing new has arrived, the last state stays, with its old stamps. Does not raise; a lost
        connection sets `fault`. The wrench is what the environment does to the robot, tool weight included, in the
        sensor frame. Stamps are in seconds on one clock, which is that of the robot.
        """

    @abstractmethod
    def write(self, command: Any) -> None:
        """Carry out ``command[0]`` for one period, in its ``mode``; see the record Command in the reference.

        Returns at once. Does not raise; a lost connection sets `fault`. The first ``arm.n`` entries are used.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stop the arm: brake and hold. Returns within a few seconds, whether or not the robot answers.

        It is called on every exit, also without `open`, after a fault, and more than once. Must not raise.
        """

    @abstractmethod
    def close(self) -> None:
        """Disconnect, after `stop`. Does not wait for a robot that does not answer. Must not raise."""

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the tool with `wrench` [N, N m] in the base frame for `for_s` seconds; only simulated robots can."""
        raise no_push(self.name)


def no_push(robot: str) -> RejectedError:
    """The error for a push on a robot that is not simulated."""
    return RejectedError(f"Only a simulated arm can be pushed, not {robot}. Use a virtual push instead.")
