"""Pliant and its experiments are two packages of one version."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def _project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def test_the_experiments_have_the_version_of_pliant_and_ask_for_it() -> None:
    pliant, experiments = _project(ROOT), _project(ROOT / "benchmarks")
    assert experiments["version"] == pliant["version"]
    assert experiments["dependencies"] == [f"pliant=={pliant['version']}"]
    assert pliant["optional-dependencies"]["experiments"] == [f"pliant-experiments=={pliant['version']}"]
    assert experiments["requires-python"] == pliant["requires-python"]


def test_both_packages_carry_the_same_licence() -> None:
    assert (ROOT / "benchmarks" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
