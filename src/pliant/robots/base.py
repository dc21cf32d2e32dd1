"""What a robot is to the loop."""

from __future__ import annotations

from typing import Any, Protocol

from pliant.errors import RejectedError
from pliant.model.arm import Arm


class Robot(Protocol):
    """An arm that can be read and commanded once per period.

    `interfaces` names the commands it takes. `read` fills a reading record; `write` carries out a command
    record for one period. Neither raises: what goes wrong is in `fault`, and the loop ends with it. `stop` brings it to
    rest and is called on every way out; it must not raise.
    """

    name: str
    arm: Arm

    @property
    def interfaces(self) -> tuple[str, ...]: ...

    @property
    def fault(self) -> str:
        """Why the robot has stopped, or cannot be reached any more, in words; "" while all is well."""
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
    """What is told when a robot that is not simulated is to be pushed."""
    return RejectedError(f"Only a simulated arm can be pushed, not {robot}: give it a virtual push.")
