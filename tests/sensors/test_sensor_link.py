"""A sensor with its own clock beside a loop: how its readings reach the tick, and what happens when it fails."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from streaming_box import StreamingBox

import pliant
from pliant.errors import PliantError
from pliant.params.declare import validated
from pliant.records import FAULT_SENSOR, READING, WRENCH_MISSING, WRENCH_OK, WRENCH_STALE
from pliant.robots.sensed_robot import SensedRobot, with_sensor
from pliant.sensors import sensor_link
from pliant.sensors.force_sensor import SensorConfig, SensorKind
from pliant.sensors.sensor_link import SensorLink, calibration, link_of
from pliant.sensors.shared_wrench import post
from pliant.sensors.sources.net_ft import NetFt
from support.waiting import until


def net_ft(box: StreamingBox, **values: Any) -> SensorConfig:
    return SensorConfig(**{"kind": "net_ft", "host": "127.0.0.1", "port": box.port, **values})


def of(sensor: type[pliant.ForceSensor]) -> SensorLink:
    """A link to a sensor of this class."""
    kind = SensorKind("mine", pliant.Section, sensor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SensorConfig.kinds.builtin, "mine", kind)
        return SensorLink(SensorConfig(kind="mine"))


def reading_at(link: SensorLink, stamp_s: float) -> Any:
    reading = READING.new()
    reading[0].stamp_s = stamp_s
    link.read(reading)
    return reading[0]


def test_readings_of_a_box_reach_the_reading_of_a_robot(streaming: StreamingBox) -> None:
    link = SensorLink(net_ft(streaming, scale=2.0, offset=(1.0, 0, 0, 0, 0, 0)))
    streaming.counts[2] = -7_000_000
    link.open()
    r = until(lambda: (found := reading_at(link, time.monotonic())).wrench[2] < -13.9 and found)
    assert r.wrench_state == WRENCH_OK
    assert_allclose(r.wrench, (-1.0, 0, -14.0, 0, 0, 0), atol=0.003)
    link.close()
    link.close()


def test_the_age_of_a_sample_gives_its_robot_time_which_never_runs_backwards() -> None:
    link = SensorLink(SensorConfig(kind="net_ft", host="unused"))
    assert reading_at(link, 5.0).wrench_state == WRENCH_MISSING
    post(link.record, np.arange(6.0), time.monotonic_ns() - 500_000_000, WRENCH_OK)
    r = reading_at(link, 10.0)
    assert_array_equal(r.wrench, np.arange(6.0))
    first = float(r.wrench_stamp_s)
    assert first <= 9.5
    assert reading_at(link, 11.0).wrench_stamp_s == first  # no new sample: it keeps its time, and gets older
    post(link.record, np.ones(6), time.monotonic_ns() - 60_000_000_000, WRENCH_OK)
    assert reading_at(link, 12.0).wrench_stamp_s == first
    post(link.record, np.ones(6), time.monotonic_ns() + 60_000_000_000, WRENCH_OK)
    assert reading_at(link, 13.0).wrench_stamp_s == 13.0  # a sample is never from the future


def test_a_sample_that_is_being_written_is_not_used() -> None:
    link = SensorLink(SensorConfig(kind="net_ft", host="unused"))
    post(link.record, np.ones(6), time.monotonic_ns(), WRENCH_OK)
    assert_array_equal(reading_at(link, 1.0).wrench, 1.0)
    link.record[0].sequence += 1
    link.record[0].sample[:3] = 99.0
    assert_array_equal(reading_at(link, 1.1).wrench, 1.0)


def test_no_torn_sample_is_ever_read_while_another_thread_writes() -> None:
    link, ended = SensorLink(SensorConfig(kind="net_ft", host="unused")), threading.Event()

    def write() -> None:
        value = 0.0
        while not ended.is_set():
            value += 1.0
            post(link.record, np.full(6, value), time.monotonic_ns(), WRENCH_OK)

    writer = threading.Thread(target=write)
    writer.start()
    values = np.array([reading_at(link, 1.0).wrench.copy() for _ in range(3000)])
    ended.set()
    writer.join()
    assert np.ptp(values, axis=1).max() == 0.0
    assert (np.diff(values[:, 0]) >= 0.0).all()


def test_a_mounted_sensor_is_moved_to_the_declared_frame() -> None:
    config = SensorConfig(position_m=(0.1, -0.2, 0.3), rpy_deg=(30.0, -40.0, 50.0), offset=(1, 2, 3, 4, 5, 6))
    matrix, offset = calibration(config)
    R = Rotation.from_euler("xyz", config.rpy_deg, degrees=True)
    raw = np.random.default_rng(0).normal(size=6)
    force = R.apply(raw[:3] - (1, 2, 3))
    moment = R.apply(raw[3:] - (4, 5, 6)) + np.cross(config.position_m, force)
    assert_allclose(matrix @ raw - offset, [*force, *moment], atol=1e-12)


def test_a_robot_without_calibration_keeps_its_own_reading() -> None:
    assert link_of(SensorConfig()) is None
    assert link_of(SensorConfig(scale=2.0)) is not None


class Raises(pliant.ForceSensor):
    """Gives one reading, then fails."""

    count = 0

    def read(self) -> pliant.WrenchSample:
        self.count += 1
        if self.count > 1:
            raise OSError("the cable is out")
        return pliant.WrenchSample((0.0,) * 6)


class GivesFive(pliant.ForceSensor):
    """Gives five numbers."""

    def read(self) -> pliant.WrenchSample:
        return pliant.WrenchSample((0.0,) * 5)


class GivesPlain(pliant.ForceSensor):
    """Gives plain numbers."""

    def read(self) -> Any:
        return (1.0, 2.0, 3.0, 0.0, 0.0, 0.0)


class StuckClock(pliant.ForceSensor):
    """Its clock does not run."""

    def read(self) -> pliant.WrenchSample:
        time.sleep(0.001)
        return pliant.WrenchSample((0.0,) * 6, stamp_s=1.0)


class Silent(pliant.ForceSensor):
    """Never gives a reading."""

    def read(self) -> None:
        time.sleep(0.01)


class CannotOpen(Silent):
    """Cannot be opened."""

    def open(self) -> None:
        raise OSError("no such port")


def test_a_sensor_that_raises_is_missing_and_quotes_its_error() -> None:
    link = of(Raises)
    link.open()
    until(lambda: reading_at(link, 1.0).wrench_state == WRENCH_MISSING)
    assert link.words == "; Raises: OSError: the cable is out"
    link.close()


def test_a_time_stamp_that_does_not_change_is_named() -> None:
    link = of(StuckClock)
    link.open()
    until(lambda: "its time stamp has been 1 s for" in link.words)
    assert link.words.endswith("readings. Check stamp_s in read")
    link.close()


def test_a_sensor_that_cannot_be_read_is_rejected_where_it_is_declared() -> None:
    class Unfinished(pliant.ForceSensor):
        pass

    with pytest.raises(PliantError, match=r"Unfinished needs a method read\."):
        pliant.own_sensor("unfinished", pliant.Section, Unfinished)
    with pytest.raises(
        PliantError, match=r"the sensor wrong is 'Tool', but it must be a class derived from pliant\.Force"
    ):
        pliant.own_sensor("wrong", pliant.Section, cast("Any", pliant.Tool))


@pytest.mark.parametrize(
    ("sensor", "sentence"),
    [
        (GivesFive, r"gave no reading within .* s; GivesFive: wrench is \[0, .*must be 6 numbers"),
        (
            GivesPlain,
            r"GivesPlain: read returned \[1, 2, 3, 0, 0, 0\], but it must return pliant\.WrenchSample or None\.",
        ),
        (Silent, r"gave no reading within 0.2 s; Silent: check that it is connected and streams"),
        (CannotOpen, r"The force sensor CannotOpen cannot be opened: OSError: no such port\."),
    ],
)
def test_a_sensor_without_a_usable_reading_is_rejected_at_the_start(
    sensor: type[pliant.ForceSensor], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensor_link, "FIRST_S", 0.2)
    link = of(sensor)
    with pytest.raises(PliantError, match=sentence):
        link.open()
    link.close()


# ---- with robots ---------------------------------------------------------------------------------------------------


class Still:
    """A robot that does not move and reports no force."""

    name, fault, is_open = "still", "", False

    def open(self) -> None:
        self.is_open = True

    def read(self, reading: Any) -> None:
        reading[0].stamp_s = 3.0

    def close(self) -> None:
        self.is_open = False


def test_a_real_robot_gets_the_wrench_of_the_sensor(streaming: StreamingBox) -> None:
    streaming.counts[0] = 5_000_000
    robot, link = with_sensor(Still(), net_ft(streaming))
    assert isinstance(robot, SensedRobot)
    assert link is not None
    robot.open()
    reading = READING.new()
    robot.read(reading)
    assert reading[0].wrench[0] == pytest.approx(5.0, abs=0.01)
    assert (robot.name, robot.fault, robot.is_open) == ("still", "", True)
    robot.close()
    assert not robot.is_open


def test_the_simulated_sensor_needs_a_simulated_robot() -> None:
    with pytest.raises(PliantError, match=r"sensor.kind is 'simulated', but still is not simulated"):
        with_sensor(Still(), SensorConfig(kind="simulated"))


def task(sensor: dict[str, Any], **sense: Any) -> pliant.Task:
    data = {"law": "hold", "duration_s": 0.4, "sensor": sensor, "params": {"sense": sense}}
    return validated(pliant.Task, data)


def test_a_simulation_as_fast_as_possible_cannot_wait_for_a_real_sensor() -> None:
    with pytest.raises(
        PliantError, match=r"sensor.kind is 'net_ft', which runs in real time.*Set sensor.kind to robot or simulated"
    ):
        pliant.simulate(task({"kind": "net_ft", "host": "127.0.0.1"}))


def test_a_calibration_scales_what_a_simulated_robot_reads() -> None:
    plain, scaled = (pliant.simulate(task(sensor)).records["reading"] for sensor in ({}, {"scale": 2.0}))
    assert np.any(plain["wrench"])
    assert_array_equal(scaled["wrench"], 2.0 * plain["wrench"])
    assert_array_equal(scaled["wrench_stamp_s"], plain["wrench_stamp_s"])


def test_a_frozen_sensor_keeps_its_calibrated_value() -> None:
    data = task({"scale": 2.0}).model_dump()
    data["sim"]["sensor"]["failures"] = [{"kind": "frozen", "at_s": 0.1, "for_s": 0.03}]
    wrench = pliant.simulate(pliant.Task.model_validate(data)).records["reading"]["wrench"]
    assert_array_equal(wrench[52:64], np.broadcast_to(wrench[51], (12, 6)))


def test_a_late_simulated_sensor_is_as_old_as_declared_and_stale_beyond_the_limit() -> None:
    late = {"kind": "simulated", "delay_s": 0.03}
    run = pliant.simulate(task(late, stale_s=0.05))
    assert run.fault == ""
    age = run.records["reading"]["stamp_s"] - run.records["reading"]["wrench_stamp_s"]
    assert_allclose(age[20:], 0.03, atol=1e-9)
    stale = pliant.simulate(task(late))
    assert stale.records["state"]["fault"][-1] == FAULT_SENSOR + WRENCH_STALE


def test_a_slow_simulated_sensor_repeats_its_sample_until_the_next_one() -> None:
    run = pliant.simulate(task({"kind": "simulated", "sample_hz": 100.0}))
    stamps = run.records["reading"]["wrench_stamp_s"]
    assert_allclose(np.diff(np.unique(stamps)), 0.01, atol=1e-9)
    assert run.fault == ""


def test_the_parameters_of_a_sensor_are_declared() -> None:
    assert NetFt(host="box").port == 49152
    with pytest.raises(pliant.InputError, match=r"sensor.port is 0, but it must be 1 to 65535"):
        task({"kind": "net_ft", "host": "box", "port": 0})
    with pytest.raises(pliant.InputError, match=r"sensor\.host is missing: \w"):
        task({"kind": "net_ft"})
