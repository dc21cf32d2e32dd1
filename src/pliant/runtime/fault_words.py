"""Why the controller stopped the robot, in words with values: from the record of the tick that found the fault."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.laws import LAWS
from pliant.records import FAULT_POSE_ERROR, FAULT_SENSOR, FAULTS, WRENCH_RANGE, WRENCH_SATURATED
from pliant.runtime.axes import turn
from pliant.spatial import pose_error


def fault_words(state: Any, goal: Any, reading: Any, parameters: Any) -> str:
    """The reason of the fault in a `state`, without a full stop; "" if there is none.

    `goal`, `reading` and `parameters` are those of the same tick.
    """
    number = int(state["fault"])
    if number == FAULT_POSE_ERROR:
        return _pose_error(state, goal, parameters) or FAULTS[number]
    if number in (FAULT_SENSOR + WRENCH_SATURATED, FAULT_SENSOR + WRENCH_RANGE):
        return _overloaded(number, reading, parameters["sense"])
    return FAULTS.get(number, f"fault {number}" if number else "")


def first_fault(records: np.ndarray[Any, Any], parameters: Any) -> str:
    """The reason of the first fault in these telemetry records; "" if there is none."""
    faulty = np.flatnonzero(records["state"]["fault"])
    if not len(faulty):
        return ""
    record = records[faulty[0]]
    return fault_words(record["state"], record["goal"], record["reading"], parameters)


def _pose_error(state: Any, goal: Any, parameters: Any) -> str:
    if int(state["law"]) != LAWS["admittance"]:
        return ""
    pose, error = np.array(state["pose"]), np.zeros(6)
    pose_error(pose, np.array(goal["pose"]), error)
    if parameters["admittance"]["frame"] == 1:
        turn(pose, error, True)
    error[np.array(parameters["gains"]["free"]) != 0] = 0.0
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


def _overloaded(number: int, reading: Any, sense: Any) -> str:
    force, moment = (float(np.abs(part).max()) for part in (reading["wrench"][:3], reading["wrench"][3:]))
    most_n, most_nm = float(sense["range_n"]), float(sense["range_nm"])
    return (
        f"{FAULTS[number]}. It read up to {force:.4g} N and {moment:.4g} N m; sense.range_n is {most_n:g} N and "
        f"sense.range_nm is {most_nm:g} N m. Check tool.mass_kg and what touches the tool"
    )
