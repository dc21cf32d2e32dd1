"""Supervision of drivers: an exception in one ends the loop with a sentence that names the driver."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, RejectedError
from pliant.robots.interface import Robot


class Supervised(Robot):
    """A robot whose driver may fail: what it raises in `read` or `write` becomes a fault, and `write` ends with it."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._raised = robot, ""
        self.name, self.arm, self.interfaces = robot.name, robot.arm, tuple(robot.interfaces)
        self._read, self._write = robot.read, robot.write

    @property
    def fault(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the driver reports, or what it raised."""
        return self._raised or self._robot.fault

    def open(self) -> None:
        """Connect; what goes wrong is reported in one sentence."""
        with driver_errors(self.name):
            self._robot.open()

    def read(self, reading: Any) -> None:
        """Fill the reading; after an exception it stays as it is."""
        try:
            self._read(reading)
        except Exception as error:
            self._raised = self._raised or raised_words(self.name, error)

    def write(self, command: Any) -> None:
        """Carry out the command, unless there is a fault."""
        if self._raised or self._robot.fault:
            return
        try:
            self._write(command)
        except Exception as error:
            self._raised = raised_words(self.name, error)

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the tool, if the robot can be pushed."""
        self._robot.push(wrench, for_s)

    def stop(self) -> None:
        """Stop the arm; the loop reports what the driver raises."""
        self._robot.stop()

    def close(self) -> None:
        """Disconnect. The robot has stopped and the end is reported, so an exception is only printed."""
        try:
            self._robot.close()
        except Exception as error:
            with contextlib.suppress(OSError):
                print(f"Closing failed: {raised_words(self.name, error)}.", file=sys.stderr, flush=True)


@contextlib.contextmanager
def driver_errors(robot: str) -> Iterator[None]:
    """Exceptions of a driver, other than Pliant's, as one sentence that names `robot`."""
    try:
        yield
    except PliantError:
        raise
    except Exception as error:
        words = raised_words(robot, error)
        raise RejectedError(f"{words[0].upper()}{words[1:]}.", field="robot", value=robot) from error


def raised_words(robot: str, error: Exception) -> str:
    """What a driver raised, and where, as the end of a sentence."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    said = " ".join(str(error).split()).rstrip(".")
    return f"the driver of {robot} raised {type(error).__name__}{f': {said}' if said else ''}{place}"
