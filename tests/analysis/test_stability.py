"""The model of the contact loop: stable where theory says so, and unstable where it says so."""

from __future__ import annotations

import math

import pytest

from pliant.analysis.checks.contact_loop import gain_margin, largest_stiffness, loop_matrix
from pliant.analysis.checks.first_touch import touch
from pliant.analysis.checks.task_check import check
from pliant.analysis.pictures.state_diagram import ways
from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.contact_stability import gain_for
from pliant.control.laws.contact.contact_states import DWELL, FAULT, SEEK, SLIDE
from pliant.errors import InputError
from pliant.params.declare import changed
from pliant.stability.guard import guard_start
from pliant.stability.plant import Plant, plant_of
from pliant.stability.pressed_loop import growth
from pliant.task.schema import Event, Response, Task, load_task

# A servo so quick and an arm so stiff that the lag is all transport: the textbook's pure delay.
DELAY = Plant(omega=800.0, transport=50, joint_omega=500.0, mass=1e3, tool=0.0, cutoff_hz=249.0, dt=0.002)
PLAIN = Contact(feed_forward="none", integral_lags=1000.0, lag_s=DELAY.lag_s, stiffness_max_n_m=1e6)


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
def test_a_pure_lag_is_stable_up_to_gain_times_stiffness_times_lag_of_half_pi(stiffness: float) -> None:
    limit = gain_for(PLAIN, DELAY.tool, stiffness, 0.0) * gain_margin(PLAIN, DELAY, stiffness, 0.0)
    assert limit * stiffness * DELAY.lag_s == pytest.approx(math.pi / 2, rel=0.06)


def test_the_gain_for_a_soft_surface_is_unstable_on_one_that_is_much_stiffer() -> None:
    most = largest_stiffness(PLAIN, DELAY, 1e3, 0.0)
    gain = gain_for(PLAIN, DELAY.tool, 1e3, 0.0)
    assert growth(loop_matrix(PLAIN, DELAY, 0.9 * most, 0.0, gain, 1e3)) < 1.0
    assert growth(loop_matrix(PLAIN, DELAY, 1.1 * most, 0.0, gain, 1e3)) > 1.0
    assert most * gain * DELAY.lag_s == pytest.approx(math.pi / 2, rel=0.06)


def dome(**values: object) -> Task:
    task = load_task("dome")
    return task.model_copy(update={"params": changed(task.params, {f"contact.{n}": v for n, v in values.items()})})


def test_a_first_touch_is_predicted_to_settle_without_overshoot() -> None:
    found = touch(dome(), 2e4, 50.0)
    assert found.peak_n < 5.5
    assert found.settle_s < 1.0


def test_the_task_that_comes_with_pliant_passes_its_check() -> None:
    assert check(dome()).passed


def test_a_lag_declared_too_short_is_found_out_with_advice() -> None:
    outcome = check(dome(lag_s=0.005))
    assert not outcome.passed
    assert "contact.lag_s" in outcome.notes[0]


def test_what_the_script_changes_later_is_checked_too() -> None:
    task = dome().model_copy(update={"events": (Event(at_s=2.5, set={"contact.lag_s": 0.004}),)})
    (later,) = [figure for figure in check(task).figures if "from 2.5 s on" in figure.name]
    assert not later.met
    assert any("An event makes the loop unstable" in note for note in check(task).notes)


def test_a_law_that_runs_before_the_contact_is_judged_as_the_start_judges_it() -> None:
    stiff = dome().model_copy(update={"law": "admittance", "events": (Event(at_s=2.5, law="contact"),)})
    (first,) = [figure for figure in check(stiff).figures if "at the start" in figure.name]
    assert not first.met


def test_a_surface_that_stands_nearer_than_the_free_height_is_told() -> None:
    task = dome(height_m=0.02)
    (found,) = [figure for figure in check(task).figures if "contact.height_m" in figure.name]
    p = task.params.contact
    assert found.value == pytest.approx(p.free_m_s * p.stiffness_max_n_m * plant_of(task).lag_s)


def test_a_task_without_contact_is_refused() -> None:
    with pytest.raises(InputError, match="contact"):
        check(load_task("hold"))


BUNDLED = ("conservative_start", "demo", "dome", "hand_guiding", "handover", "human_collaboration", "peg_in_hole",
           "plane", "precise_assembly", "push", "surface_following")  # fmt: skip


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_task_passes_its_check(name: str) -> None:
    found = check(load_task(name))
    assert found.passed, found.notes


@pytest.mark.parametrize("name", ["peg_in_hole", "precise_assembly"])
def test_the_presets_for_assembly_are_checked_on_a_part_in_its_fixture(name: str) -> None:
    assert load_task(name).surface_n_m == 2e4


def test_the_damping_of_a_surface_is_not_assumed() -> None:
    # with 50 N s/m of damping, the margin of the same set is above 20
    light = load_task("hand_guiding").replace({"admittance.damping_ratio": [1.0] * 6, "surface_n_m": 1000.0})
    (worst,) = [figure for figure in check(light).figures if figure.name == "1e+03 N/m: gain margin"]
    assert worst.value < 0.55
    with pytest.raises(InputError, match=r"1e\+03 N/m, the admittance has a gain margin of 0\.4"):
        guard_start(light)


def test_a_force_below_the_accuracy_of_the_sensor_comes_with_what_helps() -> None:
    assert any(
        "smallest reliable force of the built-in sensor (8.3 N). Set contact.tare" in note
        for note in check(dome(tare=False)).notes
    )
    real = dome(target_n=2.0, band_n=0.1).replace(robot="ur:192.0.2.1")
    (target,) = [figure for figure in check(real).figures if figure.name.startswith("contact.target_n relative")]
    assert not target.met
    assert any("use an external force sensor" in note for note in check(real).notes)


def test_noise_that_looks_like_contact_is_found_out() -> None:
    found = check(dome().replace({"sim.sensor.noise_n": 1.0}))
    (noise,) = [figure for figure in found.figures if figure.name.startswith("contact.touch_n")]
    assert not noise.met
    assert any("noise may look like contact" in note for note in found.notes)


def test_an_admittance_is_checked_on_its_surface() -> None:
    soft = load_task("surface_following")
    assert check(soft).passed
    stiff = check(soft.model_copy(update={"surface_n_m": 2e4}))
    assert not stiff.passed
    assert "law contact" in stiff.notes[0]


def test_what_was_identified_takes_the_place_of_the_simulated_servo() -> None:
    task = dome()
    known = task.model_copy(update={"response": Response(delay_s=0.0113, servo_s=0.05, force_s=0.006)})
    # filter, period, and all three of these, although they are no whole periods
    assert plant_of(known).lag_s == pytest.approx(1 / (2 * math.pi * 11.4) + 0.002 + 0.0673, abs=1e-6)


def test_a_tip_that_sticks_makes_the_arm_heavier_and_never_lighter() -> None:
    masses = [plant_of(dome(), stiffness=k).mass for k in (0.0, 1e3, 1e5, 1e9)]
    assert masses == sorted(masses)
    assert masses[-1] > 1.2 * masses[0]


@pytest.mark.parametrize("law", ["pi", "mass"])
@pytest.mark.parametrize("feed_forward", ["none", "surface"])
def test_both_forms_of_the_law_have_a_margin_with_and_without_feed_forward(law: str, feed_forward: str) -> None:
    p = dome(law=law, feed_forward=feed_forward).params.contact
    assert gain_margin(p, plant_of(dome(), stiffness=1e5), 1e5, 50.0) > 3.0


def test_the_picture_of_the_states_shows_the_table() -> None:
    drawn = ways()
    assert drawn[SEEK, DWELL] == ["touched"]
    assert drawn[DWELL, SLIDE] == ["dwelt"]
    assert not any(to == FAULT for _, to in drawn)
