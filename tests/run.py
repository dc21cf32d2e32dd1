"""Run one tier of the tests as fast as two cores allow, and end with a one-line summary.

    quick   every capability at least once in closed loop; properties try few examples (make test)
    all     everything; properties try many examples (make test-all)
    rest    what `all` adds to `quick`, but for tests that take minutes; for CI, which runs both

Tests in real time mostly wait; those that compute run in parallel at a lower priority. Options of pytest may follow the
name of the tier.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).parent
PACED = [
    str(TESTS / name)
    for name in (
        "experiments/test_paced_experiments.py",
        "experiments/test_fault_rows.py",
        "bridge",
        "robots",
        "cli",
        "ros2",
        "runtime",
        "studio",
    )
]
"""Here loops, emulated controllers and pages run at the pace of the clock. The browser comes last: it stays open."""

THOROUGH = "--hypothesis-profile=thorough"
TIERS = {
    "quick": ("the quick tests", ["-m", "not slow"]),
    "all": ("all tests", [THOROUGH]),
    "rest": ("the tests that `make test` leaves out", ["-m", "(slow or hypothesis) and not long", THOROUGH]),
}
LONGEST_S = 3600.0
"""After this time something must be hanging that the timeout of a single test cannot interrupt, such as C code."""

NICE = os.environ.get("PLIANT_TESTS_NICE", "10")
"""The nice value of tests that compute. On a machine with a busy program, 10 would leave them little time."""

WAITING = os.environ.get("PLIANT_TESTS_WAITING", "2")
"""How many files of tests in real time run at once. They mostly wait, so there may be more of them than cores."""

FAILED, NO_TESTS, HUNG = 1, 5, 124


@dataclass
class Tally:
    """How many tests passed, failed and were skipped, and why."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, cases: Iterable[ElementTree.Element]) -> None:
        for case in cases:
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed += 1
            elif (skip := case.find("skipped")) is not None:
                self.skipped[skip.get("message", "").partition(":")[0]] += 1
            else:
                self.passed += 1

    def sentence(self, seconds: float, code: int) -> str:
        run, took = self.passed + self.failed, f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
        if code not in (0, FAILED):
            said = (
                f"The tests did NOT finish (exit code {code}) after {took}; {self.passed} passed, {self.failed} failed"
            )
        elif self.failed:
            said = f"{self.failed} of {run} tests FAILED in {took}"
        elif code:
            said = f"pytest FAILED (exit code {code}) although no test did; {self.passed} passed in {took}"
        else:
            said = f"All {run} tests passed in {took}"
        if not self.skipped:
            return f"{said}."
        reasons = ", ".join(f"{reason} ({count})" for reason, count in self.skipped.most_common())
        return f"{said}; {self.skipped.total()} skipped: {reasons}."


def main(tier: str, more: list[str]) -> int:
    """Run both kinds of tests side by side; the exit code is not 0 when one of them failed or did not finish."""
    what, chosen = TIERS[tier]
    print(f"Running {what}. Tests whose requirements are not installed are skipped.", flush=True)
    began, tally = time.monotonic(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        code = _run(Path(folder), [*chosen, *more])
        for report in Path(folder).glob("*.xml"):
            with suppress(ElementTree.ParseError):  # pytest was killed while writing; its exit code shows that
                tally.add(ElementTree.parse(report).iter("testcase"))
    code = code or (FAILED if tally.failed else 0) or (0 if tally.passed else NO_TESTS)
    print(tally.sentence(time.monotonic() - began, code), flush=True)
    return code


def _run(folder: Path, options: list[str]) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does: tests run beside each other
    pytest = [sys.executable, "-m", "pytest", *options]
    paced = [*pytest, *PACED, f"--junitxml={folder / 'paced.xml'}"]
    paced += ["--numprocesses", WAITING, "--dist", "loadfile", "--no-loadscope-reorder"]  # files in the order above
    rest = [*pytest, str(TESTS), *(f"--ignore={path}" for path in PACED), f"--junitxml={folder / 'rest.xml'}"]
    rest += ["--numprocesses", str(max(2, len(os.sched_getaffinity(0)) - 1)), "--dist", "worksteal"]
    with tempfile.TemporaryFile() as said:
        computing = subprocess.Popen(["nice", "-n", NICE, *rest], stdout=said, stderr=subprocess.STDOUT)
        try:
            code = subprocess.call(paced, timeout=LONGEST_S)
            other = computing.wait(LONGEST_S)
        except KeyboardInterrupt:
            code = other = 130
        except subprocess.TimeoutExpired:
            print(f"The tests did not finish within {LONGEST_S:g} s.", flush=True)
            code = other = HUNG
        finally:
            computing.terminate()
            computing.wait()
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    return next((ended for ended in (code, other) if ended not in (0, NO_TESTS)), 0)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in TIERS:
        sys.exit(f"usage: tests/run.py {'|'.join(TIERS)} [options of pytest]")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
