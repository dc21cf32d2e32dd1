"""Rows: a law of the user raises, writes what is not a number, or is too slow."""

from __future__ import annotations

import numpy as np

from pliant_experiments.faults.fault_rig import Rig
from pliant_experiments.faults.fault_row import Seen, row

LAW = "law of your own"
# A law that works for a second, and then does one more thing in every tick.
_SOURCE = """
import math
import pliant


class Params(pliant.Section):
    # every law has parameters
    unused: float = pliant.param(1.0, ge=0, le=2, help="Not used.")


STATE = (pliant.Field("time_s", "s", "since the law has started"), pliant.Field("sum", "", "what takes its time"))


@pliant.compiled
def step(tick, p, s, dt):
    s.time_s += dt
    for i in range(6):
        tick.twist[i] = 0.0
    tick.twist[0] = 0.01
    if s.time_s > 1.0:
        {then}


LAW = pliant.own_law("{name}", Params, step, state=STATE)
"""
_SLOW = """for k in range(4000000):
            s.sum += math.sqrt(k + s.sum)"""


def _fails(rig: Rig, seen: Seen, name: str, then: str, words: str) -> None:
    (rig.folder / f"{name}.py").write_text(_SOURCE.format(name=name, then=then))
    run = rig.run("--unchecked", task=rig.task(law=f"{name}.py"), record=False)
    seen.must(run.board is not None and run.ended() is not None and run.code == 3, "exit code 3")
    seen.must(words in run.err, "the fault names the law and what is wrong")
    records = run.board.read(0)[0]
    seen.must(bool(np.isfinite(records["state"]["qd_cmd"]).all()), "no command that is not finite was sent")
    seen.must(bool(np.abs(records["state"]["qd_cmd"][-1]).max() < 1e-9), "the arm has stopped within its limits")
    failed = np.flatnonzero(records["state"]["fault"])
    if len(failed):
        seen.safe_s = float(records["time_s"][-1] - records["time_s"][failed[0]])
    seen.saved = rig.has_last_seconds(run)
    seen.must(seen.saved, "the black box holds the last seconds")


@row(42, LAW, "raises an error", "the arm brakes; the fault names the law")
def raises(rig: Rig, seen: Seen, short: bool) -> None:
    _fails(rig, seen, "raising", 'raise ValueError("broken")', "the law raising raised ValueError")


@row(43, LAW, "returns what is not a number", "the arm brakes; the fault names the law; nothing of it is sent")
def not_a_number(rig: Rig, seen: Seen, short: bool) -> None:
    _fails(rig, seen, "nanny", "tick.twist[1] = math.nan", "the law nanny returned a command that is not finite")


@row(44, LAW, "takes longer than a period", "the arm brakes; the fault names the law and its time")
def too_slow(rig: Rig, seen: Seen, short: bool) -> None:
    _fails(rig, seen, "slowly", _SLOW, "a tick with the law slowly took")
