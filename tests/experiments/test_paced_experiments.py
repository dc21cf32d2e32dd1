"""Experiments with robots and networks in real time meet their targets."""

from __future__ import annotations

from pathlib import Path

import pytest
from quicker import PACED, meets_its_targets


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name, marks in PACED.items()])
def test_every_experiment_meets_its_targets_and_draws_its_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meets_its_targets(name, tmp_path, monkeypatch)
