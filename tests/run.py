"""All tests, in as little time as two cores need.

Those that keep pace with the clock mostly wait; the others only compute, and take what is left of the processor. What
is given on the command line (options of pytest) goes to both.
"""

from __future__ import annotations

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

PYTEST = (
    *(sys.executable, "-m", "pytest", "--numprocesses", "2"),
    *("--dist", "loadfile", "--no-loadscope-reorder"),  # files one after the other, as they are named
)


LONGEST_S = 4500.0
"""Something hangs where no limit of a single test reaches, in C for instance."""


def main(more: list[str]) -> int:
    """Run both kinds side by side; an exit code other than 0 when one of them ended otherwise, or not at all."""
    with tempfile.TemporaryFile() as said:
        rest = [str(TESTS), *(f"--ignore={path}" for path in PACED)]
        words = ["nice", "-n", "10", *PYTEST, *rest, *more]
        computing = subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT)
        try:
            print("Tests that keep pace with the clock; those that compute run beside them.", flush=True)
            code = subprocess.call([*PYTEST, *PACED, *more], timeout=LONGEST_S)
            print("Tests that compute.", flush=True)
            code = computing.wait(LONGEST_S) or code  # one that was killed has a negative one
        except KeyboardInterrupt:
            code = 130
        except subprocess.TimeoutExpired:
            print(f"The tests have not ended after {LONGEST_S:g} s.", flush=True)
            code = 1
        finally:
            computing.terminate()
            computing.wait()
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
