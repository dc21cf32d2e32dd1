"""A robot of six joints and runs of random records for it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.control.laws.registry import LAWS
from pliant.control.published import Published
from pliant.control.telemetry import TELEMETRY
from pliant.records import MODES, Field, Layout

Array = np.ndarray[Any, Any]

PARAMETERS = Layout(
    "Admittance",
    (
        Field("mass", "kg, kg m²", "virtual mass", (6,)),
        Field("stiffness", "N/m, N m/rad", "virtual stiffness", (6, 6)),
        Field("deadband_n", "N", "force below which nothing moves"),
        Field("frame", "", "0 base, 1 tool", kind="i8"),
    ),
)


@pytest.fixture
def parameters() -> Layout:
    return PARAMETERS


@pytest.fixture
def joint_names() -> list[str]:
    return ["pan", "lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]


@pytest.fixture
def random_run() -> Callable[..., Array]:
    """`random_run(n, rate_hz)`: records in which every number is random, except a regular tick and time."""

    def make(n: int, rate_hz: float = 500.0, seed: int = 0) -> Array:
        rng = np.random.default_rng(seed)
        numbers = rng.integers(-(2**62), 2**62, size=(n, TELEMETRY.dtype.itemsize // 8))
        records = numbers.astype("<i8").view(TELEMETRY.dtype)[:, 0].copy()
        records["tick"] = np.arange(n)
        records["time_s"] = np.arange(n) / rate_hz
        records["timing"]["wall_ns"] = 0
        records["state"]["law"] = np.arange(n) * (len(LAWS) + 1) // n  # one law after the other, and at first none
        published = Published(6, MODES)
        return published.unpack(published.pack(records))

    return make
