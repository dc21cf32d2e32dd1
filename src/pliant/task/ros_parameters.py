"""Parameter files of ROS 2 admittance controllers (``ros__parameters``), read as a task.

The names are those of ur_admittance_controller. Parameters with a different form here are converted, and a note reports
each conversion: a filter coefficient becomes a cut-off frequency at the loop's rate, a motion threshold becomes a
deadband, and a drift threshold is not needed, because the law does not drift.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.errors import InputError, UnknownNameError

_ADMITTANCE = {
    "mass", "stiffness", "damping_ratio", "enabled_axes", "min_motion_threshold", "filter_coefficient",
    "drift_reset_threshold",
}  # fmt: skip
_TOP = {"admittance", "max_linear_velocity", "max_angular_velocity", "dynamic_parameters"}
# Names of frames, joints and topics: they come from the robot model.
_NOT_NEEDED = {
    "joints", "base_link", "tip_link", "tool_link", "ft_frame", "ft_sensor_name", "world_frame", "control_rate",
    "robot_description", "use_sim_time",
}  # fmt: skip


def is_ros_file(data: Any) -> bool:
    """Whether a YAML document is a parameter file of a ROS 2 node."""
    return isinstance(data, dict) and any(isinstance(v, dict) and "ros__parameters" in v for v in data.values())


def cutoff_hz(coefficient: float, rate_hz: float) -> float:
    """The -3 dB frequency of y⁺ = α u + (1 - α) y at a sampling rate: cos ω = 1 - α²/(2 (1 - α))."""
    if coefficient >= 2.0 * (math.sqrt(2.0) - 1.0):
        return rate_hz / 2.0  # it never reaches -3 dB
    return math.acos(1.0 - coefficient**2 / (2.0 * (1.0 - coefficient))) * rate_hz / (2.0 * math.pi)


def to_task(data: dict[str, Any], rate_hz: float = 500.0) -> dict[str, Any]:
    """A task (as plain data) from a ROS 2 parameter file; `notes` lists what was converted or left out."""
    node = next(v for v in data.values() if isinstance(v, dict) and "ros__parameters" in v)["ros__parameters"]
    node = _mapping("ros__parameters", node)
    _known("parameter", node, _TOP | _NOT_NEEDED)
    notes = [f"{name} is not needed: it comes from the robot model." for name in node if name in _NOT_NEEDED]
    given = _mapping("admittance", node.get("admittance"))
    _known("admittance parameter", given, _ADMITTANCE)
    admittance: dict[str, Any] = {
        ours: given[theirs]
        for theirs, ours in (("mass", "mass"), ("damping_ratio", "damping_ratio"), ("enabled_axes", "axes"))
        if theirs in given
    }
    admittance["stiffness"] = given.get("stiffness", [0.0] * 6)
    sense: dict[str, Any] = {}
    if "min_motion_threshold" in given:
        threshold = _number("min_motion_threshold", given["min_motion_threshold"], 0.0, 50.0)
        sense["deadband_n"], sense["deadband_nm"] = threshold, 0.1 * threshold
        notes.append(
            f"min_motion_threshold {threshold:g} becomes a deadband of {threshold:g} N and {0.1 * threshold:g} N m. "
            "A deadband is subtracted; it does not switch motion off."
        )
    if "filter_coefficient" in given:
        alpha = _number("filter_coefficient", given["filter_coefficient"], 0.0, 1.0)
        sense["cutoff_hz"] = max(0.1, cutoff_hz(alpha, rate_hz))
        notes.append(
            f"filter_coefficient {alpha:g} becomes a cut-off of {sense['cutoff_hz']:.1f} Hz at {rate_hz:g} Hz."
        )
    if "drift_reset_threshold" in given:
        notes.append("drift_reset_threshold is not needed: the law does not drift, and needs no hidden friction.")
    limits = {}
    for theirs, ours in (("max_linear_velocity", "linear_speed_m_s"), ("max_angular_velocity", "angular_speed_rad_s")):
        if theirs in node:
            limits[ours] = node[theirs]
    if "dynamic_parameters" in node:
        notes.append("dynamic_parameters is not needed: live parameters can always be changed.")
    params = {"admittance": admittance, "sense": sense, "limits": limits}
    return {"law": "admittance", "rate_hz": rate_hz, "params": params, "notes": notes}


def _mapping(name: str, value: Any) -> dict[str, Any]:
    """A section of the file; empty if the file has no such section."""
    if value is not None and not isinstance(value, dict):
        raise InputError(name, value, "a mapping of names to values")
    return dict(value or {})


def _known(kind: str, given: Any, names: set[str]) -> None:
    for name in given:
        if name not in names:
            raise UnknownNameError(kind, str(name), names)


def _number(name: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(name, value, f"a number from {low:g} to {high:g}")
    return float(value)
