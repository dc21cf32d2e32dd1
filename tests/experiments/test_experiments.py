"""Every experiment meets its bars, and says so in the agreed form."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path

import pytest

from pliant.analysis.figures import Outcome, at_least, at_most, told, within
from pliant.errors import UnknownNameError
from pliant.experiments import find, summaries

# Less of the same where a command takes its time: the bars are those of the command, but for the number of runs.
QUICKER = {
    "limits": {"BATCHES": 2, "LONG_BATCHES": 1},
    "doctor": {"SEEDS": 1, "SURFACES": 1},
    "whole-body": {"SECONDS": 6.0},
    "planner": {"QUERIES": 40, "OMPL_S": 1.0},
    "mission": {"STARTS": 2, "ON_WHEELS": 1, "WITH_NOISE": 1, "MISHAPS": 3},
    "ur-emulator": {"ROUNDS": 1, "MOST_FAULTS": 2, "INTERFACES": ("velocity",)},
    "ros2": {"MESSAGES": 200, "ROUND_TRIPS": 100, "SECONDS": 0.5, "TURNS": 1},
}
# Figures in these units come from the clock, and a test on a busy machine says nothing about them.
CLOCKED = {
    "planner": ("ms", "×"),
    "whole-body": ("ms",),
    "ros2": ("µs",),
    "ur-emulator": ("ms", "s", "N", "mm", "losses", "done"),
}
# Modules of extras without which an experiment cannot run.
NEEDS = {"ur-emulator": "rtde_control", "ros2": "cyclonedds"}


@pytest.mark.parametrize("name", list(summaries()))
def test_every_experiment_meets_its_bars_and_draws_its_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(NEEDS.get(name, "pliant")) is None:
        if os.environ.get("CI"):
            pytest.fail(f"{NEEDS[name]} is not installed")
        pytest.skip(f"{NEEDS[name]} is not installed")
    for constant, value in QUICKER.get(name, {}).items():
        module = importlib.import_module(f"pliant.experiments.{name.replace('-', '_')}")
        monkeypatch.setattr(module, constant, value)
    shares: list[float] = []
    outcome = find(name)(3, shares.append)
    missed = [figure for figure in outcome.figures if not figure.holds and figure.unit not in CLOCKED.get(name, ())]
    assert not missed
    assert outcome.name == name
    assert any(figure.bar for figure in outcome.figures)
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0
    if outcome.draw is not None:
        outcome.draw(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_experiment_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'press'"):
        find("pres")


def test_a_figure_beyond_its_bar_does_not_hold_and_neither_does_the_outcome() -> None:
    good, bad = at_most("a", 1.0, "N", 1.0), at_most("b", 1.01, "N", 1.0)
    assert good.holds
    assert not bad.holds
    assert not Outcome("x", 0, 0.0, [good, bad]).holds
    assert not at_least("c", 0.9, "", 1.0).holds
    assert not within("d", 1.2, "", 1.0, 0.1).holds
    assert told("e", 7.0).holds


def test_not_a_number_meets_no_bar_and_is_null_in_json() -> None:
    figures = [at_most("a", math.nan, "", 1.0), at_least("b", math.nan, "", 1.0), within("c", math.nan, "", 1.0, 9.0)]
    assert not any(figure.holds for figure in figures)
    text = json.dumps(Outcome("x", 0, 0.0, figures).as_dict(), allow_nan=False)
    assert json.loads(text)["figures"][0]["value"] is None
