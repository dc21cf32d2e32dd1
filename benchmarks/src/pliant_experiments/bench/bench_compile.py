"""Time of the first compilation, compared with compiling one kernel at a time, as Numba does; and of a new law."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pliant.analysis.experiments import Progress
from pliant.analysis.targets import Outcome, at_most, reported

DEMO = ("loop", "replay", "law hold", "law admittance")
"""Groups of kernels that `pliant demo` runs."""

# Compile the demo's kernels, then the others, in one process; print the processor time of each.
_COMPILE = f"""
import json, time
from pliant.compiling.entry_points import GROUPS
from pliant.compiling.ahead import load_group
taken = []
for groups in ({DEMO!r}, tuple(GROUPS)):
    began = time.process_time()
    for group in groups:
        load_group(group)
    taken.append(time.process_time() - began)
print(json.dumps(taken))
"""

# Make the demo's kernels ready as a command does, with a process for each core; print the time by the clock.
_AS_A_COMMAND = f"""
import time
from pliant.compiling.ahead import ensure
began = time.perf_counter()
ensure(*{DEMO!r})
print(time.perf_counter() - began)
"""

# A law of one's own, as in the documentation: a few lines of force over damping.
_LAW = """
import pliant

class Params(pliant.Section):
    damping_n_s_m: float = pliant.param(100.0, unit="N s/m", live=True, gt=0, le=1e4, help="Force over speed.")

@pliant.compiled
def step(tick, p, s, dt):
    for i in range(3):
        tick.twist[i] = tick.wrench[i] / p.damping_n_s_m
        tick.twist[3 + i] = 0.0

LAW = pliant.own_law("new_law", Params, step)
"""

# Run the first tick of a law whose file is new, then that of one of Pliant's; print the time of each by the clock.
_FIRST_TICK = """
import json, sys, time
import pliant
from pliant.compiling.ahead import ensure
ensure("batch", "law hold")
taken = []
for law in (sys.argv[1], "hold"):
    began = time.perf_counter()
    pliant.Simulation(pliant.Task(law=law)).step()
    taken.append(time.perf_counter() - began)
print(json.dumps(taken))
"""


def compile_kernels(seconds: float, progress: Progress) -> Outcome:
    """Processor time and cache size of the first compilation, compared with one kernel at a time."""
    began = time.perf_counter()
    ours, our_bytes = _measure({"PLIANT_COMPILE": ""})
    progress(0.25)
    with tempfile.TemporaryDirectory() as folder:
        clock = float(_python(_AS_A_COMMAND, {"PLIANT_CACHE": folder}))
        new_law, known_law = _first_ticks(Path(folder))
    progress(0.4)
    theirs, their_bytes = _measure({"PLIANT_COMPILE": "one-by-one"})
    progress(1.0)
    demo, everything = ours[0], sum(ours)
    before = sum(theirs)
    figures = [
        reported("all kernels, one at a time: processor time", before, "s"),
        reported("all kernels: processor time", everything, "s"),
        at_most("all kernels: relative to one at a time", everything / before, "", 0.45),
        reported("demo, one kernel at a time: processor time", theirs[0], "s"),
        reported("demo: processor time", demo, "s"),
        at_most("demo: relative to all kernels, one at a time", demo / before, "", 0.20),
        reported(f"demo, on {len(os.sched_getaffinity(0))} cores: elapsed time", clock, "s"),
        at_most("a law of your own in a new file: elapsed time until its first tick", new_law, "s", 3.0),
        reported("a known law: elapsed time until its first tick", known_law, "s"),
        reported("cache of all kernels, one at a time", their_bytes / 1e6, "MB"),
        reported("cache of all kernels", our_bytes / 1e6, "MB"),
    ]
    return Outcome("compile", 0, time.perf_counter() - began, figures)


def _measure(environment: dict[str, str]) -> tuple[list[float], int]:
    """Processor time for the demo's kernels and for the others, and bytes in the cache, from an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        printed = _python(_COMPILE, {"PLIANT_CACHE": folder, "NUMBA_CACHE_DIR": folder, **environment})
        return json.loads(printed), sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def _first_ticks(folder: Path) -> list[float]:
    """Elapsed time until the first tick of a law in a new file, and of a known one; Pliant's own code is compiled."""
    file = folder / "new_law.py"
    file.write_text(_LAW)
    return json.loads(_python(_FIRST_TICK, {"PLIANT_CACHE": str(folder)}, str(file)))


def _python(code: str, environment: dict[str, str], *words: str) -> str:
    command, surroundings = [sys.executable, "-c", code, *words], {**os.environ, **environment}
    done = subprocess.run(command, env=surroundings, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout
