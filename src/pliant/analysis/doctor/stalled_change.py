"""A change of gains that does not complete, because the energy tank is empty."""

from __future__ import annotations

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding, share
from pliant.analysis.targets import reported
from pliant.control.laws.registry import LAWS

NAME = "gain change"
# A change waits if it advances by less than this in a second [share]; shorter waits are left to the damper.
_SLOW_PER_S, _LEAST_S = 0.02, 0.5


def stalled_gain_change(case: Case) -> Finding:
    """How long a gain change has waited for energy, and how far it has come."""
    state = case.records["state"]
    ramp = state["ramp"]
    # only laws with matrices advance a change: of any other law, progress and tank say nothing
    numbers = [law.number for law in LAWS.values() if law.matrices is not None]
    changing = (ramp < 1.0) & (state["started"] != 0) & np.isin(state["law"], numbers)
    if not changing.any():
        return Finding(NAME, "not checked", cause="No gains were changed while a law ran.")
    advance = np.gradient(ramp, case.dt) if len(ramp) > 1 else np.zeros(len(ramp))
    waits = case.spans(changing & (np.abs(advance) < _SLOW_PER_S), least_s=_LEAST_S, join_s=0.1)
    lasted = sum(span.end_s - span.start_s for span in waits)
    figures = (reported("time waited for energy", lasted, "s"), reported("completed", 100 * float(ramp[-1]), "%"))
    if not waits:
        return Finding(NAME, "fine", figures)
    end = f"It is {share(float(ramp[-1]))} complete." if ramp[-1] < 1.0 else "It completed later."
    cause = (
        f"A gain change waited for {lasted:.3g} s from {waits[0].start_s:.2f} s on. A stiffer spring under load holds "
        f"more energy. The energy tank, which pays for it, was empty. {end}"
    )
    remedy = (
        "Take the load off or let the tool move, because the damper refills the tank. Or raise the tank_j of the law "
        "before the start."
    )
    return Finding(NAME, "warning", figures, cause, remedy, waits)
