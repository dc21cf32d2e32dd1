"""The robot interface of the control loop."""

from __future__ import annotations

from typing import Any, Protocol

from pliant.errors import RejectedError
from pliant.model.arm import Arm


class Robot(Protocol):
    """An arm that can be read and commanded once per period.

    `interfaces` lists the commands it accepts. `read` fills a reading record; `write` carries out a command record for
    one period. Neither raises: an error is reported in `fault` and ends the loop. `stop` stops the robot. It is called
    on every exit and must not raise.
    """

    name: str
    arm: Arm

    @property
    def interfaces(self) -> tuple[str, ...]: ...

    @property
    def fault(self) -> str:
        """Why the robot stopped or is no longer reachable; "" if there is no fault."""
        ...

    def open(self) -> None: ...

    def read(self, reading: Any) -> None: ...

    def write(self, command: Any) -> None: ...

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the tool (simulated robots only; a real one raises)."""
        ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


def no_push(robot: str) -> RejectedError:
    """The error for a push on a robot that is not simulated."""
    return RejectedError(f"Only a simulated arm can be pushed, not {robot}. Use a virtual push instead.")
