"""A limit that starves the law is counted, named, and in the end a fault; one that acts for good reason is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.control.limits.cuts import ACCELERATION, POSITION, SINGULAR, SPEED, TOOL_ACCELERATION, TORQUE, WORKSPACE
from pliant.control.limits.starvation import supervise_limits
from pliant.control.parameters import Parameters, record_of
from pliant.control.telemetry import TELEMETRY
from pliant.loop.fault_text import fault_words, starved_warning
from pliant.records import BY_LAW, FAULT_STARVED, GOAL, OBSERVED, READING, SHARED_STATE, STATE

DT = 0.002
FAULT_S = Parameters().limits.starved_fault_s


class Supervised:
    """Ticks of a law that limits cut; the pose error is along x."""

    def __init__(self, **limits: float) -> None:
        self.parameters = record_of(Parameters())
        for name, value in limits.items():
            self.parameters["limits"][name] = value
        self.state, self.observed, self.e = STATE.new(), OBSERVED.new(), np.zeros(6)
        self.state["law"] = 2

    def run(self, seconds: float, cuts: dict[int, float], error_m: float = 0.1) -> float:
        """Run so long with limits that leave these fractions; returns `starved_s`."""
        self.e[0] = error_m
        o = self.observed[0]
        for _ in range(round(seconds / DT)):
            o.limits, o.scale = 0, 1.0
            for limit, left in cuts.items():
                o.limits |= 1 << limit
                o.asked[limit], o.allowed[limit] = 10.0, 10.0 * left
            supervise_limits(self.parameters[0].limits, self.state[0], self.e, o, DT)
        return float(self.state[0].starved_s)


def test_a_limit_that_cuts_most_for_long_is_a_fault_that_names_it() -> None:
    law = Supervised()
    law.run(FAULT_S - 0.1, {ACCELERATION: 0.2})
    assert law.state[0].fault == 0
    law.run(0.2, {ACCELERATION: 0.2})
    assert law.state[0].fault == FAULT_STARVED
    said = fault_words(law.state[0], GOAL.new()[0], READING.new()[0], law.parameters[0])
    assert said.startswith("the joint acceleration limit cut the command of the law admittance to 20%, and the error")
    assert "longer than limits.starved_fault_s (5 s)" in said
    assert "raise limits.joint_acceleration_rad_s2" in said


@pytest.mark.parametrize("limit", [ACCELERATION, TORQUE, TOOL_ACCELERATION])
def test_each_limit_that_weakens_the_law_counts(limit: int) -> None:
    law = Supervised()
    assert law.run(1.0, {limit: 0.3, SINGULAR: 0.5}) == pytest.approx(1.0)
    assert law.state[0].starved_by == limit


@pytest.mark.parametrize(
    ("cuts", "why"),
    [
        ({}, "nothing is cut"),
        ({ACCELERATION: 0.6}, "less than half is cut"),
        ({SPEED: 0.1, ACCELERATION: 0.1}, "guided at its top speed"),
        ({WORKSPACE: 0.0, TOOL_ACCELERATION: 0.1}, "pushed against the workspace"),
        ({POSITION: 0.0, ACCELERATION: 0.1}, "pushed against a joint limit"),
        ({SPEED: 0.01}, "a speed limit alone"),
    ],
)
def test_what_may_last_does_not_count(cuts: dict[int, float], why: str) -> None:
    law = Supervised()
    assert law.run(2 * FAULT_S, cuts) == 0.0, why


def test_an_error_that_shrinks_starts_the_time_again() -> None:
    law = Supervised()
    for error_m in 0.3 * 0.85 ** np.arange(12):  # each step is held for nearly as long as the limit allows
        law.run(FAULT_S - 0.2, {ACCELERATION: 0.2}, float(error_m))
    assert law.state[0].fault == 0


def test_short_cuts_with_rests_do_not_add_up() -> None:
    law = Supervised()
    for _ in range(30):
        law.run(0.5, {ACCELERATION: 0.2})
        law.run(0.3, {})
    assert law.state[0].fault == 0


def test_short_rests_do_not_hide_a_limit_that_rules() -> None:
    law = Supervised()
    for _ in range(30):
        law.run(0.5, {ACCELERATION: 0.2})
        law.run(0.05, {})
    assert law.state[0].fault == FAULT_STARVED


def test_of_a_torque_law_the_share_counts_without_the_weight_of_the_arm() -> None:
    law = Supervised()
    law.state["driven"] = BY_LAW
    o: Any = law.observed[0]
    o.limits, o.scale = 1 << TORQUE, 0.3
    o.asked[TORQUE], o.allowed[TORQUE] = 100.0, 87.0
    supervise_limits(law.parameters[0].limits, law.state[0], law.e, o, DT)
    assert law.state[0].starved_left == pytest.approx(0.3)


def test_the_fault_can_be_turned_off_and_the_warning_stays() -> None:
    law = Supervised(starved_fault_s=0.0)
    law.run(20.0, {ACCELERATION: 0.2})
    assert law.state[0].fault == 0
    records = TELEMETRY.new(3)
    records["time_s"] = [0.0, 1.0, 2.0]
    for name in SHARED_STATE.dtype.names or ():
        records["state"][name][1:] = law.state[name]
    assert starved_warning(records[:1], 1.0) == ""
    assert starved_warning(records, 1.0).startswith("at 1.00 s the joint acceleration limit cut the command of the law")
