"""What the guard found, in words: the value, its limit and the remedy."""

from __future__ import annotations

from typing import Any

from pliant.records import (
    FAULT_DEVIATION,
    FAULT_DISAGREE,
    FAULT_FORCE,
    FAULT_JOINT_SPEED,
    FAULT_JUMP,
    FAULT_OUTPUT,
    FAULT_RANGE,
    FAULT_STALE,
    FAULT_STAMP,
    FAULT_TOOL_SPEED,
    FAULT_WORKSPACE,
)

_DRIVER = "Check the robot's driver, its units and the order of its joints"
_LINE = "Check the cable, the network and whether this computer is overloaded"


def guard_words(fault: int, state: Any, parameters: Any) -> str:
    """The reason of a fault of the guard, without a full stop; "" if it is none of these, or not known any more."""
    found, guard = state["guard"], parameters["guard"]
    if int(found["fault"]) != fault:
        return ""
    place, value, limit = int(found["place"]), float(found["value"]), float(found["limit"])
    size, joint = abs(value), f"joint {place + 1}"
    words = {
        FAULT_STAMP: f"the time stamp of a joint reading was {value:.6g} s after {limit:.6g} s. Stamps must be finite "
        "and must not go backwards. Check the robot's driver and its clock",
        FAULT_RANGE: f"{joint} was reported at {value:.4g} rad, outside its range by more than guard.range_margin_rad "
        f"({float(guard['range_margin_rad']):g} rad; the range ends at {limit:.4g} rad). {_DRIVER}",
        FAULT_JUMP: f"the position of {joint} jumped by {size:.3g} rad between two readings, more than its speed "
        f"explains (guard.jump_rad: {float(guard['jump_rad']):g} rad). Check its encoder and the robot's driver",
        FAULT_DISAGREE: f"positions and speeds reported for {joint} disagree by {size:.3g} rad, more than "
        f"guard.disagreement_rad ({limit:g} rad). {_DRIVER}",
        FAULT_STALE: f"the joint readings were {value:.3g} s old, older than guard.stale_s ({limit:g} s). {_LINE}",
        FAULT_JOINT_SPEED: f"{joint} was measured at {size:.3g} rad/s, more than guard.joint_speed_share "
        f"({float(guard['joint_speed_share']):g}) of its speed limit allows ({limit:.3g} rad/s). Find what drove it",
        FAULT_TOOL_SPEED: _tool_speed(place, value, limit, guard),
        FAULT_FORCE: f"the {'moment' if place else 'force'} on the tool was {value:.3g} {'N m' if place else 'N'} for "
        f"longer than sense.hold_s, more than guard.{'moment_nm' if place else 'force_n'} ({limit:g}). Find what "
        "pressed the tool, and check tool.mass_kg",
        FAULT_WORKSPACE: f"the tool was measured at {'xyz'[min(place, 2)]} = {value:.3g} m, outside its workspace by "
        f"more than guard.workspace_margin_m ({float(guard['workspace_margin_m']):g} m; the workspace ends at "
        f"{limit:.3g} m). Find what pushed it, or enlarge the workspace",
        FAULT_DEVIATION: f"{joint} does not follow: it was {value:.3g} rad from its command, more than its lag and "
        f"guard.deviation_rad ({limit:g} rad) explain. Check what holds or pushes the arm, and whether its controller "
        "is active",
        FAULT_OUTPUT: f"a command of {value:.4g} for {joint} was beyond what the robot can do ({limit:.4g}), and was "
        "not sent. Report this with the recording: the limits should have prevented it",
    }
    return words.get(fault, "")


def _tool_speed(turns: int, value: float, limit: float, guard: Any) -> str:
    name, unit = ("angular_speed_rad_s", "rad/s") if turns else ("linear_speed_m_s", "m/s")
    share = "tool_turn_share" if turns else "tool_speed_share"
    return (
        f"the tool was measured at {value:.3g} {unit}, faster than guard.{share} ({float(guard[share]):g}) of "
        f"limits.{name} allows ({limit:.3g} {unit}). Find what pushed it, and check the force sensor for an offset"
    )
