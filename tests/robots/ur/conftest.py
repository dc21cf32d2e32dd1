"""An emulated controller for the driver's tests, one per file: it keeps a fifth of a core busy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pliant_experiments.robots.emulator_process import Emulator


@pytest.fixture(scope="session")
def ur_rtde() -> None:
    """The package ur_rtde, that the driver stands on; see `needs`."""


@pytest.fixture(scope="module")
def emulator(ur_rtde: None) -> Iterator[Emulator]:
    with Emulator(task="hand_guiding") as running:
        yield running


@pytest.fixture
def ur(emulator: Emulator) -> Iterator[Emulator]:
    """The emulator with nothing wrong."""
    emulator.inject("clear")
    yield emulator
    emulator.inject("clear")


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Black boxes do not stay behind."""
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
