"""Run the tests on a busy machine: during every round, one process per core does nothing but compute.

    python tests/under_load.py                         all tests, three times
    python tests/under_load.py --rounds 5 quick -k session     what follows goes to tests/run.py

A test that fails here and passes alone depends on the machine keeping pace. Remove the cause: let the test drive the
clock, wait for an event, or read the record.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RUN = (sys.executable, str(Path(__file__).parent / "run.py"))
SETTINGS = {"PLIANT_TESTS_NICE": "0", "PLIANT_TESTS_WAITING": "4"}
"""Tests run at the priority of the busy processes, and twice as many loops, controllers and pages as usual run at a
time.
"""

BUSY = (sys.executable, "-c", "while True: pass")


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """This many processes that compute all the time, at normal priority."""
    started = [subprocess.Popen(BUSY) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def main(words: list[str]) -> int:
    """Run the rounds; an exit code other than 0 if one of them failed."""
    parser = argparse.ArgumentParser(description="Run the tests while every core is kept busy.")
    parser.add_argument("--rounds", type=int, default=3, help="number of test runs (default: 3)")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="busy processes (default: one per core)"
    )
    options, more = parser.parse_known_args(words)
    if options.rounds < 1 or options.processes < 1:
        parser.error("--rounds and --processes must be at least 1")
    codes = []
    for number in range(1, options.rounds + 1):
        began = time.monotonic()
        with busy(options.processes):
            codes.append(subprocess.call([*RUN, *(more or ["all"])], env={**os.environ, **SETTINGS}))
        result = f"failed (exit code {codes[-1]})" if codes[-1] else "passed"
        print(f"Round {number} of {options.rounds}: {result} after {time.monotonic() - began:.0f} s.", flush=True)
    failed = sum(code != 0 for code in codes)
    load = f"{options.processes} busy processes"
    print(f"{failed} of {len(codes)} rounds failed under {load}." if failed else f"All rounds passed under {load}.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
