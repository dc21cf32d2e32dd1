"""Where base and arm must be for a pose of the tool."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.pose_ik import PoseSearch
from pliant.mobile.whole_body.program import WholeBodyMotion
from pliant.spatial import pose_error

DOWN = np.array([2.0, -1.0, 0.5, 0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0])


@pytest.fixture(scope="module")
def search() -> PoseSearch:
    return PoseSearch(Body())


def off(body: Body, q: Any, target: Any) -> float:
    e = np.zeros(6)
    pose_error(body.pose(q), target, e)
    return float(np.abs(e).max())


def test_nearly_every_reachable_pose_is_found_within_the_joint_ranges(search: PoseSearch) -> None:
    body, random, found = search.body, np.random.default_rng(5), 0
    for _ in range(500):
        q = np.array([*random.uniform(-5, 5, 2), *random.uniform(-math.pi, math.pi, 7)])
        target = body.pose(q)
        answer = search.solve(target, body.q_home)
        if answer.solved:
            found += 1
            assert off(body, answer.q, target) < 2e-6
            assert np.all((answer.q >= body.chain.q_min) & (answer.q <= body.chain.q_max))
    assert found >= 499


def test_a_start_that_leads_there_is_kept(search: PoseSearch) -> None:
    q = search.body.q_home
    answer = search.solve(search.body.pose(q), q)
    assert answer.start == 0
    np.testing.assert_array_equal(answer.q, q)


def test_a_fixed_base_does_not_move(search: PoseSearch) -> None:
    body, start = search.body, np.array([1.4, -1.0, 0.1, *search.body.q_home[3:]])
    answer = search.solve(DOWN, start, fixed_base=True)
    assert answer.solved
    np.testing.assert_array_equal(answer.q[:3], start[:3])
    assert off(body, answer.q, DOWN) < 2e-6


def test_candidates_stand_apart_and_all_reach(search: PoseSearch) -> None:
    answers = search.candidates(DOWN, 8)
    assert len(answers) == 8
    for i, a in enumerate(answers):
        assert off(search.body, a.q, DOWN) < 2e-6
        assert -math.pi <= a.base[2] <= math.pi
        for b in answers[:i]:
            turned = abs(math.remainder(a.q[2] - b.q[2], 2 * math.pi))
            assert np.hypot(*(a.q - b.q)[:2]) > 0.1 or turned > math.radians(20)


def test_the_same_question_has_the_same_answer(search: PoseSearch) -> None:
    np.testing.assert_array_equal(search.solve(DOWN).q, PoseSearch(Body()).solve(DOWN).q)


def test_a_pose_out_of_reach_is_said_to_be_so(search: PoseSearch) -> None:
    target = DOWN.copy()
    target[2] = 5.0
    answer = search.solve(target)
    assert not answer.solved
    assert answer.error_m > 1.0


@pytest.mark.parametrize("posture", [np.full(6, math.nan), np.zeros(3), "home"])
def test_a_posture_that_is_none_is_refused(search: PoseSearch, posture: Any) -> None:
    with pytest.raises(InputError, match="posture is"):
        PoseSearch(search.body, posture)
    with pytest.raises(InputError, match="posture is"):
        WholeBodyMotion(search.body).posture = posture


@pytest.mark.parametrize("target", [np.full(7, math.nan), np.zeros(7), np.zeros(6)])
def test_a_target_that_is_no_pose_is_refused(search: PoseSearch, target: Any) -> None:
    with pytest.raises(InputError, match="target is"):
        search.solve(target)
