"""What can be asked of a running loop, and how each request changes the goal.

Requests never touch the controller's state: they change the goal, which is an input of the tick and is recorded with it.
"""

from __future__ import annotations

from typing import Any

from pliant.laws import LAWS

QUIT, LAW, GOAL_Q, GOAL_POSE, GOAL_TWIST, GOAL_WRENCH, HALT, RESUME, PUSH = range(1, 10)


def apply(item: Any, goal: Any, robot: Any, n: int) -> bool:
    """Carry out one request on the goal record (or, for a push, on the simulated robot); False ends the loop."""
    code, values = int(item.code), item["values"]
    if code == QUIT:
        return False
    if code == LAW:
        if int(item.number) in LAWS.values():
            goal.law = item.number
    elif code == GOAL_Q:
        goal.q[:n] = values[:n]
    elif code == GOAL_POSE:
        goal.pose[:] = values[:7]
    elif code == GOAL_TWIST:
        goal.twist[:] = values[:6]
    elif code == GOAL_WRENCH:
        goal.wrench[:] = values[:6]
    elif code in (HALT, RESUME):
        goal.stop = int(code == HALT)
    elif code == PUSH:
        robot.push(values[:6], float(values[6]))
    return True
