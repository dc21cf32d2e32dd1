"""A connection to a running loop: read its state and control it.

A `Session` (which started the loop) and a process that attached to it have the same methods.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.compiling.ahead import ensure, lines_on_stderr
from pliant.compiling.entry_points import law_groups
from pliant.control.laws.contact.contact_params import check_order
from pliant.control.laws.contact.contact_states import COMMANDS
from pliant.control.laws.registry import LAWS, law_of
from pliant.control.parameters import Parameters, parameters_of, record_of
from pliant.errors import InputError, LoopError, PliantError, RejectedError, UnknownNameError, said
from pliant.loop import goal_requests
from pliant.loop.board import Board, running, sweep
from pliant.params.declare import changed, flat
from pliant.params.matrix import filled
from pliant.robots import is_simulated
from pliant.robots.interface import no_push
from pliant.session.board_link import ANSWER_S, SANE, SILENT, BoardLink, Ticking, number
from pliant.session.contact_lock import check_change, refuse_at_work
from pliant.session.idle_parameters import without_effect
from pliant.stability.guard import guard_change, guard_law
from pliant.task.schema import MISSION, Task, arm_of, check_fits, check_law, check_takes_commands, check_wrench
from pliant.task.spring_stretch import between, check_goal, check_stretch
from pliant.task.task_file import keep_parameters

# So many changes can be taken back: whoever tunes for hours must not fill the memory.
_STEPS_BACK = 100
# A quaternion whose length differs from 1 by no more than this is a unit quaternion.
_ROUNDING = 1e-14
# Joint speed below which an arm counts as standing [rad/s].
_STILL = 0.01
_PUSH = f"3 numbers [N] or 6 numbers [N, N m], each within ±{SANE:g}"
_TWIST = "6 numbers: linear [m/s], then angular [rad/s]"
_ACCEL = "6 numbers: linear [m/s²], then angular [rad/s²]"
# Averaging times of a tare [s].
_TARE_S = 0.05, 5.0


def _lasting(for_s: float) -> float:
    """A time for which something is asked [s]."""
    return number("for_s", for_s, 0.0, 60.0, "s", least="more than 0 and at most 60 s")


class Link(BoardLink[Task]):
    """A connection to the board of a loop that runs an arm."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.arm = arm_of(task)
        """The arm, with its tool."""
        check_fits(task, self.arm)
        self.unchecked = False
        """Whether changes are accepted without the stability check."""
        self._past: deque[Parameters] = deque(maxlen=_STEPS_BACK)
        self._future: list[Parameters] = []

    # -- what is going on --

    @property
    def q(self) -> np.ndarray[Any, Any]:
        """Measured joint positions [rad]."""
        return self.state.reading.q[: self.arm.n].copy()

    @property
    def pose(self) -> np.ndarray[Any, Any]:
        """Measured pose of the tool in the base [x, y, z, qw, qx, qy, qz]."""
        return self.state.observed.pose.copy()

    @property
    def wrench(self) -> np.ndarray[Any, Any]:
        """External wrench at the tool, in the base frame [N, N m]."""
        return self.state.observed.wrench.copy()

    @property
    def parameters(self) -> Parameters:
        """The current parameters."""
        entry = self.board.parameter_set(self.board.adopted)
        return self.task.params if entry is None else parameters_of(type(self.task.params), entry["values"])

    # -- what to do --

    def move_joints(self, q: ArrayLike) -> None:
        """Set the joint goal [rad] of the law `hold`."""
        if (isinstance(q, list | tuple) or (isinstance(q, np.ndarray) and q.ndim == 1)) and len(q) != self.arm.n:
            sentence = f"q has {len(q)} values, but {self.arm.name} has {self.arm.n} joints [rad]."
            raise RejectedError(sentence, field="q", value=q)
        allowed = f"{self.arm.n} numbers [rad], one per joint of {self.arm.name}"
        self._send(goal_requests.GOAL_Q, values=self._numbers("q", q, self.arm.n, allowed=allowed))

    def goal_pose(self, pose: ArrayLike) -> None:
        """Set the goal pose [x, y, z, qw, qx, qy, qz] in the base frame, at rest.

        A goal that would deflect a spring beyond its limit at once is rejected, and so is one that the law ignores.
        """
        allowed = "7 numbers: x, y, z [m], then a unit quaternion w, x, y, z"
        values = self._numbers("pose", pose, 7, allowed=allowed)
        length = np.linalg.norm(values[3:])
        if abs(length - 1.0) > 1e-3:
            raise InputError("pose", values, allowed)
        if abs(length - 1.0) > _ROUNDING:  # dividing a unit quaternion again would change its last digit
            values[3:] /= length
        self._must_run()
        now = self.state
        tool, goal = np.array(now.state.pose), np.array(now.goal.pose)
        running = law_of(now.state.law)
        law = running.name if running.takes_commands else self._law()  # it may still have to lift off
        check_goal(law, self.parameters, tool, between(tool, values), between(goal, values))
        self._send(goal_requests.GOAL_POSE, values=values)

    def goal_twist(self, twist: ArrayLike, for_s: float = 0.1) -> None:
        """Move the goal pose with a twist [m/s, rad/s] in the base frame; the law follows it without lag.

        The motion ends after `for_s` seconds unless it is commanded again: if a program dies, its goal stops.
        """
        self._send(
            goal_requests.GOAL_TWIST, values=[*self._numbers("twist", twist, 6, allowed=_TWIST), _lasting(for_s)]
        )

    def goal_position(self, position: ArrayLike) -> None:
        """Set the position of the goal [m] in the base frame; two numbers keep z. The goal keeps its orientation."""
        values = self._numbers("position", position, 2, 3, allowed="2 or 3 numbers [m]")
        pose = self.state.goal.pose.copy()
        pose[: len(values)] = values
        self.goal_pose(pose)

    def goal_accel(self, accel: ArrayLike, for_s: float = 0.1) -> None:
        """Set the goal's acceleration [m/s², rad/s²] in the base frame for `for_s` seconds; torque laws use it."""
        self._send(
            goal_requests.GOAL_ACCEL, values=[*self._numbers("accel", accel, 6, allowed=_ACCEL), _lasting(for_s)]
        )

    def virtual_push(self, wrench: ArrayLike, for_s: float | None = None) -> None:
        """Apply a virtual push [N, N m] in the base frame that the law feels in addition to the measured wrench.

        The arm moves as if it were pushed. Three numbers are a force. The push lasts until the next one; with `for_s`
        it ends after so many seconds, unless another one has replaced it.
        """
        values = self._pushed("wrench", wrench)
        last = None if for_s is None else self.board.head + round(_lasting(for_s) * self.task.rate_hz)
        self._send(goal_requests.VIRTUAL_PUSH, values=values)
        if last is not None:
            self.board.send(goal_requests.END_VIRTUAL_PUSH, at_tick=last, values=values)

    def goal_wrench(self, wrench: ArrayLike) -> None:
        """Set the wrench [N, N m] to hold, in the base frame."""
        values = self._numbers("wrench", wrench, 6, allowed="6 numbers: force [N], then moment [N m]")
        check_wrench("wrench", values, self.parameters.sense)
        self._send(goal_requests.GOAL_WRENCH, values=values)

    def law(self, name: str, *, pressed: bool = False) -> None:
        """Change to another law, from rest at the current pose; rejected if it is not stable on declared surfaces.

        Also rejected while a contact is active, because the new law would not lift the tool off: send `stop` first.
        With `pressed`, the new law takes over while the tool presses; you must watch the force and lift the tool off.
        """
        if name not in LAWS:
            raise UnknownNameError("law", name, LAWS)
        check_law(self.task, self.arm, name)
        if not self.unchecked:
            guard_law(self.task, name, self.parameters)
        if not pressed and not LAWS[name].takes_commands:
            refuse_at_work(self.board, f"The law {name}", "Send `stop` first and let the tool lift off.", "law", name)
        ensure(*law_groups([name]), notice=lines_on_stderr())  # the loop only has to load it
        values = [goal_requests.PRESSED] if pressed else ()
        sent = self._send(goal_requests.LAW, number=LAWS[name].number, values=values)
        self._wait_taken(sent)  # goals and commands that follow are checked against the new law

    def command(self, name: str) -> None:
        """Send a command to the contact law: set_start, start, pause, resume, stop or abort.

        `state.state.contact` reports the result: the state, its reason, and why a command was rejected. Under any other
        law, a command is rejected.
        """
        if name not in COMMANDS:
            raise UnknownNameError("command", name, COMMANDS)
        self._must_run()
        # A law that lifts off before another one starts still listens.
        if not law_of(self.state.state.law).takes_commands:
            check_takes_commands(self._law(), name)
        self._send(goal_requests.CONTACT_COMMAND, number=COMMANDS[name])

    def halt(self) -> None:
        """Stop and hold position; the loop keeps running. A contact pauses: it holds its force under supervision."""
        super().halt()

    def resume(self) -> None:
        """Continue after `halt`."""
        self._send(goal_requests.RESUME)

    def push(self, force: ArrayLike, for_s: float = 0.5) -> None:
        """Push a simulated arm at its tool: a force [N], or a wrench of six numbers, in the base frame."""
        if not is_simulated(self.task.robot):
            raise no_push(self.task.robot)
        self._send(goal_requests.PUSH, values=[*self._pushed("force", force), _lasting(for_s)])

    def _pushed(self, field: str, wrench: ArrayLike) -> list[float]:
        """Six numbers [N, N m] from three or six, within the sensor range."""
        values = self._numbers(field, wrench, 3, 6, allowed=_PUSH)
        check_wrench(field, values, self.parameters.sense)
        return [*values.tolist(), *[0.0] * (6 - len(values))]

    def set(self, values: dict[str, Any], *more: Any) -> list[str]:
        """Change live parameters, all of them or none: ``arm.set({"admittance.stiffness": 400})``.

        None in a list keeps the current number at that place.

        Values that are not stable on the task's declared surfaces are rejected (see `guard`), and so is a stiffness
        whose spring would be deflected beyond its limit at the current pose.

        Returns a sentence for each parameter that has no effect for now, such as one of a law that does not run.
        """
        example = "a dictionary such as {'admittance.stiffness': 400}"
        if more:  # a name and a value, which is what one tries first
            meant = f"{{{said(values)}: {', '.join(said(value) for value in more)}}}"
            raise RejectedError(f"set takes a dictionary: set({meant}).", field="values", value=values)
        if not isinstance(values, dict):
            raise InputError("values", values, example)
        if wrong := [name for name in values if not isinstance(name, str)]:
            raise InputError("the name of a parameter", wrong[0], f"text, in {example}")
        before = self._propose(lambda now: changed_live(now, values, self._law()), values)
        self._past.append(before)
        self._future.clear()
        return without_effect(values, self.parameters, self._law(), self.task.interface)

    def undo(self) -> dict[str, tuple[Any, Any]]:
        """Undo the last parameter change; call it again for the one before. Returns {name: (old, new)}."""
        before = self._past[-1] if self._past else self._previous()
        after = self._propose(lambda now: before, "undo")
        if self._past:  # not earlier: a rejected undo can be repeated later
            self._past.pop()
        self._future.append(after)
        then, now = flat(after), flat(before)
        return {name: (then[name], value) for name, value in now.items() if value != then[name]}

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        if not self._future:
            raise RejectedError("Nothing to redo: no change has been undone.")
        after = self._future[-1]
        self._past.append(self._propose(lambda now: after, "redo"))
        self._future.pop()

    def history(self) -> list[tuple[int, float, dict[str, Any]]]:
        """Every change that the board still holds: (revision, time [s], {name: new value})."""
        found, last = [], None
        for revision in range(self.board.adopted + 1):
            entry = self.board.parameter_set(revision)
            if entry is None:
                last = None
                continue
            now = flat(parameters_of(type(self.task.params), entry["values"]))
            if last is not None:
                changes = {name: value for name, value in now.items() if value != last[name]}
                found.append((revision, float(entry["tick"]) * self.task.dt, changes))
            last = now
        return found

    def save(self, path: Path | str) -> dict[str, Any]:
        """Write the current parameters to a task file and keep its comments; returns those that differed from it."""
        return keep_parameters(path, self.parameters, self.task, self.board.head * self.task.dt)

    def tare(self, over_s: float = 0.5) -> np.ndarray[Any, Any]:
        """Zero the force sensor at the current pose, except for the tool's weight; returns the bias.

        The arm must be at rest and touch nothing. Rejected while a contact is active.
        """
        over_s = number("over_s", over_s, *_TARE_S, "s")
        refuse_at_work(self.board, "Taring", "Send `stop` first and let the tool lift off.", "sense.bias")
        first = self.board.head
        self.wait(over_s)
        records = self.board.read(first)[0]
        reading = records["reading"]
        if not len(records) or np.abs(reading["qd"]).max() > _STILL:
            raise RejectedError(
                "The sensor cannot be tared while the arm moves. Wait until it stops, or halt it first."
            )
        if records["state"]["trouble"].any():
            raise RejectedError("The sensor cannot be tared: its readings are bad. Check the sensor and try again.")
        q = reading["q"][:, : self.arm.n].mean(axis=0)
        bias = reading["wrench"].mean(axis=0) - self.arm.tool_weight(q)
        self.set({"sense.bias": tuple(bias.tolist())})
        return bias

    def _previous(self) -> Parameters:
        adopted = self.board.adopted
        entry = self.board.parameter_set(adopted - 1) if adopted > 0 else None
        if entry is None:
            raise RejectedError("Nothing to undo: no parameter of this loop has been changed.")
        return parameters_of(type(self.task.params), entry["values"])

    def _propose(self, make: Callable[[Parameters], Parameters], what: Any) -> Parameters:
        """Offer a set made from the one in force until the loop has decided on it; returns the one before."""
        while True:
            self._must_run()
            base, before = self.board.adopted, self.parameters
            after = make(before)
            self.check_now(before, after)
            self._guard(before, after)
            sequence = self.board.propose(record_of(after), base)
            answered = self._answered(sequence, before)
            if answered == sequence:
                return before
            if answered == sequence + 1 and self.board.adopted == base:
                raise InputError("the parameter set", what, "within the declared bounds")
            # Someone else's change came first, and ours was not made from it: once more.

    def _answered(self, sequence: int, before: Parameters) -> int:
        """Wait until the loop has decided on a proposal, by its own time: a machine that holds it up costs it none."""
        last, ticking = self.board.head + round(ANSWER_S * self.task.rate_hz), Ticking(self.board)
        try:
            while (answered := self.board.answered) < sequence:
                self._must_run()
                ticking.check()
                if self.board.head > last and self.board.answered < sequence:
                    raise LoopError("it did not answer a parameter change", headline=SILENT)
                time.sleep(self.task.dt / 2)
        except LoopError:
            if int(self.board.header.proposed) == sequence:  # made from no set, this one takes its place and is refused
                self.board.propose(record_of(before), -1)
            if (answered := self.board.answered) != sequence:  # else it was just in time
                raise
        return answered

    def check_now(self, before: Parameters, after: Parameters) -> None:
        """Raise for parameters that are rejected now: a contact is active, or a spring would be overstretched."""
        check_change(self.board, before, after)
        check_stretch(self.board, before, after)

    def _law(self) -> str:
        """The law that runs."""
        return self.task.law if (latest := self.board.latest()) is None else law_of(latest.goal.law).name

    def _guard(self, before: Parameters, after: Parameters) -> None:
        """Raise if the law that runs, or one that the task's script brings, would not be stable with the new set."""
        laws = {self._law(), *(event.law for event in self.task.events if event.law)}
        for law in () if self.unchecked else sorted(laws):
            guard_change(self.task, law, before, after)


def changed_live(now: Parameters, values: dict[str, Any], law: str = "") -> Parameters:
    """The parameters with these values applied; raises if thresholds are out of order.

    For an unknown name, those of `law` are suggested first.
    """
    after: Parameters = changed(now, filled(now, values), live_only=True, law=law)
    check_order(after.contact)
    return after


def attach(name: str | None = None) -> Link:
    """Connect to a loop that another process started; without a name, to the only running loop."""
    board = board_of(name)
    if MISSION in board.config:
        raise RejectedError(f"Loop {name_of(board)} is a mission: it has no law and no parameters to change.")
    link = Link(Task.model_validate(board.config["task"]))
    link.board, link.name = board, name_of(board)
    link.unchecked = bool(board.config.get("unchecked"))
    return link


def board_of(name: str | None) -> Board:
    """The board of a running loop; without a name, of the only one."""
    return Board.attach(name) if name is not None else _only_board()


def name_of(board: Board) -> str:
    """The name of the loop that a board belongs to."""
    return board.path.name.removeprefix("pliant-")


def _only_board() -> Board:
    """The board of the only running loop; if there are several, the error lists them."""
    sweep()
    boards = []
    for name in running():
        with contextlib.suppress(PliantError):  # it has just ended, or is being made, or another version's
            boards.append(Board.attach(name))
    if not boards:
        raise RejectedError("No loop is running. Start one with pliant run in another terminal.")
    if len(boards) > 1:
        words = [
            f"{name_of(board)} ({task.get('name', 'task')} on {task.get('robot', 'a robot')})"
            for board, task in ((board, board.config.get("task") or board.config.get(MISSION, {})) for board in boards)
        ]
        listed = f"{', '.join(words[:-1])} and {words[-1]}"
        raise RejectedError(f"{len(boards)} loops are running: {listed}. Choose one with --loop NAME.")
    return boards[0]
