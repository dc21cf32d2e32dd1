"""Reeds-Shepp paths: against OMPL, against their own geometry, and the symmetries that every shortest path has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.mobile.planning.base_path import reeds_shepp_path
from pliant.mobile.planning.reeds_shepp import path_lengths
from pliant_experiments.rivals.rival_planner import ompl_lengths, pairs
from support.needs import needs
from support.properties import examples

PAIRS = 20_000


@needs("ompl")
def test_lengths_are_those_of_ompl() -> None:
    a, b = pairs(PAIRS)
    assert np.abs(path_lengths(a, b, 0.7) - ompl_lengths(a, b, 0.7)).max() < 1e-9


def test_every_path_ends_where_it_should_and_is_as_long_as_it_says() -> None:
    a, b = pairs(2000, 1)
    for start, goal, length in zip(a, b, path_lengths(a, b, 0.7), strict=True):
        path = reeds_shepp_path(start, goal, 0.7)
        x, y, heading = path.end
        assert math.hypot(x - goal[0], y - goal[1]) < 1e-7
        assert abs(math.remainder(heading - goal[2], math.tau)) < 1e-7
        assert path.length_m == pytest.approx(length, abs=1e-8)
        assert np.abs(path.arcs[:, 0]).max() <= 1 / 0.7 + 1e-12


pose = st.tuples(st.floats(-4, 4), st.floats(-4, 4), st.floats(-3.14, 3.14))


@examples(200)
@given(pose, pose)
def test_the_way_back_is_as_long_and_no_way_is_shorter_than_a_straight_line(a: Any, b: Any) -> None:
    there, back = path_lengths(a, b, 1.0)[0], path_lengths(b, a, 1.0)[0]
    assert there == pytest.approx(back, abs=1e-6)
    assert there >= math.hypot(a[0] - b[0], a[1] - b[1]) - 1e-9
    assert there >= abs(math.remainder(a[2] - b[2], math.tau)) - 1e-9


@pytest.mark.parametrize(
    ("goal", "length"),
    [
        ((3.0, 0.0, 0.0), 3.0),
        ((-3.0, 0.0, 0.0), 3.0),
        ((0.0, 2.0, math.pi), math.pi),
        ((1.0, 1.0, math.pi / 2), math.pi / 2),
        ((0.0, 0.0, 0.0), 0.0),
    ],
)
def test_ways_that_are_known(goal: Any, length: float) -> None:
    assert path_lengths((0.0, 0.0, 0.0), goal, 1.0)[0] == pytest.approx(length, abs=1e-9)


@pytest.mark.parametrize(
    "pose", [(math.nan, 0.0, 0.0), (1.0, math.inf, 0.0), (1.0, 0.0, -math.inf), (1.0, 2.0), "here"]
)
def test_a_pose_that_is_none_is_refused_by_name(pose: Any) -> None:
    good = (1.0, 2.0, 0.5)
    for ends, name in (((pose, good), "start"), ((good, pose), "goal")):
        with pytest.raises(InputError, match=f"{name} is .* three (finite )?numbers"):
            reeds_shepp_path(*ends, 0.5)
    for ends, name in (((pose, good), "a"), ((good, pose), "b")):
        with pytest.raises(InputError, match=f"{name} is .* three (finite )?numbers"):
            path_lengths(*ends, 0.5)


def test_as_many_ends_as_starts_are_asked_for() -> None:
    with pytest.raises(InputError, match=r"b is \[3, 3\], but it must be 2 poses of three numbers"):
        path_lengths(np.zeros((2, 3)), np.zeros((3, 3)), 0.5)


@pytest.mark.parametrize("radius", [0.0, -0.5, math.nan, math.inf])
def test_a_radius_that_no_arc_has_is_refused(radius: float) -> None:
    for ask in (reeds_shepp_path, path_lengths):
        with pytest.raises(InputError, match=r"radius_m is .* greater than 0 m"):
            ask((0.0, 0.0, 0.0), (1.0, 2.0, 0.5), radius)
