"""Every row of the fault matrix ends in the state that it must: in its short form, and in full."""

from __future__ import annotations

import pytest

from pliant.compiling.ahead import ensure
from pliant.errors import RejectedError
from pliant_experiments.faults import fault_matrix
from pliant_experiments.faults.fault_matrix import QUICK, chosen_rows, happened
from pliant_experiments.faults.fault_rig import Rig
from pliant_experiments.faults.fault_row import Row, Seen
from support.needs import needs

NEEDS = {"rtde_control": [needs("ur_rtde")], "cyclonedds": [], "": []}
ROWS = fault_matrix.rows()


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    ensure("loop", "batch", "law hold", "law admittance")


def _cases(*, short: bool) -> list[object]:
    slow = [] if short else [pytest.mark.slow, pytest.mark.long]
    chosen = [row for row in ROWS.values() if row.quick or not short]
    return [pytest.param(row, id=str(row.number), marks=[*NEEDS[row.needs], *slow]) for row in chosen]


@pytest.mark.parametrize("row", _cases(short=True))
def test_a_row_in_its_short_form_is_as_expected(row: Row) -> None:
    seen = happened(row, short=True)
    assert seen.as_expected, f"{row.component}, {row.fault}: {seen.sentence}"


@pytest.mark.parametrize("row", _cases(short=False))
def test_a_row_is_as_expected(row: Row) -> None:
    seen = happened(row, short=False)
    assert seen.as_expected, f"{row.component}, {row.fault}: {seen.sentence}"


def test_rows_are_chosen_by_number_and_by_kind() -> None:
    chosen, short = chosen_rows("1-3, 7,3")
    assert ([row.number for row in chosen], short) == ([1, 2, 3, 7], False)
    assert chosen_rows(QUICK)[1]
    assert [row.number for row in chosen_rows("all")[0]] == sorted(ROWS)


@pytest.mark.parametrize("words", ["", "x", "1-", "0", "1,999", "-1", "1;2"])
def test_rows_that_do_not_exist_are_rejected_with_a_sentence(words: str) -> None:
    with pytest.raises(RejectedError, match=r"--rows is|There is no row"):
        chosen_rows(words)


def test_a_row_that_misses_says_what_did_not_happen() -> None:
    def miss(rig: Rig, seen: Seen, short: bool) -> None:
        seen.must(rig.folder.is_dir(), "there is a folder")
        seen.must(False, "the robot stops")
        raise TimeoutError("it never came")

    seen = happened(Row(0, "nothing", "fails", "nothing", miss), short=True)
    assert not seen.as_expected
    assert seen.sentence == "not: the robot stops; the row could not be finished: it never came; there is a folder"
