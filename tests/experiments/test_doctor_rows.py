"""What the doctor is known to miss stays visible in its experiment, and counts neither for nor against its targets."""

from __future__ import annotations

from pliant.analysis.targets import Figure
from pliant_experiments.contact.doctor_cases import DEFECTS, Defect
from pliant_experiments.contact.doctor_own_laws import BROKEN, OVERLOOKED, SOUND
from pliant_experiments.contact.doctor_trials import Trial, _figures


def trial(defect: Defect, found: frozenset[str]) -> Trial:
    return Trial(defect, f"{defect.name}, 1000 N/m, seed 0", found, silent=False, off={})


def rows(missed: frozenset[str]) -> list[Figure]:
    sound = [trial(defect, frozenset()) for defect in SOUND]
    broken = [trial(defect, defect.must) for defect in (*DEFECTS, *BROKEN)]
    return _figures([*broken, *sound, *(trial(defect, defect.must - missed) for defect in OVERLOOKED)])


def test_a_known_miss_is_a_row_without_a_bar_and_lowers_the_share_of_all_runs() -> None:
    every = frozenset(name for defect in OVERLOOKED for name in defect.must)
    found, missed = rows(frozenset()), rows(every)
    assert all(figure.met for figure in missed)
    told = [figure for figure in missed if figure.name.startswith("known miss")]
    assert len(told) == len(OVERLOOKED)
    assert all(figure.value == 0.0 and not figure.target for figure in told)
    whole = [next(f.value for f in figures if "including the known misses" in f.name) for figures in (found, missed)]
    assert whole[0] == 100.0
    assert whole[1] < 100.0


def test_a_miss_that_is_not_known_misses_the_target() -> None:
    figures = _figures([trial(DEFECTS[1], frozenset()), trial(SOUND[0], frozenset())])
    assert not all(figure.met for figure in figures)


def test_a_finding_without_a_reason_in_a_known_miss_misses_the_target_too() -> None:
    hard = trial(OVERLOOKED[0], frozenset({"negative damping"}))
    figures = _figures([trial(DEFECTS[1], DEFECTS[1].must), trial(SOUND[0], frozenset()), hard])
    assert [figure.name for figure in figures if not figure.met] == ["false findings, all runs"]
