"""The built-in arms, and how a name or a file becomes a design."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import InputError, RejectedError, UnknownNameError
from pliant.model.design import Design
from pliant.model.from_file.files import file_design, is_robot_file
from pliant.model.two_link import NAME as TWO_LINK
from pliant.model.two_link import two_link_design
from pliant.model.ur import ur_design, ur_names


def available_models() -> tuple[str, ...]:
    """The names of the built-in arms."""
    return (*ur_names(), TWO_LINK)


def design(name_or_path: str | Path, *, flange: str | None = None, visual: bool = False) -> Design:
    """The design of a built-in arm, or of the arm in an MJCF or URDF file.

    With a file, `flange` names the site or link that carries the tool; ``file#flange`` is the short form.
    """
    if not isinstance(name_or_path, str | Path) or not str(name_or_path):
        raise InputError("the arm", name_or_path, "the name of a built-in arm, or the path of a URDF or MJCF file")
    name = str(name_or_path)
    if flange is None and "#" in name and not is_robot_file(Path(name)):
        name, _, flange = name.rpartition("#")
        name_or_path = name
    if flange is not None and name in available_models():
        raise RejectedError(
            f"{name}#{flange} is rejected: #{flange} selects the flange of a robot file, and {name} is a built-in arm. "
            f"Leave out #{flange}.",
            field="robot",
            value=f"{name}#{flange}",
        )
    if name in ur_names():
        return ur_design(name, visual=visual)
    if name == TWO_LINK:
        return two_link_design(visual=visual)
    if isinstance(name_or_path, Path) or Path(name).suffix or "/" in name:
        return file_design(name_or_path, flange=flange, visual=visual)
    file = "A URDF or MJCF file works too: my_arm.urdf (as a robot: sim:my_arm.urdf)."
    raise UnknownNameError("arm", name, available_models(), hint=file)
