"""All tests, in as little time as two cores need.

Those that keep pace with the clock mostly wait; the others only compute, and take what is left of the processor. What
is given on the command line (options of pytest) goes to both.

A machine that is held up by others for tenths of a second makes a watchdog bite or a reading grow old, and rightly so:
a test of the first kind that fails is run once more, alone, and counts as it ends then. It is named at the end, so that
one that needs this again and again is mended. A test that computes has no such excuse.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parent
PACED = [
    str(TESTS / name)
    for name in ("experiments/test_paced_experiments.py", "bridge", "robots", "cli", "ros2", "runtime", "studio")
]
"""Here loops, emulated controllers and pages run at the pace of the clock. The browser comes last: it stays open."""

PYTEST = (sys.executable, "-m", "pytest")
SHARED = ("--numprocesses", "2", "--dist", "loadfile", "--no-loadscope-reorder")  # files one after the other, as named

LONGEST_S = 4500.0
"""Something hangs where no limit of a single test reaches, in C for instance."""

FAILED, HUNG = 1, 124
"""What pytest ends with when tests have failed, and nothing worse; and what stands for not having ended at all."""

MOST_AGAIN = 10
"""When more than these fail, something is broken, and nobody needs to wait for them once more."""


def main(more: list[str]) -> int:
    """Run both kinds side by side; an exit code other than 0 when one of them ended otherwise, or not at all."""
    rest = [str(TESTS), *(f"--ignore={path}" for path in PACED)]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory() as kept:
        paced = [*PYTEST, *PACED, *more, "-o", f"cache_dir={kept}"]
        words = ["nice", "-n", "10", *PYTEST, *SHARED, *rest, *more]
        computing = subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT)
        try:
            print("Tests that keep pace with the clock; those that compute run beside them.", flush=True)
            code = subprocess.call([*paced, *SHARED], timeout=LONGEST_S)
            computing.wait(LONGEST_S)
        except KeyboardInterrupt:
            code = 130
        except subprocess.TimeoutExpired:
            print(f"The tests have not ended after {LONGEST_S:g} s.", flush=True)
            code = HUNG
        finally:
            computing.terminate()
            computing.wait()
        print("Tests that compute.", flush=True)
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
        if code == FAILED:
            code = again(paced, Path(kept))
    return computing.returncode or code  # one that was killed has a negative one


def again(paced: list[str], kept: Path) -> int:
    """Run those that have failed once more, one after the other with nothing beside them."""
    failed = sorted(json.loads((kept / "v/cache/lastfailed").read_text()))
    if len(failed) > MOST_AGAIN:
        print(f"{len(failed)} tests have failed: too many to blame the machine.", flush=True)
        return FAILED
    print(f"{len(failed)} of those that keep pace have failed beside others. Once more, alone:", flush=True)
    code = subprocess.call([*paced, "--last-failed", "-p", "no:xdist"], timeout=LONGEST_S)
    ending = "failed alone too, or others of them did" if code else "passed alone"
    for name in failed:
        print(f"{name}: failed beside others, {ending}.", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
