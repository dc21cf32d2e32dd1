"""Showing figures: what was measured, what was not, and text as it is."""

from __future__ import annotations

import math
from io import StringIO

import pytest
from rich.console import Console

from pliant.analysis.targets import Figure, Outcome, at_least, reported
from pliant.cli import show
from pliant.errors import did_you_mean


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    stream = StringIO()
    monkeypatch.setattr(show, "out", Console(file=stream, width=120, highlight=False, markup=show.out._markup))
    return stream


def shown(printed: StringIO, figures: list[Figure], notes: list[str]) -> str:
    code = show.report(Outcome("tick [1]", 0, 1.0, figures, notes), as_json=False, picture=None)
    return f"{code} {printed.getvalue()}"


def test_brackets_in_names_and_notes_are_seen(printed: StringIO) -> None:
    said = shown(printed, [reported("mass [kg]", 1.0)], ["pip install 'pliant[dev]' to compare."])
    assert "pip install 'pliant[dev]' to compare." in said
    assert "tick [1]" in said
    assert "mass [kg]" in said


def test_what_was_not_measured_is_told_so_and_fails_nothing(printed: StringIO) -> None:
    said = shown(printed, [reported("times faster", math.nan, "×"), at_least("other", 3.0, "×", 2.0)], [])
    assert said.startswith("0 ")
    assert "not measured" in said


def test_a_value_that_is_no_number_fails_its_bar(printed: StringIO) -> None:
    said = shown(printed, [at_least("times faster", math.nan, "×", 10.0)], [])
    assert said.startswith("1 ")
    assert "not measured" not in said


def test_a_report_ends_with_a_verdict(printed: StringIO) -> None:
    good, bad = at_least("fast", 3.0, "×", 2.0), at_least("slow", 1.0, "×", 2.0)
    assert show.verdict([reported("mass", 1.0)]) == ""
    assert show.verdict([good]) == "All targets met."
    assert show.verdict([good, *[bad] * 7]).endswith("slow; slow and 2 more.")
    assert "1 target missed: slow." in shown(printed, [good, bad], ["A note."])


def test_a_table_without_bars_has_no_columns_for_them(printed: StringIO) -> None:
    assert "met" not in shown(printed, [reported("mass", 1.0, "kg")], [])
    assert "met" in shown(printed, [at_least("mass", 1.0, "kg", 0.5)], [])


@pytest.mark.parametrize(
    ("said", "sure"), [("yes", True), ("Y", True), ("no", False), ("", False), ("what\nyes", True)]
)
def test_whoever_is_asked_may_say_yes_in_full(said: str, sure: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(f"{said}\n"))
    assert show.may_it_move() is sure


def test_of_very_many_names_those_of_the_section_are_told() -> None:
    names = [
        f"{section}.{letter}{number}" for section in ("sense", "limits") for letter in "ab" for number in range(20)
    ]
    assert did_you_mean("sense.a1x", names, all_names="List all: x.") == " Did you mean 'sense.a1'? List all: x."
    assert did_you_mean("zzz", names) == " Known: limits.…, sense.…."
    assert did_you_mean("zzz", names, all_names="List all: x.") == " Known: limits.…, sense.…. List all: x."
    few = [name for name in names if name.startswith("sense.a1")]
    assert did_you_mean("sense.a1x", few).startswith(" Did you mean 'sense.a1'? Known: sense.a1, ")
    flat = [f"{letter}{number}" for letter in "abc" for number in range(8)]
    assert did_you_mean("zzz", flat).endswith(", b7 and 8 more.")


def test_another_number_or_the_parameter_of_another_section_is_not_suggested() -> None:
    arms = ["ur3e", "ur5e", "ur10e", "two_link"]
    assert "Did you mean" not in did_you_mean("ur20", arms)
    assert did_you_mean("ur5", arms).startswith(" Did you mean 'ur5e'?")
    assert "Did you mean" not in did_you_mean("admittance.stiffness", ["sim.drive.stiffness_hz", "map"])


def test_a_name_that_is_only_similar_in_its_section_is_not_suggested() -> None:
    assert did_you_mean("contact.speed", ["contact.path", "sense.bias"]) == " Known: contact.path, sense.bias."
