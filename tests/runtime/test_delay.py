"""The arm finds its own lag: by real moves of the simulated arm, and what was found is what check and law then use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.identify.delay_fit import DelayError
from pliant.identify.delay_motion import Excitation, delay_settings, find_lag, move_free, move_pressed
from pliant.params.declare import validated
from pliant.stability.guard import guard_start
from pliant.stability.plant import plant_of
from pliant.task.schema import Task

SURFACE = {"position_m": [0.4919, 0.1333, 0.3349], "stiffness_n_m": 20000.0}
TOOL = {"mass_kg": 0.8, "com_m": [0, 0, 0.06], "tcp_m": [0, 0, 0.15]}


def task(bandwidth_hz: float = 6.8, delay_s: float = 0.004, **more: Any) -> Task:
    servo = {"bandwidth_hz": bandwidth_hz, "delay_s": delay_s}
    sim = {"seed": 3, "servo": servo, **more.pop("sim", {})}
    return validated(Task, {"law": "contact", "tool": TOOL, "sim": sim, **more})


SHORT = Excitation(seconds=3.0)


@pytest.mark.parametrize(("bandwidth", "delay"), [(6.8, 0.004), (25.0, 0.002), (4.0, 0.02)])
def test_the_lag_of_the_servo_is_found_within_half_a_millisecond(bandwidth: float, delay: float) -> None:
    what = task(bandwidth, delay)
    found = find_lag(what, SHORT, fast=True)
    assert found.motion.lag_s == pytest.approx(what.sim.servo.lag_s, abs=5e-4)
    assert found.total_s == pytest.approx(plant_of(what).lag_s, abs=1e-3)
    assert found.motion.gain == pytest.approx(1.0, abs=0.01)


def test_one_joint_shows_the_same_lag_as_the_tool() -> None:
    what = task()
    for joint in (1, 6):
        found = find_lag(what, Excitation(seconds=3.0, joint=joint), fast=True)
        assert found.motion.lag_s == pytest.approx(what.sim.servo.lag_s, abs=5e-4)
    with pytest.raises(InputError, match="joint is 7, but it must be from 1 to 6"):
        find_lag(what, Excitation(joint=7), fast=True)


def test_in_free_space_the_tool_only_goes_back_along_its_axis_and_returns() -> None:
    moved = move_free(task(), SHORT, fast=True)
    assert moved.command.min() >= -1e-9
    assert moved.command.max() <= SHORT.amplitude_m * 1.001
    assert np.abs(moved.speed).max() < 0.06


def test_in_contact_the_force_never_exceeds_its_target_and_contact_is_kept() -> None:
    moved = move_pressed(task(sim={"surfaces": [SURFACE]}), SHORT, fast=True)
    smooth = np.convolve(moved.force, np.ones(25) / 25, mode="valid")
    assert smooth.max() < 5.5
    assert smooth.min() > 0.5


def test_in_contact_the_damping_of_the_surface_brings_the_force_early() -> None:
    found = find_lag(task(sim={"surfaces": [SURFACE]}), SHORT, contact=True, fast=True)
    assert found.force is not None
    assert found.force.lag_s == pytest.approx(-50.0 / 2e4, abs=1.5e-3)
    assert found.force.stiffness_n_m == pytest.approx(2e4, rel=0.1)
    assert found.total_s == pytest.approx(plant_of(task()).lag_s, abs=1e-3)  # a lead does not make the loop quicker


def test_without_a_surface_there_is_no_contact_to_press_in() -> None:
    with pytest.raises(DelayError, match="no surface was found within"):
        find_lag(task(params={"contact": {"seek_m": 0.01}}), SHORT, contact=True, fast=True)


def test_what_was_found_is_what_check_and_law_use_when_the_simulator_says_otherwise() -> None:
    slow = task(3.0, 0.02)
    settings = delay_settings(find_lag(slow, SHORT, fast=True))
    assert settings["params.contact.lag_s"] == pytest.approx(plant_of(slow).lag_s, abs=1.5e-3)
    known = task(response={"delay_s": settings["response.delay_s"], "servo_s": settings["response.servo_s"]})
    assert plant_of(known).lag_s == pytest.approx(plant_of(slow).lag_s, abs=1.5e-3)
    assert plant_of(known).lag_s > plant_of(task()).lag_s + 0.03
    guard_start(known)


@pytest.mark.slow
def test_the_paced_loop_finds_the_same_lag() -> None:
    what = task()
    assert find_lag(what, Excitation(seconds=2.0)).motion.lag_s == pytest.approx(what.sim.servo.lag_s, abs=1e-3)
