"""A kind of robot: what the address ``kind:which`` means, and how its driver is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.robots.interface import Robot


class RobotKind(ABC):
    """A kind of robot, such as ``ur``: everything that Pliant has to know before a driver is connected.

    A driver file defines ``ROBOT``, an object of a subclass; a package names that object in an entry point of the group
    ``pliant.robots``. `which` is what follows the colon of an address. Import the driver's packages in
    `check_installed`, `reach` and `make`, not at module level.
    """

    name: str
    """The kind in an address: ``my_robot`` in ``my_robot:HOST``."""
    help: str
    """What it is and how it is addressed, in one line: it appears in messages."""
    is_simulated: bool = False
    """Whether `write` advances the robot by one period, so that it may run faster than the clock and can be pushed."""
    moves_hardware: bool = True
    """Whether something real moves: if so, the user is asked before it starts."""
    takes_model: bool = False
    """Whether `which` is an arm model, so that ``--robot KIND`` alone means the task's arm."""
    is_on_ros2: bool = False
    """Whether joint states, wrench and command are on ROS 2 topics already, so that ``--ros2`` leaves them out."""

    @abstractmethod
    def model(self, which: str) -> str:
        """The built-in model or the URDF or MJCF file of the arm; raises `InputError` if `which` is malformed."""

    @abstractmethod
    def make(self, which: str, task: Any) -> Robot:
        """A driver for this `Task`, not yet connected; raises if the task asks for what the robot cannot do."""

    def check_installed(self) -> None:  # noqa: B027 (most drivers need nothing)
        """Raise `PliantError` with the command that installs it if a package is missing."""

    def reach(self, which: str, robot: Robot, task: Any, say: Callable[[str], object]) -> None:  # noqa: B027
        """Raise if no robot answers, or not the arm of the task; nothing moves. A wait is reported to `say`.

        Called before the user is asked whether the robot may move. `robot` is the driver, not yet connected.
        """

    def crash_words(self, which: str) -> str:
        """The likely reason, as the end of a sentence, if the driver crashes the loop's process; "" if not known."""
        return ""

    def located(self, which: str, folder: Path | None) -> str:
        """`which` with the full path of a file that it names, sought in `folder`, then in the working folder."""
        return which
