"""The reason of a fault names what was exceeded, the value and the limit."""

from __future__ import annotations

import pytest

from pliant.params.declare import validated
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task

SENSOR = {
    "missing": "gave no reading for longer than sense.hold_s (0.02 s). Check its cable and power",
    "saturated": "reported saturation for longer than sense.hold_s (0.02 s), while it read up to 0.",
    "nan": "gave values that are not finite for longer than sense.hold_s (0.02 s). Check",
    "range": "read 1e+06 N, more than sense.range_n (500 N). Check tool.mass_kg and what touches the tool",
    "stale": "gave readings 0.03 s old, older than sense.stale_s (0.01 s). Check its rate and the network",
    "frozen": "gave the same reading for 0.068 s, longer than sense.frozen_s (0.05 s). Check its cable and power.",
}


@pytest.mark.parametrize("kind", SENSOR)
def test_a_failed_sensor_is_told_with_its_value_its_limit_and_the_remedy(kind: str) -> None:
    sensor = {"failures": [{"kind": kind, "at_s": 0.1}]}
    found = simulate(validated(Task, {"law": "admittance", "duration_s": 0.5, "sim": {"sensor": sensor}})).fault
    assert found.startswith(f"the force sensor {SENSOR[kind]}")
    assert ("sense.range" in found) == (kind == "range")


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
