"""What the doctor finds about slides and equipment: each defect alone, and what looks like one and is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from doctor_runs import DT, TARGET, TICKS, contact_run, found, names, of

from pliant.analysis.doctor import examine
from pliant.control.laws.contact.contact_states import DONE, DWELL, SLIDE
from pliant.records import LIMIT_ACCELERATION, LIMITS
from support.law_numbers import ADMITTANCE

Array = np.ndarray[Any, Any]

SPEED = 0.01
BEGIN = 1500
"""The tick in which the slide begins."""
T = np.arange(TICKS) * DT


def slide(friction: float = 0.3, tilt: Array | float = 0.0, scale: Array | float = 1.0) -> Array:
    """A slide along x with this friction; the estimated normal is tilted along the path [rad], the force scaled."""
    records = contact_run()
    contact, rows = records["contact"], np.arange(TICKS) >= BEGIN
    contact["approach"] = (0.0, 0.0, -1.0)
    contact["state"][rows] = SLIDE
    contact["way"][rows, 0] = SPEED
    contact["travelled_m"][rows] = SPEED * (T[rows] - BEGIN * DT)
    angle = np.broadcast_to(tilt, TICKS)[rows]
    contact["normal"][rows] = np.column_stack((np.sin(angle), np.zeros(len(angle)), np.cos(angle)))
    for part in (records["reading"], records["observed"]):
        part["wrench"][rows, 2] *= np.broadcast_to(scale, TICKS)[rows]
        part["wrench"][rows, 0] -= friction * TARGET * np.broadcast_to(scale, TICKS)[rows]
    contact["force_n"] = contact["steady_n"] = np.sum(records["observed"]["wrench"][:, :3] * contact["normal"], axis=1)
    contact["noise_n"] = 0.2
    return records


def test_a_sound_slide_raises_no_alarm() -> None:
    assert names(examine(of(slide()))) == set()


def test_a_recording_begun_in_mid_contact_raises_no_alarm() -> None:
    records = slide()
    records["contact"]["since_s"] = T
    late = records[BEGIN + 200 :].copy()
    assert names(examine(of(late))) == set()
    assert "mid-contact" in found(late, "preload at start").cause


@pytest.mark.parametrize(
    ("tilt", "wrong"),
    [
        (0.4 * np.sin(2 * np.pi * 0.6 * (T - BEGIN * DT)), True),
        (0.1 * np.sin(2 * np.pi * 0.6 * (T - BEGIN * DT)), False),
        (0.4 * np.exp(-(T - BEGIN * DT)), False),  # it converges
        (0.2 * (T - BEGIN * DT), False),  # it follows a curve
    ],
)
def test_a_normal_that_turns_back_and_forth_is_found_and_one_that_converges_or_follows_is_not(
    tilt: Array, wrong: bool
) -> None:
    finding = found(slide(0.0, tilt), "swinging normal")
    assert finding.wrong == wrong
    if wrong:
        assert finding.figure("largest turn of the normal") == pytest.approx(np.degrees(0.8), rel=0.1)


@pytest.mark.parametrize(("friction", "wrong"), [(0.0, False), (0.9, False), (1.6, True), (-0.5, True)])
def test_a_friction_that_no_surface_has_is_found(friction: float, wrong: bool) -> None:
    finding = found(slide(friction), "friction out of range")
    assert finding.wrong == wrong
    assert finding.figure("friction, median") == pytest.approx(friction, abs=0.03)


def test_a_slope_that_is_not_known_yet_is_no_friction() -> None:
    learning = 0.5 * np.exp(-np.maximum(0.0, T - BEGIN * DT) / 0.3)
    assert not found(slide(0.0, learning), "friction out of range").wrong


def test_the_inertia_of_a_tool_that_sets_out_is_no_contact_that_is_lost() -> None:
    records = contact_run()
    records["observed"]["wrench"][100:200, 2] += 2.0
    assert not found(records, "contact losses").wrong


def test_a_total_force_far_above_the_target_is_found_whatever_the_law_believes() -> None:
    heavy = slide(1.0, 0.0, np.where(T > 5.0, 2.5, 1.0))
    heavy["contact"]["normal"][T > 5.0] = (math.sin(1.1), 0.0, math.cos(1.1))  # along it there is only the target
    finding = found(heavy, "total force above target")
    assert finding.wrong
    assert finding.figure("largest normal force, at least") == pytest.approx(2.5 * TARGET, rel=0.1)
    assert not found(slide(1.0), "total force above target").wrong


def test_a_force_off_its_target_is_found_and_noise_is_not() -> None:
    finding = found(slide(0.3, 0.0, 1.0 + 0.3 * np.sin(3.0 * T)), "force off target")
    assert finding.wrong
    assert finding.figure("force error while sliding, RMS / target") == pytest.approx(100 * 0.3 / math.sqrt(2), rel=0.1)
    assert not found(slide(), "force off target").wrong


def test_a_force_that_only_looks_right_along_a_wrong_normal_is_found() -> None:
    hidden = slide(0.3, 0.0, np.where(T > 6.0, 1.5, 1.0))
    hidden["contact"]["force_n"] = TARGET
    assert found(hidden, "force off target").wrong


def test_a_slide_that_crawls_is_found() -> None:
    records = slide()
    records["contact"]["way"][BEGIN:, 0] = np.where(T[BEGIN:] > 4.0, 0.1 * SPEED, SPEED)
    assert found(records, "crawling").wrong
    assert not found(slide(), "crawling").wrong


@pytest.mark.parametrize(("shift", "wrong"), [(0.2, False), (1.5, True)])
def test_a_zero_that_moved_is_found_after_the_lift_off(shift: float, wrong: bool) -> None:
    records = slide()
    free = T > 7.0
    records["contact"]["state"][free] = DONE
    for part in (records["reading"], records["observed"]):
        part["wrench"][free] = np.random.default_rng(2).normal(0.0, 0.2, (free.sum(), 6))
        part["wrench"][free, 2] += shift
    finding = found(records, "drift")
    assert finding.wrong == wrong
    assert finding.figure("change of the force in free air") == pytest.approx(shift, abs=0.1)


def in_free_air(mass_kg: float, zero_n: float, turn: float) -> Array:
    """A tool that turns about x in free air: beyond the declared one it has a mass, and its sensor a zero along z."""
    records = contact_run(np.zeros(TICKS))
    records["contact"]["state"], records["goal"]["law"] = 0, ADMITTANCE
    angle = turn * T / T[-1]
    pose = records["observed"]["pose"]
    pose[:] = 0.0
    pose[:, 3], pose[:, 4] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    records["observed"]["twist"][:] = 0.0
    wrench = records["observed"]["wrench"]
    wrench[:, 2] += zero_n * np.cos(angle) - 9.81 * mass_kg
    wrench[:, 1] -= zero_n * np.sin(angle)
    return records


@pytest.mark.parametrize(("mass", "zero", "wrong"), [(0.3, 0.0, True), (-0.2, 2.0, True), (0.0, 2.0, False)])
def test_a_wrong_tool_mass_is_told_from_a_wrong_zero_once_the_tool_turns(mass: float, zero: float, wrong: bool) -> None:
    finding = found(in_free_air(mass, zero, 1.5), "wrong tool mass")
    assert finding.wrong == wrong
    assert finding.figure("mass beyond the declared one") == pytest.approx(mass, abs=0.03)


def test_a_tool_that_does_not_turn_says_nothing_of_its_mass() -> None:
    assert found(in_free_air(0.3, 0.0, 0.1), "wrong tool mass").severity == "not checked"


@pytest.mark.parametrize(("noise", "wrong"), [(2e-5, False), (3e-4, True)])
def test_a_noisy_encoder_is_found(noise: float, wrong: bool) -> None:
    records = contact_run()
    records["reading"]["q"][:, 0] += np.random.default_rng(1).normal(0.0, noise, TICKS)
    finding = found(records, "encoder noise")
    assert finding.wrong == wrong
    assert finding.figure("noise of the joint positions") == pytest.approx(1e3 * noise, rel=0.15)


@pytest.mark.parametrize(("frequency", "wrong"), [(28.0, True), (4.0, False)])
def test_a_force_that_swings_faster_than_the_loop_is_a_resonance(frequency: float, wrong: bool) -> None:
    scale = 1.0 + 0.3 * np.sin(2 * np.pi * frequency * T)
    finding = found(slide(0.0, 0.0, scale), "gear resonance")
    assert finding.wrong == wrong
    if wrong:
        assert finding.figure("frequency") == pytest.approx(frequency, rel=0.1)


@pytest.mark.parametrize(("left", "wrong"), [(0.2, True), (0.9, False)])
def test_a_law_that_a_limit_starves_is_found(left: float, wrong: bool) -> None:
    records = contact_run(np.zeros(TICKS))
    records["contact"]["state"], records["goal"]["law"] = 0, ADMITTANCE
    observed, place = records["observed"], list(LIMITS).index(LIMIT_ACCELERATION)
    observed["limits"] = LIMIT_ACCELERATION
    observed["asked"][:, place], observed["allowed"][:, place] = 1.0, left
    finding = found(records, "starved law")
    assert finding.wrong == wrong
    assert finding.figure("share of the time with less than 50 % left") == pytest.approx(100.0 * wrong)


def test_a_start_that_was_rejected_for_a_preload_is_found_when_the_run_never_began() -> None:
    records = contact_run(np.full(TICKS, 0.52))
    records["contact"]["state"] = 0
    records["contact"]["state"][:200] = 1
    records["contact"]["rejected"][200:] = 9
    finding = found(records, "preload at start")
    assert finding.severity == "warning"
    assert DWELL not in records["contact"]["state"]
