"""Whether a robot driver keeps its contract (docs/robot-driver.md): units, signs, time, stop, watchdog, lost
connection.

The arm moves: one joint, by a few hundredths of a radian, there and back or in one direction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError
from pliant.model.arm import Arm
from pliant.records import MODES
from pliant.robots import open_robot
from pliant.robots.interface import Robot
from pliant.robots.simulated import SimRobot
from pliant.task.schema import Task
from pliant.testing import motion_checks
from pliant.testing.check_report import Check, Report
from pliant.testing.driven_robot import BusyError, Driven, FailedError, SkippedError

# How often a check is repeated if this computer was too busy.
_TRIES = 8
# How far a joint may be outside the range of the model [rad, m].
_RANGE_MARGIN = 0.1
_FRESH = "give an address or a function that makes new drivers, so that the robot can be opened again"

Push = Callable[[list[float], float], object]
Source = str | Task | Robot | Callable[[str], Robot]


@dataclass
class Settings:
    """How a robot is checked; see `check_robot`."""

    push: Push | None
    cut: Callable[[], object] | None
    watchdog_s: float
    stop_s: float
    motion_rad: float
    joint: int


def check_robot(
    robot: Source,
    *,
    push: Push | None = None,
    cut: Callable[[], object] | None = None,
    watchdog_s: float = 0.5,
    stop_s: float = 0.2,
    motion_rad: float = 0.02,
    joint: int = -1,
) -> Report:
    """Check that a driver keeps the contract of `pliant.Robot`. **The arm moves**: `joint`, by about 4 × `motion_rad`.

    `robot` is an address, a `Task` (for its tool and rate), a function that returns a new driver for an interface, or
    one driver that is not yet open; the last can be opened only once, so some checks are skipped.

    - `push(wrench, for_s)` pushes the tool [N, N m], in the base frame, for so many seconds. Without it, the weight of
      the task's tool is used to check the sign of the wrench; without a tool, that check is skipped.
    - `cut()` breaks the connection to the robot. Without it, the check of a lost connection is skipped.
    - `watchdog_s`: how long after the last command the arm may still move [s]; `stop_s`: the same after `stop`.
    - `motion_rad`: how far one joint moves [rad, m], first towards the middle of its range.
    """
    bench = Bench(robot, Settings(push, cut, watchdog_s, stop_s, motion_rad, joint))
    try:
        return bench.run()
    finally:
        bench.close()


class Bench:
    """One robot under test: makes it, opens it, runs the checks."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.settings, self.checks = settings, []
        self._kept: Driven | None = None
        self.make, self.dt, self.once = _maker(source)
        first = self.make("")
        self.first: Robot | None = first
        self.name, self.arm = str(getattr(first, "name", "")), getattr(first, "arm", None)
        self.is_simulated = isinstance(first, SimRobot)
        self.interfaces = tuple(getattr(first, "interfaces", ()))

    def run(self) -> Report:
        """All checks, in order; the arm moves only if its readings make sense."""
        sound = self.check("description", self.description)
        sound = self.check("stop before open", self.stop_before_open) and sound
        sound = sound and self.check("joint values", self.joint_values)
        for name, check in (("time stamps", motion_checks.time_stamps), ("wrench", motion_checks.wrench)):
            self.check_open(name, check, sound=sound)
        for interface in self.interfaces:
            self.check_open(f"{interface} commands", motion_checks.commands, interface, sound=sound)
        self.check_open("stop", motion_checks.stop, sound=sound)
        again = sound and not self.once
        self.check_open("watchdog", motion_checks.watchdog, sound=again)
        self.check_open("lost connection", motion_checks.lost_connection, sound=again)
        return Report(self.name, tuple(self.checks))

    def check(self, name: str, body: Callable[[], str]) -> bool:
        """Run one check; True if it passed or was skipped."""
        try:
            outcome, sentence = "passed", self._repeated(body)
        except SkippedError as skipped:
            outcome, sentence = "skipped", str(skipped)
        except FailedError as failed:
            outcome, sentence = "failed", str(failed)
        except PliantError as error:  # from `open`, or from a task that does not fit
            outcome, sentence = "failed", f"it could not be opened: {error}"
        self.checks.append(Check(name, outcome, sentence))
        return outcome != "failed"

    def check_open(self, name: str, body: Callable[..., str], interface: str = "", *, sound: bool) -> None:
        """Run a check that needs an open robot."""

        def run() -> str:
            if not sound:
                failed = any(check.outcome == "failed" for check in self.checks)
                raise SkippedError("the description or the readings are wrong; see above." if failed else f"{_FRESH}.")
            wanted = interface or motion_checks.preferred(self.interfaces)
            if wanted not in motion_checks.MOVED_BY:
                raise SkippedError("this check moves the arm by position or velocity commands only.")
            if self.once and interface and interface != motion_checks.preferred(self.interfaces):
                raise SkippedError(f"{_FRESH}.")
            with self.opened(wanted) as it:
                return body(it, self)

        self.check(name, run)

    def _repeated(self, body: Callable[[], str]) -> str:
        for _ in range(_TRIES):
            try:
                return body()
            except BusyError:
                continue
        raise SkippedError(f"this computer was too busy, {_TRIES} times in a row. Close other programs.")

    @contextlib.contextmanager
    def opened(self, interface: str) -> Iterator[Driven]:
        """The robot, open; it is stopped and closed again, unless it is one that can be opened only once."""
        if self._kept is not None:
            yield self._kept
            return
        robot = self.first if self.once and self.first is not None else self.make(interface)
        try:
            robot.open()
            # half of the watchdog's time, so that this check does not trigger it
            patience_s = 0.5 * self.settings.watchdog_s
            it = Driven(robot, interface, self.dt, patience_s, is_simulated=self.is_simulated)
        except BaseException as error:
            _end(robot)
            if isinstance(error, FailedError | PliantError) or not isinstance(error, Exception):
                raise
            raise FailedError(f"open raised {type(error).__name__}: {error}. Raise a PliantError.") from error
        if self.once:
            self._kept = it
            yield it
            return
        try:
            yield it
        finally:
            it.end()

    def close(self) -> None:
        """Stop and close a robot that was opened once."""
        if self._kept is not None:
            self._kept.end()

    # -- checks before anything is connected --

    def description(self) -> str:
        """Name, arm and interfaces are what they must be."""
        first = self.first
        if not isinstance(first, Robot):
            raise FailedError("it is not a pliant.Robot.")
        if not self.name or not isinstance(self.arm, Arm):
            raise FailedError("name must be text, and arm a pliant.Arm.")
        unknown = [one for one in self.interfaces if one not in MODES]
        if unknown or not self.interfaces:
            raise FailedError(f"interfaces is {self.interfaces}, but it must list some of {', '.join(MODES)}.")
        if first.fault:
            raise FailedError(f"fault is {first.fault!r} before open, but it must be empty.")
        return f"an arm of {self.arm.n} joints ({self.arm.name}), {', '.join(self.interfaces)} commands."

    def stop_before_open(self) -> str:
        """Stopping and closing a driver that was never opened does nothing."""
        if self.once:
            raise SkippedError(f"{_FRESH}.")
        robot = self.make("")
        for action in ("stop", "stop", "close"):
            try:
                getattr(robot, action)()
            except Exception as error:
                raise FailedError(f"{action} without open raised {type(error).__name__}: {error}.") from error
        return "stop and close do nothing without open."

    def joint_values(self) -> str:
        """Joint readings are finite and within the ranges of the model: those in degrees seldom are."""
        with self.opened(motion_checks.preferred(self.interfaces)) as it:
            it.must_be_well()
            arm, q, qd = it.robot.arm, it.q, it.qd
            if not (np.isfinite(q).all() and np.isfinite(qd).all()):
                raise FailedError(f"joint values must be finite, but they are {q} and {qd}.")
            off = np.maximum(arm.q_min - q, q - arm.q_max)
            worst = int(off.argmax())
            if off[worst] > _RANGE_MARGIN:
                raise FailedError(
                    f"{arm.joint_names[worst]} is at {q[worst]:.4g} {arm.units[worst]}, outside its range of "
                    f"{arm.q_min[worst]:.4g} to {arm.q_max[worst]:.4g}. Check the units (rad, not degrees) and the "
                    "order of the joints."
                )
            if int(it.reading.wrench_state) not in (Robot.WRENCH_OK, Robot.WRENCH_MISSING, Robot.WRENCH_SATURATED):
                raise FailedError(f"wrench_state is {int(it.reading.wrench_state)}, but it must be 0, 1 or 2.")
            return f"all {it.n} joints are finite and within their ranges."


def _maker(source: Any) -> tuple[Callable[[str], Robot], float, bool]:
    """How to make a driver for an interface ("" for the first that it has), the period [s], whether only once."""
    if isinstance(source, Robot):
        return lambda interface: source, 0.004, True
    if isinstance(source, str):
        source = Task(robot=source)
    if isinstance(source, Task):
        task = source

        def make(interface: str) -> Robot:
            for name in [interface] if interface else [task.interface, *MODES]:
                try:
                    return open_robot(task.robot, task.model_copy(update={"interface": name}))
                except InputError as error:
                    if interface or error.field != "interface":
                        raise
            raise FailedError("it has none of the interfaces position, velocity and torque.")

        return make, task.dt, False
    return lambda interface: source(interface or "position"), 0.004, False


def _end(robot: Robot) -> None:
    for action in (robot.stop, robot.close):
        with contextlib.suppress(Exception):
            action()
