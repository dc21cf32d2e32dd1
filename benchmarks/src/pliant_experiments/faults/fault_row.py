"""One row of the fault matrix: what fails, how, what must happen, and what did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant_experiments.faults.fault_rig import Rig


@dataclass
class Seen:
    """What happened, in sentences as it is found out; one that must not be is marked as a miss."""

    words: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    safe_s: float | None = None
    """How long it took until the robot was safe [s]; None if it never was in danger."""
    saved: bool | None = None
    """Whether the last five seconds are on the disk; None if nothing was to be saved."""

    def must(self, holds: object, words: str) -> None:
        """Note a claim, and whether it holds."""
        (self.words if holds else self.misses).append(words if holds else f"not: {words}")

    @property
    def as_expected(self) -> bool:
        """Whether all that must happen did."""
        return not self.misses

    @property
    def sentence(self) -> str:
        """What happened, misses first."""
        return "; ".join(dict.fromkeys([*self.misses, *self.words]))


@dataclass(frozen=True)
class Row:
    """A row: its place in the table, and the function that makes it happen."""

    number: int
    component: str
    fault: str
    expected: str
    """The safe state that must be reached."""
    happen: Callable[[Rig, Seen, bool], None]
    """Makes it happen; the flag asks for the short form (shorter waits, fewer repetitions)."""
    quick: bool = True
    """Whether it takes only seconds."""
    needs: str = ""
    """The module that it needs, beyond those of Pliant."""


ROWS: dict[int, Row] = {}
"""All rows by number; the modules of rows fill it."""


def row(
    number: int, component: str, fault: str, expected: str, *, quick: bool = True, needs: str = ""
) -> Callable[[Callable[[Rig, Seen, bool], None]], Callable[[Rig, Seen, bool], None]]:
    """Register a function as a row."""

    def register(happen: Callable[[Rig, Seen, bool], None]) -> Callable[[Rig, Seen, bool], None]:
        assert number not in ROWS, f"row {number} is there twice"
        ROWS[number] = Row(number, component, fault, expected, happen, quick, needs)
        return happen

    return register
