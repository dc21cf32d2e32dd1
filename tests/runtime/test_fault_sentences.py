"""The reason of a fault names what was exceeded, the value and the limit."""

from __future__ import annotations

import pytest

from pliant.params.declare import validated
from pliant.runtime.batch import simulate
from pliant.runtime.task import Task


def stretched(**limits: float) -> str:
    """The fault of an admittance that is pushed further than its limits allow."""
    push = {"at_s": 0.1, "for_s": 3.0, "wrench": [60, 0, 0, 0, 3, 0]}
    params = {"limits": limits, "admittance": {"stiffness": [100] * 3 + [5] * 3}}
    return simulate(validated(Task, {"law": "admittance", "params": params, "sim": {"pushes": [push]}})).fault


@pytest.mark.parametrize(("limit", "unit", "start"), [("m", "m", "was "), ("rad", "rad", "was turned by ")])
def test_a_spring_that_is_overstretched_is_told_with_its_limit_and_the_remedy(
    limit: str, unit: str, start: str
) -> None:
    found = stretched(**{f"pose_error_{limit}": 0.1})
    assert found.startswith(f"the tool {start}0.1")
    assert f" {unit} from its goal, more than limits.pose_error_{limit} (0.1 {unit}). " in found
    assert found.endswith("Move the goal in smaller steps, or raise the limit")
