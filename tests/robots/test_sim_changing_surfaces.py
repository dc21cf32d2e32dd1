"""Surfaces that move and surfaces whose stiffness changes: the force at one instant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.world.build_world import fill_surface
from pliant.world.surface_contact import touch
from pliant.world.surface_kind import Surface
from pliant.world.world_layout import SURFACE, WORLD

SWING, HZ, BEGIN = 0.005, 0.2, 3.0


def plane(**values: Any) -> Any:
    c = SURFACE.new()[0]
    fill_surface(
        c, Surface(kind="plane", position_m=(0.0, 0.0, 0.0), stiffness_n_m=1e4, damping_n_s_m=0.0, friction=0.0)
    )
    for name, value in values.items():
        c[name] = value
    return c


def pressed(c: Any, tip: Any, velocity: Any = (0, 0, 0), time: float = 0.0) -> float:
    w = WORLD.new()[0]
    w.h, w.time, w.velocity[3:] = 0.0005, time, velocity
    touch(w, c, np.array(tip, float))
    return float(c.press)


@pytest.mark.parametrize(("x", "stiffness"), [(-0.1, 1e4), (0.01, 1e4), (0.015, 1.5e4), (0.02, 2e4), (0.5, 2e4)])
def test_stiffness_changes_evenly_between_two_places(x: float, stiffness: float) -> None:
    c = plane(stiffness_change=1e4, change=(0.01, 0.02))
    assert pressed(c, (x, 0, -0.001)) == pytest.approx(0.001 * stiffness)


def height(time: float) -> float:
    return -SWING * (1 - math.cos(2 * math.pi * HZ * max(0.0, time - BEGIN)))


@pytest.mark.parametrize("time", [0.0, 3.0, 4.2, 5.5, 8.0])
def test_a_surface_that_moves_is_where_it_should_be(time: float) -> None:
    c = plane(swing=SWING, swing_hz=HZ, swing_at=BEGIN)
    assert pressed(c, (0, 0, height(time) - 0.001), time=time) == pytest.approx(10.0, rel=1e-3)


def test_a_tip_that_rides_along_feels_the_spring_alone() -> None:
    time, step = 4.2, 1e-6
    speed = (height(time + step) - height(time - step)) / (2 * step)
    c = plane(swing=SWING, swing_hz=HZ, swing_at=BEGIN, damping=500.0)
    assert pressed(c, (0, 0, height(time) - 0.001), (0, 0, speed), time) == pytest.approx(10.0, rel=1e-6)
    assert pressed(c, (0, 0, height(time) - 0.001), (0, 0, 0), time) < 10.0 + 500.0 * speed + 1e-6
