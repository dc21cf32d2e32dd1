"""Requests to a running controller, and how each of them changes the goal.

Requests never touch the controller's state: they change the goal, an input of the tick that is recorded with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pliant.control.laws.law import Law
from pliant.control.laws.law_commands import EARLIER, Commands
from pliant.control.laws.registry import LAWS
from pliant.loop.board_layout import QUEUE_SLOTS
from pliant.task.schema import Event

(
    QUIT, LAW, GOAL_Q, GOAL_POSE, GOAL_TWIST, GOAL_WRENCH, HALT, RESUME, PUSH, GOAL_ACCEL, VIRTUAL_PUSH,
    COMMAND, END_VIRTUAL_PUSH, PROTECTING_COMMAND,
) = range(1, 15)  # fmt: skip


# With a change of law: it may take over from a contact that presses, without lifting off (see `goal.pressed`).
PRESSED = 1.0


# Slots of the queue that are kept for what stops a robot; of these the last ones for what ends its loop.
_KEPT, _LAST = 16, 4


def room(code: int) -> int:
    """How many requests may wait before one like this is rejected."""
    if code == QUIT:
        return QUEUE_SLOTS
    return QUEUE_SLOTS - (_LAST if code in (HALT, PROTECTING_COMMAND) else _KEPT)


class Request(NamedTuple):
    """One request: its code and its numbers."""

    code: int
    number: int = 0
    values: Any = ()


def command(name: str, law: Law) -> Request:
    """The request that sends a command to a law that takes it; with its number, because others may listen by then."""
    assert law.commands is not None
    number = law.commands.numbers[name]
    return Request(PROTECTING_COMMAND if law.commands.rank(number) else COMMAND, number, (float(law.number),))


def apply(
    request: Request, goal: Any, robot: Any, n: int, listening: Law | None = None, heard: int | None = None
) -> None:
    """Carry out one request on the goal record (or, for a push, on the simulated robot).

    `listening` is the law that hears commands, and `heard` is how many it has read: see `_command`.
    """
    code, number, values = request
    if code == LAW and any(law.number == number for law in LAWS.values()):
        goal.law, goal.pressed = number, int(len(values) > 0 and values[0] == PRESSED)
    elif code == GOAL_Q:
        goal.q[:n] = values[:n]
    elif code == GOAL_POSE:
        goal.pose[:] = values[:7]
        goal.twist[:], goal.accel[:], goal.motion_s = 0.0, 0.0, 0.0
    elif code == GOAL_TWIST:
        goal.twist[:], goal.motion_s = values[:6], values[6]
    elif code == GOAL_ACCEL:
        goal.accel[:], goal.motion_s = values[:6], max(goal.motion_s, values[6])
    elif code == GOAL_WRENCH:
        goal.wrench[:] = values[:6]
    elif code == VIRTUAL_PUSH:
        goal.push[:] = values[:6]
    elif code == END_VIRTUAL_PUSH:
        if (goal.push == values[:6]).all():  # another one goes on
            goal.push[:] = 0.0
    elif code in (HALT, RESUME):
        goal.stop = int(code == HALT)
    elif code in (COMMAND, PROTECTING_COMMAND) and listening is not None and listening.commands is not None:
        if listening.number == values[0] and number in listening.commands.numbers.values():
            _command(number, goal, listening.commands, heard)
    elif code == PUSH:
        robot.push(values[:6], float(values[6]))


def _command(number: int, goal: Any, commands: Commands, heard: int | None) -> None:
    """Send a command to a law. Unread commands come first; one that protects replaces them and stays."""
    waiting = int(goal.command) if heard is not None and goal.commands != heard else 0
    rank = commands.rank(number)
    if waiting and (unread := commands.rank(waiting)) and rank <= unread:
        return  # what protects comes before what is asked later
    if rank or not waiting:
        goal.earlier = 0
    else:
        goal.earlier = (int(goal.earlier) << 8 | int(waiting)) & ((1 << 8 * EARLIER) - 1)
    goal.command = number
    goal.commands += 1


def requests_of(event: Event, start_pose: Any, law: Law) -> Iterator[Request]:
    """The requests that a scripted event makes; `law` is the one that runs from then on."""
    if event.law:
        yield Request(LAW, LAWS[event.law].number)
    if event.goal_q:
        yield Request(GOAL_Q, 0, event.goal_q)
    if event.goal_offset_m:
        pose = start_pose.copy()
        pose[:3] += event.goal_offset_m
        yield Request(GOAL_POSE, 0, pose)
    if event.wrench_goal is not None:
        yield Request(GOAL_WRENCH, 0, event.wrench_goal)
    if event.virtual_push is not None:
        yield Request(VIRTUAL_PUSH, 0, event.virtual_push)
    if event.command:
        yield command(event.command, law)
    if event.stop:
        yield Request(HALT)
