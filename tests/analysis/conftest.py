"""A run of three joints in which every number of interest is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.control.telemetry import TELEMETRY
from pliant.record import Recording, RecordingWriter
from pliant.records import POSITION, Field, Layout

Array = np.ndarray[Any, Any]
Change = Callable[[Array], None]

PARAMETERS = Layout(
    "Admittance",
    (
        Field("stiffness", "N/m", "spring <of the virtual mass>", (3, 3)),
        Field("limits", "", "bounds", kind=Layout("Bounds", (Field("speed_m_s", "m/s", "largest tool speed"),))),
    ),
)
META = {"robot": "sim:two & <more>", "law": "admittance", "rate_hz": 100, "seed": 7, "versions": {"numpy": "2.4"}}
EPOCH_NS = 1_700_000_000 * 10**9


def known_run(n: int) -> Array:
    """`n` ticks at 100 Hz: a push of 20 N along -z from 1 s to 2 s, the tool moving along x at 50 mm/s from then on."""
    records = TELEMETRY.new(n)
    time_s = np.arange(n) / 100
    records["tick"] = np.arange(n)
    records["time_s"] = time_s
    records["observed"]["pose"] = [0.4, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]
    records["goal"]["pose"] = records["state"]["pose"] = records["observed"]["pose"]
    pushed, moving = (time_s >= 1) & (time_s < 2), time_s >= 2
    records["observed"]["wrench"][pushed, 2] = -20.0
    records["observed"]["wrench"][pushed, 4] = 1.5
    records["observed"]["twist"][moving, 0] = 0.05
    records["observed"]["pose"][moving, 0] += 0.05 * (time_s[moving] - 2)
    records["observed"]["scale"] = 1.0
    records["observed"]["singular_value"] = 0.2
    records["command"]["mode"] = POSITION
    records["command"]["q"][:, 1] = np.where(pushed, 0.004, 0.001)
    records["command"]["q"][:, 5] = 99.0  # not a joint of this robot
    return records


@pytest.fixture
def make(tmp_path) -> Callable[..., Recording]:
    """`make(change, n, meta)`: the known run, changed by a function of its records, written and read back."""

    def build(change: Change = lambda records: None, n: int = 400, meta: dict[str, Any] = META) -> Recording:
        records = known_run(n)
        change(records)
        first = PARAMETERS.new()
        first["stiffness"], first["limits"]["speed_m_s"] = np.diag([250.0, 250.0, 250.0]), 0.25
        second = first.copy()
        second["limits"]["speed_m_s"] = 0.5
        with RecordingWriter(tmp_path / "run.mcap", meta, ["pan", "lift", "elbow"], PARAMETERS) as writer:
            writer.parameters(1, first, 0.0)
            writer.append(records)
            writer.parameters(2, second, 1.25)
        return Recording.load(tmp_path / "run.mcap")

    return build


def paced(records: Array) -> None:
    """Turn the run into one against the wall clock: always 50 µs late, once 3 ms."""
    records["timing"]["wall_ns"] = EPOCH_NS + (records["time_s"] * 1e9).astype(np.int64)
    records["timing"]["late_s"] = 50e-6
    records["timing"]["busy_s"] = 120e-6
    records["timing"]["late_s"][200:201] = 3e-3
    records["timing"]["overruns"][200:] = 2


@pytest.fixture
def pace() -> Change:
    return paced
