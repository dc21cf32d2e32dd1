"""The kinds of robots by name: Pliant's own, those of installed packages, and those of driver files that were loaded.

An address is ``kind:which``. The kind is a name, or the file of a driver: ``my_driver.py:HOST``.
"""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pliant.errors import RejectedError, UnknownNameError, nearest
from pliant.model.catalogue import available_models
from pliant.params.plugin_files import is_file
from pliant.robots.interface import Robot
from pliant.robots.robot_kind import RobotKind
from pliant.robots.ros2_arm.ros2_kind import Ros2Kind
from pliant.robots.sim_kind import SimKind
from pliant.robots.ur.ur_kind import UrKind

GROUP = "pliant.robots"
"""The entry-point group of packages that bring kinds of robots."""

OBJECT = "ROBOT"
"""What a driver file calls its kind."""

KINDS: dict[str, RobotKind] = {kind.name: kind for kind in (SimKind(), UrKind(), Ros2Kind())}
"""Every kind that is loaded, by its name; one from a file by its path."""

PLIANT_KINDS = tuple(KINDS)
"""The names of Pliant's own kinds."""

# A host that stands alone: an IPv4 address, or a name with dots.
_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_EXAMPLES = {"sim": "sim:ur5e", "ur": "ur:192.168.0.10", "ros2": "ros2:ur5e"}
_OWN_FILE = "A driver of your own is a file: my_driver.py:HOST."


def kind_of(address: str) -> tuple[RobotKind, str]:
    """The kind that an address names, and what follows its colon; that of a package is loaded, no file ever is.

    An address of another form, or an unknown kind, raises an error that lists the known ones.
    """
    name, colon, which = address.partition(":")
    if not colon or not which:
        raise RejectedError(_malformed(address, name, bool(colon)), field="robot", value=address)
    if name in KINDS:
        return KINDS[name], which
    if is_file(name):
        return _NotLoaded(name), which
    points = installed()
    if name not in points:
        raise UnknownNameError("kind of robot", name, names(), hint=_OWN_FILE)
    KINDS[name] = _from_package(points[name])
    return KINDS[name], which


def _malformed(address: str, name: str, has_colon: bool) -> str:
    """What is wrong with an address that has no kind, or nothing behind it, and what was probably meant."""
    if has_colon and name in _EXAMPLES:
        what = "host" if name == "ur" else "model"
        return f"robot is {address!r}: the {what} is missing, as in {_EXAMPLES[name]}."
    near = nearest(name, available_models())
    meant = f"sim:{near}" if near else f"ur:{name}" if _HOST.fullmatch(name) else _EXAMPLES.get(name, "")
    hint = f" Did you mean {meant}?" if meant and not has_colon else ""
    return f"robot is {address!r}, but it must be kind:name, such as {', '.join(_EXAMPLES.values())}.{hint} {_OWN_FILE}"


def names() -> tuple[str, ...]:
    """The names of all kinds, those of installed packages included."""
    return *(name for name in KINDS if not is_file(name)), *(name for name in installed() if name not in KINDS)


def installed() -> dict[str, EntryPoint]:
    """The kinds that installed packages bring."""
    return {point.name: point for point in entry_points(group=GROUP)}


def checked_kind(found: Any, where: str) -> RobotKind:
    """`found`, if it describes a kind of robot; `where` it is appears in the message."""
    if not isinstance(found, RobotKind) or not getattr(found, "name", "") or not getattr(found, "help", ""):
        raise RejectedError(
            f"{where} defines no robot. Set {OBJECT} to an instance of a pliant.RobotKind subclass that has a name and "
            "help.",
            field="robot",
            value=where,
        )
    return found


def _from_package(point: EntryPoint) -> RobotKind:
    try:
        found = point.load()
    except Exception as error:
        raise RejectedError(
            f"The kind of robot {point.name} cannot be loaded from {point.value}: {type(error).__name__}: {error}.",
            field="robot",
            value=point.name,
        ) from None
    return checked_kind(found, f"{point.value} (entry point {point.name})")


class _NotLoaded(RobotKind):
    """A driver file that no task has loaded in this process, as in a recording."""

    def __init__(self, file: str) -> None:
        self.name, self.help = file, "a driver file"

    def model(self, which: str) -> str:
        raise self._error()

    def make(self, which: str, task: Any) -> Robot:
        raise self._error()

    def _error(self) -> RejectedError:
        return RejectedError(
            f"The driver {Path(self.name).name} is not loaded: only the task that names it loads it.",
            field="robot",
            value=self.name,
        )
