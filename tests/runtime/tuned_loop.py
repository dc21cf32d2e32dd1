"""The loop that tests of tuning share, and `pliant set` for it."""

from __future__ import annotations

import os
import sys

from support.words import Said, say

CLI = [sys.executable, "-c", "from pliant.cli.main import main; main()"]
NAME = f"link-test-{os.getpid()}"
BIAS = (3.0, -2.0, 1.0, 0.1, -0.2, 0.05)
TASK = {
    "law": "hold",
    "tool": {"mass_kg": 0.8, "com_m": [0, 0, 0.06], "tcp_m": [0, 0, 0.15]},
    "sim": {"sensor": {"bias": BIAS}},
}
MINE = "# Mine.\nrobot: sim:ur5e\nparams:\n  sense: {cutoff_hz: 20.0}   # quiet\n"


def pliant_set(*words: str) -> Said:
    return say("set", *words, "--loop", NAME)
