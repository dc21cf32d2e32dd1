"""Braking before the edge of the reach: the fold is seen as it is, and an arm that was led to it comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.control.limits.reach_edge import KEPT, SCRATCH, _bend, _directions, limit_edge
from pliant.control.parameters import Limits
from pliant.kernel import kernel
from pliant.model import Arm
from pliant.model.inverse import SCRATCH as INVERSE
from pliant.model.inverse import smallest_singular_value
from pliant.params.packing import to_record
from pliant.records import LIMIT_EDGE, OBSERVED, STATE
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Event, Task
from pliant.world.world_config import SimConfig

Array = np.ndarray[Any, Any]
DT = 0.002
NEAR = {  # joint positions close to an edge
    "elbow": (np.pi, -1.2, 0.08, -1.0, -1.3, 0.3),
    "elbow bent the other way": (np.pi, -1.2, -0.08, -1.0, -1.3, 0.3),
}


@kernel
def _look(J, n, weakest, scratch):
    sigma = 0.0
    for _ in range(30):
        sigma = smallest_singular_value(J, n, weakest, scratch[0])
    return sigma


@kernel
def _parts(handle, state, work):
    size = _directions(handle[0], state[0], work[0])
    return size, _bend(handle[0], work[0])


@kernel
def _limit(p, handle, state, sigma, work, dt, observed):
    limit_edge(p[0], handle[0], state[0], sigma, 0.0, work[0], dt, observed[0])


class Near:
    """An arm near a singularity, with all that the limit looks at."""

    def __init__(self, q: Any, name: str = "ur5e") -> None:
        self.arm, self.q = Arm.load(name), np.array(q, float)
        self.arm.jacobian(self.q)
        self.state, self.work, self.observed = STATE.new(), SCRATCH.new(), OBSERVED.new()
        self.sigma = _look(self.arm.handle[0].J, self.arm.n, self.state[0].weakest, INVERSE.new())
        self.size, self.bend = _parts(self.arm.handle, self.state, self.work)
        self.u, self.w = self.work[0].u.copy(), self.work[0].w[: self.arm.n].copy()

    def limited(self, twist: Any) -> Array:
        self.state[0].twist[:] = twist
        self.observed[0].limits = 0
        _limit(to_record(Limits()), self.arm.handle, self.state, self.sigma, self.work, DT, self.observed)
        return self.state[0].twist.copy()

    def smallest(self, q: Array) -> float:
        return float(np.linalg.svd(self.arm.jacobian(q), compute_uv=False)[-1])


@pytest.mark.parametrize("q", NEAR.values(), ids=NEAR)
def test_the_two_directions_belong_to_the_smallest_singular_value(q: Any) -> None:
    near = Near(q)
    assert_allclose(near.arm.jacobian(near.q) @ near.w, near.sigma * near.u, atol=1e-8)
    assert near.sigma == pytest.approx(near.smallest(near.q), rel=1e-6)


@pytest.mark.parametrize("q", NEAR.values(), ids=NEAR)
def test_the_singular_value_falls_along_the_joints_as_the_bend_says(q: Any) -> None:
    near, h = Near(q), 1e-5
    slope = (near.smallest(near.q + h * near.w) - near.smallest(near.q - h * near.w)) / (2 * h)
    assert near.bend == pytest.approx(slope, rel=1e-3)
    assert abs(near.bend) > 0.05  # it is a fold


@pytest.mark.parametrize("q", NEAR.values(), ids=NEAR)
def test_only_the_part_that_leads_out_is_cut_and_the_way_back_is_open(q: Any) -> None:
    near = Near(q)
    outward = -np.sign(near.bend) * near.u
    across = np.linalg.svd(near.arm.jacobian(near.q))[0][:, 0]
    left = near.limited(5.0 * outward + 0.1 * across)
    assert near.observed[0].limits == LIMIT_EDGE
    assert 0.0 <= left @ outward < 5.0
    assert_allclose(left - (left @ outward) * outward, 0.1 * across, atol=1e-9)
    back = -5.0 * outward + 0.1 * across
    assert_allclose(near.limited(back), back)
    assert near.observed[0].limits == 0


def test_at_the_last_of_the_way_nothing_more_leads_out() -> None:
    q = np.array(NEAR["elbow"])
    low, high = 0.0, 0.08
    for _ in range(50):  # the elbow angle where the part that is kept begins
        q[2] = 0.5 * (low + high)
        low, high = (q[2], high) if Near(q).sigma < KEPT * Limits().singular_threshold else (low, q[2])
    near = Near(q)
    outward = -np.sign(near.bend) * near.u
    assert near.limited(0.3 * outward) @ outward == pytest.approx(0.0, abs=1e-6)


def test_far_from_an_edge_nothing_is_done() -> None:
    near = Near((np.pi, -1.2, 1.5, -1.0, -1.3, 0.3))
    assert near.sigma > 2 * Limits().singular_threshold
    twist = 10.0 * np.ones(6)
    assert_allclose(near.limited(twist), twist)


def _led(out_m: tuple[float, float, float], start_q: tuple[float, ...]) -> Array:
    """A spring leads the tool out for three seconds, and back."""
    events = (Event(at_s=0.2, goal_offset_m=out_m), Event(at_s=3.2, goal_offset_m=(0.0, 0.0, 0.0)))
    task = Task(law="admittance", start_q=start_q, duration_s=8.0, events=events, sim=SimConfig(seed=1))
    return simulate(task).records


def test_an_arm_that_was_led_beyond_the_edge_comes_back() -> None:
    records = _led((0.35, 0.0, 0.0), (np.pi, -1.2, 1.2, -np.pi / 2, -np.pi / 2, 0.0))
    x = records["observed"]["pose"][:, 0]
    assert (records["observed"]["limits"] & LIMIT_EDGE).any()
    assert np.nanmin(records["observed"]["singular_value"]) > 0.5 * KEPT * Limits().singular_threshold
    assert x.max() - x[0] < 0.34  # the goal is out of reach
    assert abs(x[-1] - x[0]) < 1e-3


def test_a_singularity_that_is_no_edge_is_passed() -> None:
    records = _led((-0.4, 0.0, 0.0), (np.pi, -2.2, 2.2, -np.pi / 2, -np.pi / 2, 0.0))  # over the shoulder
    x = records["observed"]["pose"][:, 0]
    assert np.nanmin(records["observed"]["singular_value"]) < 1e-3
    assert (x[0] - x).max() == pytest.approx(0.4, abs=2e-3)
    assert abs(x[-1] - x[0]) < 1e-3
