"""Why the controller stopped the robot, in words with values: from the record of the tick that found the fault."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.axes import turn
from pliant.control.guard_words import guard_words
from pliant.control.laws.law import Law
from pliant.control.laws.registry import law_of
from pliant.control.limits.cuts import ACCELERATION, TOOL_ACCELERATION, TORQUE
from pliant.params.plugin_kernels import raised_in
from pliant.records import (
    FAULT_COMMAND,
    FAULT_LAW,
    FAULT_POSE_ERROR,
    FAULT_SENSOR,
    FAULT_STARVED,
    FAULTS,
    LIMITS,
    TROUBLES,
    WRENCH_FROZEN,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_RANGE,
    WRENCH_SATURATED,
    WRENCH_STALE,
)
from pliant.spatial import pose_error


def fault_words(state: Any, goal: Any, reading: Any, parameters: Any) -> str:
    """The reason of the fault in a `state`, without a full stop; "" if there is none.

    `goal`, `reading` and `parameters` are those of the same tick.
    """
    number = int(state["fault"])
    if number in (FAULT_LAW, FAULT_COMMAND) and state["law"] and (law := law_of(state["law"])).is_own:
        return f"the law {law.name} {_raised(law) if number == FAULT_LAW else _NOT_FINITE}"
    if number == FAULT_COMMAND and (where := _not_a_number(goal)):
        return f"{where}. Write only finite numbers into the goal"
    if number == FAULT_POSE_ERROR:
        return _pose_error(state, goal, parameters)
    if number == FAULT_STARVED:
        longest = float(parameters["limits"]["starved_fault_s"])
        return (
            f"{_starved(state)}, longer than limits.starved_fault_s ({longest:g} s). {_FEED[int(state['starved_by'])]}"
        )
    if (trouble := number - FAULT_SENSOR) in TROUBLES:
        return _sensor(trouble, state, reading, parameters["sense"])
    return guard_words(number, state, parameters) or FAULTS.get(number, f"fault {number}" if number else "")


def starved_warning(records: np.ndarray[Any, Any], warn_s: float) -> str:
    """A sentence on the first limit that starved the law for `warn_s` in these telemetry records; "" if none did."""
    late = np.flatnonzero(records["state"]["starved_s"] >= warn_s)
    if not len(late):
        return ""
    record = records[late[0]]
    remedy = _FEED[int(record["state"]["starved_by"])]
    return f"at {float(record['time_s']):.2f} s {_starved(record['state'])}. {remedy}."


def _starved(state: Any) -> str:
    """Which limit starved the law, how much it left, and for how long."""
    name, law = LIMITS[1 << int(state["starved_by"])], law_of(state["law"]).name
    return (
        f"the {name} limit cut the command of the law {law} to {float(state['starved_left']):.0%}, and the error did "
        f"not shrink for {float(state['starved_s']):.2g} s"
    )


def _pose_error(state: Any, goal: Any, parameters: Any) -> str:
    pose, error = np.array(state["pose"]), np.zeros(6)
    pose_error(pose, np.array(goal["pose"]), error)
    law = law_of(state["law"])
    if law.matrices is not None:  # the spring's axes; directions without a spring do not count
        if parameters[law.section]["frame"] == 1:
            turn(pose, error, True)
        error[np.array(parameters[law.matrices[0]]["free"]) != 0] = 0.0
    limits = parameters["limits"]
    most_m, most_rad = float(limits["pose_error_m"]), float(limits["pose_error_rad"])
    far, turned = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
    remedy = "Move the goal in smaller steps, or raise the limit"
    # the tool has moved a little since the limit was exceeded, so the larger share counts
    if far / most_m >= turned / most_rad:
        limit = f"limits.pose_error_m ({most_m:g} m)"
        return f"the tool was {far:.3g} m from its goal, more than {limit}. {remedy}"
    return (
        f"the tool was turned by {turned:.3g} rad from its goal, more than limits.pose_error_rad "
        f"({most_rad:g} rad). {remedy}"
    )


def _not_a_number(goal: Any) -> str:
    """The first number of a goal that is not finite, with its name; "" if all are."""
    for name in goal.dtype.names:
        values = np.atleast_1d(np.asarray(goal[name]))
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            at = int(np.flatnonzero(~np.isfinite(values.ravel()))[0])
            place = f"goal.{name}[{at}]" if values.size > 1 else f"goal.{name}"
            return f"{place} is {values.ravel()[at]:g}"
    return ""


def _raised(law: Law) -> str:
    """What a law of a user may have raised. Compiled code only reports that there was an error, so its source tells."""
    outside = getattr(law.step, "outside", None)
    raised = " or ".join(raised_in(outside.function)) if outside is not None else ""
    state = ", or set a state that is not declared" if law.takes_commands else ""
    if not raised:
        return f"used an index outside an array{state}. Check the indices in its step"
    return f"raised {raised}, or used an index outside an array{state}. Check its step"


_NOT_FINITE = (
    "returned a command that is not finite. Check its step for divisions by zero and for values that grow without bound"
)
_SOFTER = "lower the stiffness or raise the virtual mass"
_FEED = {
    ACCELERATION: f"If the arm allows it, raise limits.joint_acceleration_rad_s2 or acceleration_scale; else {_SOFTER}",
    TORQUE: "Lower the stiffness or the load, or check the torque limits of the robot description",
    TOOL_ACCELERATION: f"Raise limits.linear_acceleration_m_s2 or limits.angular_acceleration_rad_s2; or {_SOFTER}",
}
_LOAD = "Check tool.mass_kg and what touches the tool"
_CABLE = "Check its cable and power"


def _sensor(trouble: int, state: Any, reading: Any, sense: Any) -> str:
    """What was wrong with the force sensor: the value, the limit that was exceeded, and what to do."""
    force, moment = (float(np.abs(part).max()) for part in (reading["wrench"][:3], reading["wrench"][3:]))
    held = f"for longer than sense.hold_s ({float(sense['hold_s']):g} s)"
    age_s = float(reading["stamp_s"] - reading["wrench_stamp_s"])
    by_moment = moment > float(sense["range_nm"])
    read, name, unit = (moment, "range_nm", "N m") if by_moment else (force, "range_n", "N")
    words = {
        WRENCH_MISSING: f"gave no reading {held}. {_CABLE}",
        WRENCH_SATURATED: f"reported saturation {held}, while it read up to {force:.4g} N and {moment:.4g} N m. Check "
        "the range of the sensor, tool.mass_kg and what touches the tool",
        WRENCH_NAN: f"gave values that are not finite {held}. {_CABLE}, and its driver",
        WRENCH_RANGE: f"read {read:.4g} {unit}, more than sense.{name} ({float(sense[name]):g} {unit}). {_LOAD}",
        WRENCH_STALE: f"gave readings {age_s:.3g} s old, older than sense.stale_s ({float(sense['stale_s']):g} s). "
        "Check its rate and the network",
        WRENCH_FROZEN: f"gave the same reading for {float(state['same_s']):.3g} s, longer than sense.frozen_s "
        f"({float(sense['frozen_s']):g} s). {_CABLE}. Set sense.frozen_s to 0 only for a sensor without noise",
    }
    return f"the force sensor {words[trouble]}"
