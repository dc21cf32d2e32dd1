"""The link between a force sensor and a control loop: calibration, mount, and the thread that reads the sensor."""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError, RejectedError, said
from pliant.records import WRENCH_MISSING, WRENCH_OK, WRENCH_SATURATED
from pliant.sensors.clock_map import ClockMap
from pliant.sensors.force_sensor import ForceSensor, SensorConfig, WrenchSample
from pliant.sensors.shared_wrench import WRENCH_SOURCE, post, take_into

Array = np.ndarray[Any, Any]

_STATES = {"good": WRENCH_OK, "missing": WRENCH_MISSING, "saturated": WRENCH_SATURATED}
# How long the first reading may take [s], and how long the thread is waited for at the end.
FIRST_S, LAST_S = 2.0, 1.0
# The thread shares the interpreter with the loop: so long may one keep it from the other [s].
_SWITCH_S = 5e-4
# So many readings with the same time stamp are a mistake in it.
_STUCK = 3


class SensorLink:
    """A sensor as a control loop uses it. `open` starts it; `record` is where the tick finds its readings."""

    def __init__(self, config: SensorConfig) -> None:
        kind = type(config).its_kind
        self._sensor: ForceSensor | None = None if kind.make is None else kind.make(config.own)
        self.record = WRENCH_SOURCE.new()
        x = self.record[0]
        x.external = self._sensor is not None
        x.matrix[:], x.offset[:] = calibration(config)
        self._clock, self._last_s = ClockMap(), math.nan
        self._stamp, self._same = math.nan, 0
        self._ended, self._arrived, self._failure = threading.Event(), threading.Event(), ""
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> int:
        """The address of the record, for the tick."""
        return self.record.ctypes.data

    def open(self) -> None:
        """Connect to the sensor and wait for its first reading; raises if there is none."""
        if self._sensor is None:
            return
        post(self.record, np.zeros(6), 0, WRENCH_MISSING)  # compiled before the first reading arrives
        self.record[0].sequence = 0
        try:
            self._sensor.open()
        except PliantError:
            raise
        except Exception as error:
            sentence = f"The force sensor {self._sensor.name} cannot be opened: {type(error).__name__}: {error}."
            raise RejectedError(sentence, field="sensor", value=self._sensor.name) from None
        sys.setswitchinterval(_SWITCH_S)
        self._thread = threading.Thread(target=self._run, name="pliant force sensor", daemon=True)
        self._thread.start()
        if not self._arrived.wait(FIRST_S):
            words = self.words or f"; {self._sensor.name}: check that it is connected and streams"
            self.close()
            sentence = f"The force sensor gave no reading within {FIRST_S:g} s{words}."
            raise RejectedError(sentence, field="sensor", value=self._sensor.name)

    def close(self) -> None:
        """Disconnect from the sensor; a second call does nothing."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(LAST_S)
            self._thread = None
            self._quietly_close()

    def _quietly_close(self) -> None:
        try:
            assert self._sensor is not None
            self._sensor.close()
        except Exception as error:
            self._failure = self._failure or f"{type(error).__name__}: {error}"

    def read(self, reading: Any) -> None:
        """Replace the wrench of a reading that the robot has filled."""
        take_into(self.address, reading)

    @property
    def words(self) -> str:
        """What the sensor says about its trouble, to append to a fault; "" if there is nothing to say."""
        if self._sensor is None:
            return ""
        age = time.monotonic() - self._last_s
        late = f"its last reading is {age:.2g} s old" if age > 0.05 else ""
        stamped = f"its time stamp has been {self._stamp:g} s for {self._same} readings. Check stamp_s in read"
        known = self._failure or self._sensor.note or (stamped if self._same >= _STUCK else late)
        return f"; {self._sensor.name}: {known}" if known else ""

    def _run(self) -> None:
        """Body of the sensor's thread."""
        sensor, wrench = self._sensor, np.zeros(6)
        assert sensor is not None
        try:
            while not self._ended.is_set():
                sample = sensor.read()
                if sample is not None:
                    self._take(sample, wrench)
        except Exception as error:
            if self._ended.is_set():
                return
            kind = "" if isinstance(error, PliantError) else f"{type(error).__name__}: "
            self._failure = f"{kind}{error}".rstrip(".")
            post(self.record, wrench, time.monotonic_ns(), WRENCH_MISSING)

    def _take(self, sample: WrenchSample, wrench: Array) -> None:
        """Check a sample and hand it to the loop."""
        arrived_s = time.monotonic()
        if not isinstance(sample, WrenchSample):
            raise RejectedError(f"read returned {said(sample)}, but it must return pliant.WrenchSample or None")
        values = np.asarray(sample.wrench, float)
        if values.shape != (6,):
            raise InputError("wrench", sample.wrench, "6 numbers: force [N], then moment [N m]")
        if sample.state not in _STATES:
            raise InputError("state", sample.state, "good, saturated or missing")
        wrench[:] = values
        self._same = self._same + 1 if sample.stamp_s == self._stamp else 1
        self._stamp = math.nan if sample.stamp_s is None else float(sample.stamp_s)
        sampled_s = self._clock.arrival(arrived_s if sample.stamp_s is None else float(sample.stamp_s), arrived_s)
        post(self.record, wrench, round(sampled_s * 1e9), _STATES[sample.state])
        self._last_s = arrived_s
        if sample.state == "good":
            self._arrived.set()


def calibration(config: SensorConfig) -> tuple[Array, Array]:
    """Matrix and offset from the raw wrench to the declared sensor frame.

    f' = R f,  τ' = R τ + p × R f        R, p: pose of the sensor in that frame
    """
    r, p, y = np.radians(config.rpy_deg)
    cr, sr, cp, sp, cy, sy = math.cos(r), math.sin(r), math.cos(p), math.sin(p), math.cos(y), math.sin(y)
    R = np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip
    px, py, pz = config.position_m
    moved = np.zeros((6, 6))
    moved[:3, :3] = moved[3:, 3:] = R
    moved[3:, :3] = np.array([[0.0, -pz, py], [pz, 0.0, -px], [-py, px, 0.0]]) @ R
    return moved @ np.array(config.scale), moved @ np.array(config.offset)


def link_of(config: SensorConfig) -> SensorLink | None:
    """The link that a task's sensor needs; None for a robot's own sensor without calibration."""
    if type(config).its_kind.make is None:
        matrix, offset = calibration(config)
        if np.array_equal(matrix, np.eye(6)) and not offset.any():
            return None
    return SensorLink(config)


def check_keeps_pace(config: SensorConfig) -> None:
    """Raise for a sensor that runs in real time: a simulation that runs as fast as possible cannot wait for it."""
    if type(config).its_kind.make is not None:
        own = [name for name, kind in SensorConfig.kinds.builtin.items() if kind.make is None]
        raise RejectedError(
            f"sensor.kind is {config.kind!r}, which runs in real time, but this simulation runs as fast as possible. "
            f"Set sensor.kind to {' or '.join(own)}, or run the task in real time: pliant run, or pliant.connect.",
            field="sensor.kind",
            value=config.kind,
        )
