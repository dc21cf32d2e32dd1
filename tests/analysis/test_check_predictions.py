"""What the check predicts beyond stability: noise, static errors of the sensor, curvature, and what the law learns."""

from __future__ import annotations

import math

import pytest

from pliant.analysis.checks.credible_force import credible
from pliant.analysis.checks.first_touch import touch, worst_damped
from pliant.analysis.checks.task_check import check
from pliant.analysis.targets import Figure
from pliant.control.laws.registry import LAWS
from pliant.stability.body import apparent_stiffness
from pliant.stability.plant import plant_of
from pliant.stability.worst_case import MOST_STIFF, places, stiffest
from pliant.task.schema import Task, load_task


def dome(**values: object) -> Task:
    return load_task("dome").replace({f"contact.{name}": value for name, value in values.items()})


def figure(task: Task, part: str) -> Figure:
    return next(one for one in check(task).figures if part in one.name)


@pytest.mark.parametrize("stiffness", [1e3, 2e4, 1e6])
def test_a_rigid_arm_measures_the_stiffness_of_the_surface(stiffness: float) -> None:
    assert apparent_stiffness(plant_of(dome(), stiffness=stiffness), stiffness) == pytest.approx(stiffness, rel=1e-6)


def test_gears_and_surface_are_springs_in_series() -> None:
    real = dome().replace({"sim.realism": "typical"})
    gears = [1.0 / (1.0 / apparent_stiffness(plant_of(real, stiffness=k), k) - 1.0 / k) for k in (1e3, 1e4, 1e5)]
    assert all(2e4 < stiffness < 9e4 for stiffness in gears)  # published, at the tool of such arms
    # a tip that sticks to the surface is held sideways as well, the more the stiffer the surface is
    assert max(gears) < 1.5 * min(gears)


def test_the_law_is_judged_with_the_stiffness_that_it_can_learn() -> None:
    real = dome().replace({"sim.realism": "typical"})
    stiff = list(places(real, real.params, "contact"))[-1]
    assert stiff.stiffness == pytest.approx(1e5)
    assert stiff.known == pytest.approx(apparent_stiffness(plant_of(real, stiffness=1e5), 1e5))
    assert stiff.known < 0.6 * stiff.stiffness


def test_an_oscillation_that_the_law_learns_from_counts_as_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    # a heavy tool on a soft surface, with gears: the law first takes the swinging tool for a surface that moves
    heavy = dome(stiffness_min_n_m=1.2e3, stiffness_max_n_m=8e3, target_n=19, band_n=1, peak_n=27, force_limit_n=58)
    heavy = heavy.replace({"sim.realism": "typical", "contact.lag_s": plant_of(heavy).lag_s + 0.008})
    model = LAWS["contact"].stability
    assert model is not None
    taught = [place.badness for place in places(heavy, heavy.params, "contact")]
    monkeypatch.setitem(model.__dict__, "learn", None)
    untaught = [place.badness for place in places(heavy, heavy.params, "contact")]
    assert all(a <= b * (1.0 + 1e-9) for a, b in zip(taught, untaught, strict=True))
    assert max(taught) < max(untaught)


def test_a_lesson_never_makes_a_surface_softer_or_less_damped() -> None:
    model, task = LAWS["contact"].stability, dome()
    assert model is not None
    assert model.learn is not None
    for place in places(task, task.params, "contact"):
        assert place.known >= task.params.contact.stiffness_min_n_m


def test_settling_is_a_property_of_the_loop_and_noise_one_of_the_band() -> None:
    faint = dome(target_n=2.0, band_n=0.15, peak_n=3.0)  # 5 % of it is half the sensor's noise
    assert check(faint).passed
    quiet, loud = worst_damped(faint, 1e3), touch(faint, 1e3, 0.0)
    assert quiet.settle_s < 2.0
    assert math.isnan(loud.settle_s) or loud.settle_s > quiet.settle_s
    noisy = figure(dome(target_n=2.0, band_n=0.05, peak_n=3.0), "contact.band_n relative")
    assert not noisy.met
    assert any("Raise contact.band_n" in note for note in check(dome(target_n=2.0, band_n=0.05, peak_n=3.0)).notes)


@pytest.mark.parametrize(("target", "met"), [(20.0, True), (40.0, False)])
def test_a_dome_into_which_the_tip_sinks_curves_more_than_the_law_follows(target: float, met: bool) -> None:
    deep = dome(target_n=target, band_n=1.0, peak_n=1.4 * target, force_limit_n=3.0 * target, stiffness_min_n_m=500)
    deep = deep.replace({"sim.surfaces.0.stiffness_n_m": 1000.0})
    found = figure(deep, "curvature")
    assert found.met == met
    assert found.value == pytest.approx(1.0 / (0.045 - target / 1000.0))


def test_static_errors_are_those_of_the_declared_realism() -> None:
    errors = {
        level: credible(real, real.params).static.at(5.0)
        for level in ("ideal", "typical", "harsh")
        if (real := dome().replace({"sim.realism": level}))
    }
    assert errors["ideal"] == 0.0
    assert 0.2 < errors["typical"] < errors["harsh"]


def test_the_static_error_is_told_with_what_helps() -> None:
    real = dome().replace({"sim.realism": "typical"})
    assert figure(real, "static errors").value == pytest.approx(credible(real, real.params).static.at(5.0))
    assert any("static errors" in note.lower() and "external force sensor" in note for note in check(real).notes)
    assert not any("static errors" in note.lower() for note in check(dome()).notes)


def test_joint_friction_sets_how_finely_a_force_can_be_held() -> None:
    firm = {"contact.target_n": 20.0, "contact.band_n": 1.0, "contact.peak_n": 28.0, "contact.force_limit_n": 60.0}
    real = dome().replace({"sim.realism": "typical"})
    faint, strong = (figure(task, "joint friction") for task in (real, real.replace(firm)))
    assert (faint.met, strong.met) == (False, True)
    assert faint.value == pytest.approx(4.0 * strong.value)
    assert any("softer pad" in note for note in check(real).notes)
    without = real.replace({"sim.effects.friction.level": "ideal"})
    assert not any("joint friction" in one.name for one in check(without).figures)


def test_the_largest_stable_stiffness_is_marked_where_the_search_ended() -> None:
    soft = dome(stiffness_min_n_m=500.0, stiffness_max_n_m=1000.0, lag_s=0.2)
    found = figure(soft, "largest stable stiffness")
    assert found.or_more == (stiffest(soft, soft.params, "contact") >= MOST_STIFF)
