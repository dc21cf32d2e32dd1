"""Experiments with robots and networks that keep pace with the clock meet their bars."""

from __future__ import annotations

from pathlib import Path

import pytest
from quicker import PACED, meets_its_bars


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name, marks in PACED.items()])
def test_every_experiment_meets_its_bars_and_draws_its_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meets_its_bars(name, tmp_path, monkeypatch)
