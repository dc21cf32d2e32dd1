"""Options that an experiment declares reach it as keywords, and what it did not declare is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from pliant.analysis.experiment_options import Option, parse
from pliant.analysis.experiments import find_experiment
from pliant.errors import RejectedError, UnknownNameError
from pliant.record import Recording
from pliant.world.world_config import Surface
from pliant_experiments.contact import compare
from pliant_experiments.rivals.rival_contact import RIVALS

DECLARED = (Option("law", "A law.", ("one", "two"), many=True), Option("to-file", "A file."))


def test_options_reach_the_experiment_as_keywords_in_both_ways_of_writing() -> None:
    words = ["--law", "one", "--to-file=there.txt", "--law=two"]
    assert parse("some", DECLARED, words) == {"law": ("one", "two"), "to_file": Path("there.txt")}
    assert parse("some", DECLARED, []) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--size", "3"], "Unknown option --size for the experiment some. It accepts --law, --to-file, --json"),
        (["three"], "Unknown option three"),
        (["--law"], "--law needs a value"),
        (["--law", "--to-file", "x"], "--law needs a value"),
        (["--to-file", "a", "--to-file", "b"], "--to-file can be given only once"),
    ],
)
def test_what_was_not_declared_is_refused_in_one_sentence(words: list[str], said: str) -> None:
    with pytest.raises(RejectedError, match=said):
        parse("some", DECLARED, words)


def test_an_unknown_value_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown law 'tow'\. Did you mean 'two'\? Known: one, two"):
        parse("some", DECLARED, ["--law", "tow"])


def test_only_declared_options_are_there() -> None:
    assert [option.name for option in find_experiment("compare").options] == ["rival", "record"]
    assert find_experiment("press").options == ()
    assert "--rival" in find_experiment("compare").summary


@pytest.mark.slow
def test_compare_runs_the_rivals_that_were_named_and_records_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "STIFFNESS", (2e4,))

    def only_a_plane(stiffness: float) -> Surface:
        return compare.plane(stiffness)

    monkeypatch.setattr(compare, "dome", only_a_plane)
    outcome = compare.run(0, lambda share: None, rival=("sign",), record=tmp_path)
    told = " ".join(figure.name for figure in outcome.figures)
    assert RIVALS["sign"].name in told
    assert RIVALS["force_mode"].name not in told
    assert {path.name for path in tmp_path.iterdir()} == {"plane-20000-contact.mcap", "plane-20000-sign.mcap"}
    rival = Recording.load(tmp_path / "plane-20000-sign.mcap")
    contact = rival.records["contact"]
    assert rival.meta["law"] == RIVALS["sign"].name
    # the damper of this rival opposes the speed into the surface, and it says so
    into = -rival.records["observed"]["twist"][:, 2]
    assert (contact["damper_n"] * into).max() <= 0.0
    assert (abs(contact["asked"]) <= abs(contact["wanted"]) + 1e-12).all()
