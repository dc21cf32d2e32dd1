"""The figures of a contact: a slide that is incomplete or never started meets no target and raises no error."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pliant.control.laws.contact.contact_states import DONE, DWELL, ENDED, FAULT, LIFTED, RETRACT, SEEK, SLIDE, TIMEOUT
from pliant.control.telemetry import TELEMETRY
from pliant_experiments.contact import contact_sweep, dome
from pliant_experiments.contact.contact_scenes import _over_the_edge
from pliant_experiments.scenes.contact_trial import QUICK, Figures, Trace, completed, judge


def trace(*parts: tuple[int, int, int], way_m: float = 0.05) -> Trace:
    """A run through (state, reason, ticks), pressing 5 N except while it seeks or has lifted off."""
    states = np.concatenate([np.full(ticks, state) for state, _, ticks in parts])
    records = TELEMETRY.new(len(states))
    c = records["contact"]
    c["state"] = states
    c["reason"] = np.concatenate([np.full(ticks, reason) for _, reason, ticks in parts])
    c["travelled_m"] = np.where(states == SLIDE, way_m, 0.0)
    c["normal"][:, 2] = 1.0
    pressed = np.isin(states, (DWELL, SLIDE))
    return Trace(np.arange(len(states)) * 0.002, np.where(pressed, 5.0, 0.0), np.zeros((len(states), 3)), records)


WHOLE = ((SEEK, 0, 100), (DWELL, 0, 100), (SLIDE, 0, 500), (RETRACT, ENDED, 100), (DONE, LIFTED, 10))


def test_a_slide_counts_as_completed_only_with_its_whole_way_and_its_end() -> None:
    assert all(figure.met for figure in completed("whole", judge(trace(*WHOLE))))
    assert [figure.met for figure in completed("short", judge(trace(*WHOLE, way_m=0.04)))] == [False, True]
    broken = (*WHOLE[:3], (FAULT, TIMEOUT, 100))
    assert [figure.met for figure in completed("broken", judge(trace(*broken)))] == [True, False]


def test_a_run_without_a_slide_misses_its_bars_and_breaks_nothing() -> None:
    run = trace((SEEK, 0, 100), (DWELL, 0, 100), (FAULT, TIMEOUT, 100))
    assert dome._learned(QUICK, 1e3, run) == []
    figures = {figure.name: figure for figure in dome._targets(QUICK, 1e3, judge(run))}
    assert figures["1000 N/m, 25 ms: slide distance"].met is False
    assert math.isnan(figures["1000 N/m, 25 ms: mean speed while sliding"].value)


def test_an_edge_that_never_came_is_no_figure() -> None:
    assert all(math.isnan(value) for value in _over_the_edge(trace((SEEK, 0, 100), (FAULT, TIMEOUT, 10))))
    assert all(math.isnan(value) for value in _over_the_edge(trace(*WHOLE[:3])))
    late_s, dive_m = _over_the_edge(trace(*WHOLE))
    assert (late_s, dive_m) == (0.0, 0.0)


def test_the_grid_has_the_bars_of_its_stiffness_and_lag() -> None:
    good = Figures(7.4, 0.5, 0, 0.1, 5.0, way_m=0.05, ended=True)

    def missed(lag_ms: int, *, soft: Figures = good, stiff: Figures = good) -> int:
        return sum(not figure.met for figure in contact_sweep._targets(lag_ms, [soft, *[good] * 5, stiff]))

    hard, rough = replace(good, peak_n=8.0), replace(good, slide_rms_n=0.3)
    assert (missed(25), missed(50)) == (0, 0)
    assert (missed(25, stiff=hard), missed(25, soft=hard), missed(50, soft=hard)) == (0, 1, 0)
    assert (missed(25, stiff=rough), missed(25, soft=rough), missed(50, soft=rough)) == (0, 1, 0)
    assert missed(25, stiff=replace(good, peak_n=10.1, slide_rms_n=0.6)) == 2
    assert missed(50, stiff=replace(good, peak_n=10.1)) == 1
    assert missed(50, soft=replace(good, ended=False, way_m=0.04)) == 2
