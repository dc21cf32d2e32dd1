"""A force sensor that fails: every way of failing is noticed, held for a declared time, then a fault."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.control.parameters import Parameters, Sense
from pliant.control.sense import external_wrench
from pliant.params.declare import validated
from pliant.params.packing import to_record
from pliant.records import (
    FAULT_SENSOR,
    FAULTS,
    READING,
    STATE,
    TROUBLES,
    WRENCH_FROZEN,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_OK,
    WRENCH_RANGE,
    WRENCH_SATURATED,
    WRENCH_STALE,
)
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task

DT = 0.002


def sense(**values: Any) -> Any:
    return to_record(Sense(**values))[0]


class Sensor:
    """A sensor with a little noise, until it is told to fail."""

    def __init__(self, **values: Any) -> None:
        self.p, self.state, self.reading = sense(**values), STATE.new()[0], READING.new()[0]
        self.random, self.needed = np.random.default_rng(1), True

    def tick(self, times: int = 1, *, fresh: bool = True, dt: float = DT) -> bool:
        good = False
        for _ in range(times):
            self.reading.stamp_s += dt
            if fresh:
                self.reading.wrench[:] = self.random.normal(size=6)
                self.reading.wrench_stamp_s = self.reading.stamp_s
            good = bool(external_wrench.supervise(self.p, self.state, self.reading, self.needed, dt))
        return good


# ---- what is noticed -----------------------------------------------------------------------------------------------


def test_fresh_finite_readings_are_good() -> None:
    sensor = Sensor()
    for _ in range(100):
        assert sensor.tick()
    assert (sensor.state.trouble, sensor.state.fault, sensor.state.wrench_age_s) == (WRENCH_OK, 0, 0.0)


@pytest.mark.parametrize("state", [WRENCH_MISSING, WRENCH_SATURATED])
def test_a_reading_that_the_driver_does_not_call_good_is_not_used(state: int) -> None:
    sensor = Sensor()
    sensor.reading.wrench_state = state
    assert not sensor.tick()
    assert sensor.state.trouble == state


@pytest.mark.parametrize("channel", range(6))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_channel_that_is_not_finite_makes_the_reading_unusable(channel: int, value: float) -> None:
    sensor = Sensor()
    sensor.reading.wrench[channel] = value
    sensor.reading.wrench_stamp_s = DT
    assert not sensor.tick(fresh=False)
    assert sensor.state.trouble == WRENCH_NAN


@pytest.mark.parametrize("channel", range(6))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_value_beyond_the_range_is_no_reading(channel: int, sign: float) -> None:
    sensor = Sensor(range_n=100.0, range_nm=10.0)
    top = 100.0 if channel < 3 else 10.0
    for value, good in ((top, True), (np.nextafter(top, 1e9), False)):
        sensor.reading.wrench[:] = 0.0
        sensor.reading.wrench[channel], sensor.reading.wrench_stamp_s = sign * value, sensor.reading.stamp_s + DT
        assert sensor.tick(fresh=False) is good
    assert sensor.state.trouble == WRENCH_RANGE


def test_a_reading_older_than_declared_is_stale() -> None:
    sensor = Sensor(stale_s=0.01, hold_s=0.5, frozen_s=0.0)
    sensor.tick()
    assert sensor.tick(5, fresh=False)
    assert not sensor.tick(fresh=False)
    assert sensor.state.trouble == WRENCH_STALE
    assert sensor.tick()


def test_readings_that_never_change_are_frozen_although_their_clock_goes_on() -> None:
    sensor = Sensor(frozen_s=0.05, hold_s=0.5)
    sensor.tick()
    for tick in range(1, 40):
        sensor.reading.wrench_stamp_s = sensor.reading.stamp_s + DT
        good = sensor.tick(fresh=False)
        if tick != 25:  # the edge itself
            assert good is (tick * DT < 0.05), tick
    assert sensor.state.trouble == WRENCH_FROZEN
    assert sensor.tick()
    assert sensor.state.same_s == 0.0


def test_one_living_channel_is_enough_not_to_be_frozen() -> None:
    sensor = Sensor(frozen_s=0.05)
    for tick in range(200):
        sensor.reading.wrench[4] = tick % 2
        sensor.reading.wrench_stamp_s = sensor.reading.stamp_s + DT
        assert sensor.tick(fresh=False)


def test_a_frozen_time_of_zero_switches_that_check_off() -> None:
    sensor = Sensor(frozen_s=0.0, stale_s=1.0)
    sensor.tick()
    for _ in range(1000):
        sensor.reading.wrench_stamp_s = sensor.reading.stamp_s + DT
        assert sensor.tick(fresh=False)


# ---- held, then a fault --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold_s", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("dt", [0.001, 0.002, 0.008])
def test_a_failed_sensor_becomes_a_fault_when_the_declared_time_is_over(hold_s: float, dt: float) -> None:
    sensor, ticks = Sensor(hold_s=hold_s), 0
    sensor.reading.wrench_state = WRENCH_MISSING
    while sensor.state.fault == 0:
        sensor.tick(dt=dt)
        ticks += 1
        assert ticks < 1000
    assert sensor.state.fault == FAULT_SENSOR + WRENCH_MISSING
    # the reading in hand is one period old when its successor is missed
    assert hold_s < ticks * dt + 1e-9
    assert (ticks - 1) * dt <= hold_s + 1e-9


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_trouble_has_a_fault_of_its_own_and_a_sentence(trouble: int) -> None:
    assert FAULTS[FAULT_SENSOR + trouble] == f"the force sensor {TROUBLES[trouble]}"


def test_one_good_reading_starts_the_count_anew() -> None:
    sensor = Sensor(hold_s=0.02)
    for tick in range(1000):
        sensor.reading.wrench_state = WRENCH_OK if tick % 10 == 0 else WRENCH_MISSING
        sensor.tick()
    assert sensor.state.fault == 0


def test_a_fault_is_not_replaced_by_a_later_one() -> None:
    sensor = Sensor()
    sensor.state.fault, sensor.reading.wrench_state = 42, WRENCH_MISSING
    sensor.tick(100)
    assert sensor.state.fault == 42


def test_defaults_hold_a_wrench_for_a_moment_only() -> None:
    assert 0 < Parameters().sense.hold_s <= 0.05


# ---- in a whole run ------------------------------------------------------------------------------------------------

KINDS = {
    "missing": WRENCH_MISSING,
    "saturated": WRENCH_SATURATED,
    "nan": WRENCH_NAN,
    "range": WRENCH_RANGE,
    "stale": WRENCH_STALE,
    "frozen": WRENCH_FROZEN,
}


SAID = {
    "missing": "gave no reading for longer than sense.hold_s (0.02 s)",
    "saturated": "reported saturation for longer than sense.hold_s (0.02 s), while it read up to 15.",
    "nan": "gave values that are not finite for longer than sense.hold_s (0.02 s)",
    "range": "read 1e+06 N, more than sense.range_n (500 N)",
    "stale": "s old, older than sense.stale_s (0.01 s)",
    "frozen": "longer than sense.frozen_s (0.05 s)",
}
"""What each failure is called in the fault that it causes."""


def run(kind: str, for_s: float) -> Any:
    data = {
        "law": "admittance",
        "duration_s": 1.5,
        "sim": {
            "sensor": {"failures": [{"kind": kind, "at_s": 0.5, "for_s": for_s}]},
            "pushes": [{"at_s": 0.2, "for_s": 1.2, "wrench": [15, 0, 0, 0, 0, 0]}],
        },
    }
    return simulate(validated(Task, data))


@pytest.mark.parametrize("kind", KINDS)
def test_every_failure_in_the_middle_of_a_push_stops_the_arm_at_rest_and_is_named(kind: str) -> None:
    found = run(kind, 10.0)
    assert SAID[kind] in found.fault
    records = found.records
    before = {"frozen": 0.05, "stale": 0.01}.get(kind, 0.0)  # until it is noticed
    first = records["time_s"][records["state"]["fault"] != 0][0]
    assert 0.5 + before < first <= 0.5 + before + 0.02 + 4 * DT
    assert not records["state"]["qd_cmd"][-1].any()
    assert np.isfinite(records["command"]["q"]).all()
    felt = records["observed"]["wrench"]  # the law never sees what the failed sensor says
    assert np.isfinite(felt).all()
    assert np.abs(felt[:, :3]).max() < 20.0


@pytest.mark.parametrize("kind", ["missing", "saturated", "nan", "range"])
def test_a_failure_shorter_than_the_hold_leaves_the_run_as_it_was(kind: str) -> None:
    found = run(kind, 0.012)
    assert not found.fault
    records = found.records
    troubled = records["state"]["trouble"] != 0
    assert troubled.any()
    assert set(records["state"]["trouble"][troubled].tolist()) == {KINDS[kind]}
    last = records["observed"]["wrench"][np.flatnonzero(troubled)[0] - 1]
    assert_array_equal(records["observed"]["wrench"][troubled], np.broadcast_to(last, (int(troubled.sum()), 6)))


def test_a_sensor_that_no_law_needs_may_fail_and_its_last_value_does_not_stay() -> None:
    sensor = Sensor()
    sensor.needed = False
    sensor.state.wrench[:] = 7.0
    sensor.reading.wrench_state = WRENCH_MISSING
    assert not sensor.tick(500)
    assert sensor.state.fault == 0
    assert sensor.state.trouble == WRENCH_MISSING
    assert not sensor.state.wrench.any()
    sensor.needed = True
    sensor.tick()
    assert sensor.state.fault == FAULT_SENSOR + WRENCH_MISSING
