"""Noise of the readings: measured joint speeds do not matter at all, and steps of an encoder hardly."""

from __future__ import annotations

import numpy as np
import pytest
from point_robot import PointRobot

from pliant.control.laws.contact.contact_states import DONE, SLIDE

# Steps of 5·10⁻⁵ rad at 0.8 m [m].
STEP_M = 4e-5


def slid(robot: PointRobot, *, speed_noise: float = 0.0, step_m: float = 0.0) -> PointRobot:
    """A whole contact with noise on the measured speed [m/s] and steps of the measured position [m]."""
    random = np.random.default_rng(5)
    robot.begin()
    for _ in range(15000):
        robot.o.twist[:3] += speed_noise * random.normal(size=3)
        if step_m > 0.0:
            robot.o.pose[:3] = step_m * np.round(robot.x / step_m)
        robot.tick()
        if robot.contact.state == DONE:
            break
    return robot


def test_noise_on_the_measured_speeds_changes_nothing() -> None:
    exact, noisy = (slid(PointRobot(1e5, length_m=0.01), speed_noise=noise) for noise in (0.0, 2e-3))
    assert exact.contact.state == noisy.contact.state == DONE
    assert exact.pressed == noisy.pressed


def test_steps_of_an_encoder_neither_lose_contact_nor_press_hard() -> None:
    robot = slid(PointRobot(1e5, lag_s=0.019, length_m=0.02), step_m=STEP_M)
    assert robot.contact.state == DONE
    assert robot.contact.losses == 0
    assert max(robot.pressed) < 1.3 * robot.p.target_n  # 22.6 N with measured speeds


def test_noise_that_is_measured_before_the_touch_counts() -> None:
    robot, random = PointRobot(2e4, gap=0.01), np.random.default_rng(2)
    for _ in range(500):
        robot.push[:] = 0.1 * random.normal(size=3)
        robot.tick()
    assert robot.contact.noise_n == pytest.approx(0.1, rel=0.15)
    assert robot.contact.state != SLIDE


def test_the_force_at_the_start_counts_as_zero() -> None:
    robot = PointRobot(2e4, gap=0.01)
    robot.push[2] = 0.3
    robot.tick(200)
    robot.begin()
    assert robot.contact.zero[2] == pytest.approx(0.3, abs=0.01)
    robot.until(SLIDE)
    assert robot.pressed[-1] == pytest.approx(robot.p.target_n, abs=0.1)  # 0.3 N less without
