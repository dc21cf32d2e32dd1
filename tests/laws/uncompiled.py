"""The same numbers with and without compilation: what the tests of the laws have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

Part = Callable[[np.random.Generator], list[float]]


def results(part: Part, samples: int) -> str:
    """Everything that a part computes from random numbers, in hexadecimal."""
    random = np.random.default_rng(11)
    return " ".join(float(x).hex() for _ in range(samples) for x in part(random))


def run_uncompiled(module: str) -> dict[str, str]:
    """The results of all PARTS of a test module, by a process that compiles nothing."""
    code = (
        f"import {module} as t\nfrom uncompiled import results\n"
        "for name, part in t.PARTS.items(): print(name, results(part, t.SAMPLES))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())
