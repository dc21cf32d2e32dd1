"""The fault matrix: every row makes a real fault in real processes, and looks from outside at what happens."""

from __future__ import annotations

import importlib
import importlib.util
import time

from pliant.analysis.experiment_options import Option
from pliant.analysis.experiments import Progress
from pliant.analysis.targets import Figure, Outcome, reported, within
from pliant.errors import RejectedError
from pliant_experiments.faults.fault_rig import Rig
from pliant_experiments.faults.fault_row import ROWS, Row, Seen

_PACKAGE = "pliant_experiments.faults"
_MODULES = ("loop_rows", "recorder_rows", "memory_rows", "law_rows", "studio_rows", "ur_rows")
QUICK, ALL = "quick", "all"
DEFAULT = ALL
OPTIONS = (
    Option("rows", "Rows to run, such as 1-9,13, quick (the short form of all that take seconds) or all.", text=True),
)


def rows() -> dict[int, Row]:
    """All rows by number."""
    for module in _MODULES:
        importlib.import_module(f"{_PACKAGE}.{module}")
    return dict(sorted(ROWS.items()))


def chosen_rows(words: str) -> tuple[list[Row], bool]:
    """The rows that an option names, and whether in their short form."""
    known = rows()
    if words in (QUICK, ALL):
        return [row for row in known.values() if words == ALL or row.quick], words == QUICK
    numbers: list[int] = []
    for part in words.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            said = f"--rows is {words!r}, but it must be quick, all, or numbers such as 1-9,13."
            raise RejectedError(said, field="--rows", value=words)
        numbers += range(int(first), int(last or first) + 1)
    if unknown := [number for number in numbers if number not in known]:
        listed = ", ".join(map(str, known))
        raise RejectedError(f"There is no row {unknown[0]}. Known: {listed}.", field="--rows", value=words)
    return [known[number] for number in dict.fromkeys(numbers)], False


def happened(row: Row, *, short: bool) -> Seen:
    """What happens when a row is made to happen."""
    seen = Seen()
    try:
        with Rig() as rig:
            row.happen(rig, seen, short)
    except Exception as error:  # of a library too: the row is a miss, and the next one is run
        seen.misses.append(f"the row could not be finished: {error}")
    return seen


def run(seed: int, progress: Progress, rows: str = "") -> Outcome:
    """The chosen rows, one after the other. Times depend on the load of the machine; the seed changes nothing."""
    began, (chosen, short) = time.perf_counter(), chosen_rows(rows or DEFAULT)
    figures: list[Figure] = []
    notes: list[str] = []
    table = []
    for i, row in enumerate(chosen):
        name = f"{row.number} {row.component}: {row.fault}"
        if row.needs and importlib.util.find_spec(row.needs) is None:
            notes.append(f"{name}. Not run: it needs the package {row.needs}.")
            continue
        seen = happened(row, short=short)
        figures.append(within(f"{name} (1: as expected)", float(seen.as_expected), "", 1.0, 0.0))
        if seen.safe_s is not None:
            figures.append(reported(f"{row.number} time to the safe state", seen.safe_s, "s"))
        saved = {None: "", True: " The last seconds are on the disk.", False: " The last seconds are NOT on the disk."}
        notes.append(f"{name}. Must: {row.expected}. Was: {seen.sentence}.{saved[seen.saved]}")
        table.append(
            {
                "row": row.number, "component": row.component, "fault": row.fault, "expected": row.expected,
                "as_expected": seen.as_expected, "happened": seen.sentence, "safe_s": seen.safe_s, "saved": seen.saved,
            }
        )  # fmt: skip
        progress((i + 1) / len(chosen))
    return Outcome("faults", seed, time.perf_counter() - began, figures, notes, table=table)
