"""Every experiment meets its targets, or is known not to yet, and reports them in the agreed form."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from quicker import OPEN, PACED, meets_its_targets, runs

from pliant.analysis.experiments import experiments, find_experiment
from pliant.analysis.targets import Outcome, at_least, at_most, reported, within
from pliant.cli.show import verdict
from pliant.errors import UnknownNameError
from pliant_experiments.mobile import planner_trials as planner

QUICK = ("push", "press")
"""These take two seconds; what the others show is tested in the quick tier by smaller tests."""

COMPUTED = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
    for name in experiments()
    if name not in PACED and name not in OPEN
]


@pytest.mark.parametrize("name", COMPUTED)
def test_every_experiment_meets_its_targets_and_draws_its_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meets_its_targets(name, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPEN)
def test_an_experiment_with_open_targets_runs_and_says_which_it_misses(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = runs(name, tmp_path, monkeypatch)
    assert outcome.passed == all(figure["met"] for figure in outcome.as_dict()["figures"])
    said = verdict(outcome.figures)
    missed = [figure.name for figure in outcome.figures if not figure.met]
    assert said.startswith(f"{len(missed)} target") if missed else said == "All targets met."


def test_an_unknown_experiment_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'press'"):
        find_experiment("pres")


def test_a_figure_beyond_its_bar_does_not_hold_and_neither_does_the_outcome() -> None:
    good, bad = at_most("a", 1.0, "N", 1.0), at_most("b", 1.01, "N", 1.0)
    assert good.met
    assert not bad.met
    assert not Outcome("x", 0, 0.0, [good, bad]).passed
    assert not at_least("c", 0.9, "", 1.0).met
    assert not within("d", 1.2, "", 1.0, 0.1).met
    assert reported("e", 7.0).met


def test_not_a_number_meets_no_bar_and_is_null_in_json() -> None:
    figures = [at_most("a", math.nan, "", 1.0), at_least("b", math.nan, "", 1.0), within("c", math.nan, "", 1.0, 9.0)]
    assert not any(figure.met for figure in figures)
    text = json.dumps(Outcome("x", 0, 0.0, figures).as_dict(), allow_nan=False)
    assert json.loads(text)["figures"][0]["value"] is None


def test_notes_are_part_of_the_json_object() -> None:
    assert Outcome("x", 0, 0.0, [], ["Something was not measured."]).as_dict()["notes"] == [
        "Something was not measured."
    ]
    assert "notes" not in Outcome("x", 0, 0.0, []).as_dict()


def test_without_ompl_what_is_compared_with_it_is_told_as_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "ompl_is_there", lambda: False)
    monkeypatch.setattr(planner, "QUERIES", 5)
    told = [planner._lengths(), planner._cramped(0, lambda share: None)]
    compared = [figure for figures, _ in told for figure in figures if "OMPL" in figure.name]
    assert len(compared) == 2
    assert all(math.isnan(figure.value) and not figure.target for figure in compared)
    assert all("OMPL is not installed" in note for _, notes in told for note in notes)
