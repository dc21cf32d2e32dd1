"""Robots from outside the package: a driver file that a task names (``robot: my_driver.py:HOST``), or a package.

A driver file runs with the rights of the process that loads it, like any Python module. So it is loaded only by the
task that names it, never from a recording: what a recording needs, the arm's model, is noted in the task.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pliant.errors import RejectedError
from pliant.params.declare import Section, param, validated
from pliant.params.outside_files import is_regular
from pliant.params.plugin_files import found_file, is_file, load_file, no_such_file
from pliant.robots.robot_kind import RobotKind
from pliant.robots.robot_registry import KINDS, OBJECT, PLIANT_KINDS, checked_kind, kind_of, names
from pliant.robots.supervised import driver_errors


class OwnRobot(Section):
    """A robot whose driver is not part of Pliant, as named in a task; empty for Pliant's own robots."""

    address: str = param("", help="Address of the robot that this describes.")
    file: str = param("", help='File of its driver; "" for a driver from an installed package.')
    digest: str = param("", help="SHA-256 of the file; a file that has changed since is rejected.")
    model: str = param("", help="Built-in model, or URDF or MJCF file, of its arm.")


def with_own_robot(data: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The content of a task in which a robot from outside Pliant is loaded and described.

    One that is described already, as in a recording or in the loop's process, is not loaded.
    """
    address = data.get("robot", "")
    kind, _, which = address.partition(":") if isinstance(address, str) else ("", "", "")
    if not which or kind in PLIANT_KINDS:
        return {**data, "own_robot": OwnRobot()} if data.get("own_robot") else data
    given = data.get("own_robot") or {}
    own = given if isinstance(given, OwnRobot) else validated(OwnRobot, given)
    if own.address != address:
        if not is_file(kind) and kind not in names():
            return {**data, "own_robot": OwnRobot()}  # an unknown kind is reported when the robot is needed
        own = _described(kind, which, folder)
    return {**data, "robot": own.address, "own_robot": own}


def loaded_kind(address: str, own: OwnRobot) -> tuple[RobotKind, str]:
    """The kind that `address` names; the driver file of a task that is about to run is loaded and compared."""
    if own.file and own.address == address:
        _load(Path(own.file), own.digest)
    return kind_of(address)


def _described(name: str, which: str, folder: Path | None) -> OwnRobot:
    """Load the kind and note what has to be known without it."""
    file = digest = ""
    if is_file(name):
        if (path := found_file(name, folder)) is None:
            remedy = f"Give an existing file with a driver, or another kind of robot: {', '.join(names())}."
            raise no_such_file("robot", f"{name}:{which}", name, folder, remedy)
        name = file = str(path)
        digest = _load(path)
    address = f"{name}:{which}"
    kind, which = kind_of(address)
    with driver_errors(address):
        return OwnRobot(address=address, file=file, digest=digest, model=str(kind.model(which)))


def _load(path: Path, digest: str = "") -> str:
    """Register the kind in a driver file under its path; returns the digest of the file."""
    if not is_regular(path):
        raise RejectedError(f"The driver {path} no longer exists.", field="robot", value=str(path))
    module, found = load_file(path, "driver", digest)
    KINDS[str(path)] = checked_kind(getattr(module, OBJECT, None), path.name)
    return found
