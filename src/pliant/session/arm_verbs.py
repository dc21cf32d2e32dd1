"""What a program can ask of an arm: the same calls for a loop in another process and for a `Simulation` in this one.

Each call checks its arguments against the law that runs, and sends one request. How a request is sent, and how a
parameter set is proposed, is up to the kind of connection.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.compiling.ahead import ensure, lines_on_stderr
from pliant.compiling.entry_points import law_groups
from pliant.control.laws.law import TOOL_VELOCITY
from pliant.control.laws.registry import LAWS, check_sections, law_of
from pliant.control.parameters import Parameters
from pliant.errors import InputError, RejectedError, UnknownNameError, said
from pliant.loop import goal_requests
from pliant.model.arm import Arm
from pliant.params.declare import changed, flat
from pliant.params.matrix import filled
from pliant.robots import is_simulated
from pliant.robots.interface import no_push
from pliant.session.active_law import check_change, refuse_while_active
from pliant.session.idle_parameters import without_effect
from pliant.session.input_checks import SANE, duration, must_be_live, number, numbers
from pliant.session.law_status import StatusVerbs
from pliant.session.undo import Changes, unwound
from pliant.stability.guard import guard_change, guard_law
from pliant.task.schema import Task, check_law, check_takes_commands, check_wrench
from pliant.task.spring_stretch import between, check_goal, check_stretch, check_takes_goal, check_takes_wrench
from pliant.task.task_file import keep_parameters

Array = np.ndarray[Any, Any]

# A quaternion whose length differs from 1 by no more than this is a unit quaternion.
_ROUNDING = 1e-14
# Joint speed below which an arm is at rest [rad/s].
_STILL = 0.01
_POSE = "7 numbers: x, y, z [m], then a unit quaternion w, x, y, z"
_PUSH = f"3 numbers [N] or 6 numbers [N, N m], each within ±{SANE:g} N and N m"
_TWIST = "6 numbers: linear [m/s], then angular [rad/s]"
_ACCEL = "6 numbers: linear [m/s²], then angular [rad/s²]"
_WRENCH = "6 numbers: force [N], then moment [N m]"
# Averaging times of a tare [s].
_TARE_S = 0.05, 5.0
# A goal that moves faster than this is a mistake, such as mm/s for m/s.
_FASTEST_M_S, _FASTEST_RAD_S = 10.0, 30.0


class ArmVerbs(StatusVerbs):
    """The calls that a loop of an arm and a `Simulation` have in common."""

    task: Task
    arm: Arm
    unchecked: bool

    def _begin(self, arm: Arm) -> None:
        self.arm = arm
        """The arm, with its tool."""
        self.unchecked = False
        """Whether changes are accepted without the stability check."""
        self._changes = Changes()

    # -- what each kind of connection brings --

    @property
    @abstractmethod
    def parameters(self) -> Parameters:
        """The current parameters."""

    @abstractmethod
    def watch(self, seconds: float) -> Array:
        """Wait for `seconds`; returns the telemetry of that time, one record for each tick."""

    @abstractmethod
    def _latest(self) -> Any | None:
        """The newest telemetry record; None before the first tick."""

    @abstractmethod
    def _ticks(self) -> int:
        """How many ticks have been run."""

    @abstractmethod
    def _send(self, code: int, *, number: int = 0, values: Any = (), at_tick: int = 0) -> int:
        """Send a request that is carried out at a tick (0: now); returns its number."""

    @abstractmethod
    def _await(self, request: int) -> None:
        """Return when this request has been carried out."""

    @abstractmethod
    def _propose(self, make: Callable[[Parameters], Parameters], what: Any) -> tuple[Parameters, Parameters]:
        """Put the set that `make` makes of the current one into force; returns both."""

    @abstractmethod
    def _known_sets(self) -> Iterator[tuple[int, int, Parameters]]:
        """The parameter sets that are still known: revision, first tick, parameters."""

    def _earlier(self) -> Parameters | None:
        """The set that undoing the newest change leads to, also after other changes were undone; None if none is."""
        sets, _ = unwound(self._known_sets())
        return sets[-2] if len(sets) > 1 else None

    # -- what is going on --

    @property
    def q(self) -> Array:
        """Measured joint positions [rad]."""
        return self.state.reading.q[: self.arm.n].copy()

    @property
    def pose(self) -> Array:
        """Measured pose of the tool in the base [x, y, z, qw, qx, qy, qz]."""
        return self.state.observed.pose.copy()

    @property
    def wrench(self) -> Array:
        """External wrench at the tool, in the base frame [N, N m]."""
        return self.state.observed.wrench.copy()

    # -- goals --

    def move_joints(self, q: ArrayLike) -> None:
        """Set the joint goal [rad] of the law `hold`. Rejected under a law that ignores it."""
        if (isinstance(q, list | tuple) or (isinstance(q, np.ndarray) and q.ndim == 1)) and len(q) != self.arm.n:
            sentence = f"q has {len(q)} values, but {self.arm.name} has {self.arm.n} joints [rad]."
            raise RejectedError(sentence, field="q", value=q)
        allowed = f"{self.arm.n} numbers [rad], one per joint of {self.arm.name}"
        values, law = numbers("q", q, self.arm.n, allowed=allowed), self._answering()
        if LAWS[law].output == TOOL_VELOCITY and not LAWS[law].is_own:
            raise RejectedError(
                f"The joint goal is rejected: the law {law} moves the tool and ignores it. Switch to hold first.",
                field="q",
            )
        self._send(goal_requests.GOAL_Q, values=values)

    def goal_pose(self, pose: ArrayLike) -> None:
        """Set the goal pose [x, y, z, qw, qx, qy, qz] in the base frame, at rest.

        A goal that would deflect a spring beyond its limit at once is rejected, and so is one that the law ignores.
        """
        values = numbers("pose", pose, 7, allowed=_POSE)
        length = np.linalg.norm(values[3:])
        if abs(length - 1.0) > 1e-3:
            raise RejectedError(
                f"pose[3:7] = {said(values[3:])} is not a unit quaternion: its length is {length:.4g}. The order is w, "
                "x, y, z; divide it by its length.",
                field="pose",
                value=pose,
            )
        if abs(length - 1.0) > _ROUNDING:  # dividing a unit quaternion again would change its last digit
            values[3:] /= length
        self._move_goal("pose", values)

    def _move_goal(self, field: str, pose: Array) -> None:
        """Set the goal pose; an error names the `field` that the user gave."""
        self.arm.check_distance(field, pose[:3])
        law, now = self._answering(), self.state
        tool, goal = np.array(now.state.pose), np.array(now.goal.pose)
        check_takes_goal(law)
        try:
            check_goal(law, self.parameters, tool, between(tool, pose), between(goal, pose))
        except RejectedError:
            self.arm.check_distance(field, pose[:3], 1.0)  # no smaller step leads out of reach
            raise
        self._send(goal_requests.GOAL_POSE, values=pose)

    def goal_position(self, position: ArrayLike) -> None:
        """Set the position of the goal [m] in the base frame; two numbers keep z. The goal keeps its orientation."""
        values = numbers("position", position, 2, 3, allowed="2 or 3 numbers [m]")
        pose = self.state.goal.pose.copy()
        pose[: len(values)] = values
        self._move_goal("position", pose)

    def goal_twist(self, twist: ArrayLike, for_s: float = 0.1) -> None:
        """Move the goal pose with a twist [m/s, rad/s] in the base frame; the law follows it without lag.

        The motion ends after `for_s` seconds unless it is commanded again: if a program dies, its goal stops. Rejected
        under a law that ignores the goal pose.
        """
        values = [*numbers("twist", twist, 6, allowed=_TWIST), duration(for_s)]
        if max(map(abs, values[:3])) > _FASTEST_M_S or max(map(abs, values[3:6])) > _FASTEST_RAD_S:
            allowed = f"{_TWIST}, within ±{_FASTEST_M_S:g} m/s and ±{_FASTEST_RAD_S:g} rad/s"
            raise InputError("twist", twist, allowed)
        check_takes_goal(self._answering())
        self._send(goal_requests.GOAL_TWIST, values=values)

    def goal_accel(self, accel: ArrayLike, for_s: float = 0.1) -> None:
        """Set the goal's acceleration [m/s², rad/s²] in the base frame for `for_s` seconds; torque laws use it."""
        values = [*numbers("accel", accel, 6, allowed=_ACCEL), duration(for_s)]
        check_takes_goal(self._answering())
        self._send(goal_requests.GOAL_ACCEL, values=values)

    def goal_wrench(self, wrench: ArrayLike) -> None:
        """Set the wrench [N, N m] to hold, in the base frame. Rejected under a law that ignores it."""
        values = numbers("wrench", wrench, 6, allowed=_WRENCH)
        check_wrench("wrench", values, self.parameters.sense)
        if values.any():  # zero takes back an earlier one, which is possible under every law
            check_takes_wrench(self._answering(), "The wrench goal")
        self._send(goal_requests.GOAL_WRENCH, values=values)

    def virtual_push(self, wrench: ArrayLike, for_s: float | None = None) -> None:
        """Apply a virtual push [N, N m] in the base frame: added to the measured wrench, without touching the arm.

        The arm moves as if it were pushed. Three numbers are a force. The push lasts until the next one; with `for_s`
        it ends after so many seconds, unless another one has replaced it. Rejected under a law that ignores it.
        """
        values = self._pushed("wrench", wrench)
        last = None if for_s is None else self._ticks() + round(duration(for_s) * self.task.rate_hz)
        if any(values):
            check_takes_wrench(self._answering(), "The virtual push")
        self._send(goal_requests.VIRTUAL_PUSH, values=values)
        if last is not None:
            self._send(goal_requests.END_VIRTUAL_PUSH, at_tick=last, values=values)

    def push(self, force: ArrayLike, for_s: float = 0.5) -> None:
        """Push a simulated arm at its tool: a force [N], or a wrench of six numbers, in the base frame."""
        if not is_simulated(self.task.robot):
            raise no_push(self.task.robot)
        self._send(goal_requests.PUSH, values=[*self._pushed("force", force), duration(for_s)])

    def _pushed(self, field: str, wrench: ArrayLike) -> list[float]:
        """Six numbers [N, N m] from three or six, within the sensor range."""
        values = numbers(field, wrench, 3, 6, allowed=_PUSH)
        check_wrench(field, values, self.parameters.sense)
        return [*values.tolist(), *[0.0] * (6 - len(values))]

    # -- laws and commands --

    def law(self, name: str, *, pressed: bool = False) -> None:
        """Change to another law, from rest at the current pose; rejected if it is not stable on declared surfaces.

        Also rejected while a contact is active, because the new law would not lift the tool off: send `stop` first.
        With `pressed`, the new law takes over while the tool presses; you must watch the force and lift the tool off.
        """
        if not isinstance(name, str) or name not in LAWS:
            raise UnknownNameError("law", name, LAWS)
        check_law(self.task, self.arm, name)
        if not pressed and not LAWS[name].takes_commands:
            refuse_while_active(self._latest(), f"The law {name}", "law", name)
        if not self.unchecked:
            guard_law(self.task, name, self.parameters)
        ensure(*law_groups([name]), notice=lines_on_stderr())  # the controller only has to load it
        values = [goal_requests.PRESSED] if pressed else ()
        # goals and commands that follow are checked against the new law
        self._await(self._send(goal_requests.LAW, number=LAWS[name].number, values=values))

    def command(self, name: str) -> None:
        """Send a command to the law that runs: to a contact set_start, start, pause, resume, stop or abort.

        `status` reports the result: the state, its reason, and why a command was rejected. Under a law that takes no
        commands, a command is rejected.
        """
        law = check_takes_commands(self._answering(), name)
        request = goal_requests.command(name, law)
        self._send(request.code, number=request.number, values=request.values)

    def halt(self) -> None:
        """Stop and hold position; the loop keeps running. A contact pauses: it holds its force under supervision."""
        self._send(goal_requests.HALT)

    def resume(self) -> None:
        """Continue after `halt`."""
        self._send(goal_requests.RESUME)

    def _law(self) -> str:
        """The law that was requested last."""
        latest = self._latest()
        return law_of(latest.goal.law).name if latest is not None else self.task.law

    def _answering(self) -> str:
        """The law that takes goals and commands: one that has to end before another starts takes them until then."""
        running = law_of(self.state.state.law)
        return running.name if running.takes_commands else self._law()

    # -- parameters --

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
        for name in values:
            if not isinstance(name, str):
                raise InputError("the name of a parameter", name, f"text, in {example}")
            must_be_live(self.task, name, values[name])
        law = self._law()
        self._changes.set(self, values)
        return without_effect(values, self.parameters, law, self.task.interface)

    def change(self, values: dict[str, Any]) -> tuple[Parameters, Parameters]:
        """Change live parameters like `set`, but do not note it for `undo`; returns the set before and after."""
        return self._propose(lambda now: changed_live(now, values, self._law()), values)

    def undo(self) -> dict[str, tuple[Any, Any]]:
        """Undo the last parameter change made here; without one, the newest change of anyone. Call it again for more.

        What others have changed since is kept. Returns {name: (old, new)}.
        """
        if self._changes:
            return self._changes.undo(self)
        return self._changes.undo(self, self._earlier(), any_known=len(list(self._known_sets())) > 1)

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        self._changes.redo(self)

    def undos(self) -> set[int]:
        """The revisions in `history` that undid the change before them."""
        return unwound(self._known_sets())[1]

    def history(self) -> list[tuple[int, float, dict[str, Any]]]:
        """Every parameter change that is still known: (revision, time [s], {name: new value})."""
        found, last, before = [], -2, dict[str, Any]()
        for revision, tick, parameters in self._known_sets():
            now = flat(parameters)
            if revision == last + 1:
                changes = {name: value for name, value in now.items() if value != before[name]}
                found.append((revision, tick * self.task.dt, changes))
            last, before = revision, now
        return found

    def save(self, path: Path | str) -> dict[str, Any]:
        """Write the current parameters to a task file and keep its comments; returns those that differed from it."""
        return keep_parameters(path, self.parameters, self.task, self._ticks() * self.task.dt)

    def tare(self, duration_s: float = 0.5) -> Array:
        """Measure the offset of the force sensor at the current pose and subtract it from now on; returns the offset.

        The weight of the declared tool is not part of it.

        The arm must be at rest and touch nothing. Rejected while a contact is active.
        """
        duration_s = number("duration_s", duration_s, *_TARE_S, "s")
        refuse_while_active(self._latest(), "Taring", "sense.bias")
        records = self.watch(duration_s)
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

    def check_now(self, before: Parameters, after: Parameters) -> None:
        """Raise for parameters that are rejected now: a contact is active, or a spring would be overstretched."""
        latest = self._latest()
        check_change(latest, before, after)
        check_stretch(latest, before, after)

    def _guard(self, before: Parameters, after: Parameters) -> None:
        """Raise if the law that runs, or one that the task's script brings, would not be stable with the new set."""
        if self.unchecked:
            return
        for law in sorted({self._law(), *(event.law for event in self.task.events if event.law)}):
            guard_change(self.task, law, before, after)


def changed_live(now: Parameters, values: dict[str, Any], law: str = "") -> Parameters:
    """The parameters with these values applied; raises if thresholds are out of order.

    For an unknown name, those of `law` are suggested first.
    """
    after: Parameters = changed(now, filled(now, values), live_only=True, law=law)
    check_sections(after, now)
    return after
