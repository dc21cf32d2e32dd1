"""What a conformance check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    """What was checked."""
    outcome: Literal["passed", "failed", "skipped"]
    """How it ended."""
    sentence: str
    """What was measured, what is wrong, or why it was skipped."""

    def __str__(self) -> str:
        return f"{self.outcome:<8} {self.name}: {self.sentence}"


@dataclass(frozen=True)
class Report:
    """The results of all checks of a robot; printing it shows one line per check."""

    robot: str
    """Name of the robot."""
    checks: tuple[Check, ...]
    """Every check, in the order in which it ran."""

    @property
    def ok(self) -> bool:
        """Whether no check failed; a check that was skipped has not failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    def __str__(self) -> str:
        counts = [f"{n} {word}" for word in ("passed", "failed", "skipped") if (n := self._count(word))]
        return "\n".join([f"{self.robot}: {', '.join(counts)}", *(f"  {check}" for check in self.checks)])

    def _count(self, outcome: str) -> int:
        return sum(check.outcome == outcome for check in self.checks)
