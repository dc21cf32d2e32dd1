"""The force sensor: frozen, late or failing."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis import signals
from pliant.analysis.doctor.case import Case, longest_s
from pliant.analysis.doctor.delay_findings import age_s, pressing
from pliant.analysis.doctor.finding import Finding, millis, share
from pliant.analysis.targets import reported
from pliant.records import (
    WRENCH_FROZEN,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_OK,
    WRENCH_RANGE,
    WRENCH_SATURATED,
    WRENCH_STALE,
)

Array = np.ndarray[Any, Any]

# What a force may come behind the motion without its stamps saying so [s]: damping of a surface makes it lead.
HIDDEN_S = 0.01
# A delay that is known no better than to this share of itself may as well be a force that settles slowly.
DOUBT = 1.0 / 3.0


def frozen_sensor(case: Case) -> Finding:
    """Raw readings that never change, although every sensor has noise."""
    reading = case.records["reading"]
    raw, good = reading["wrench"], reading["wrench_state"] == WRENCH_OK
    same = np.concatenate(([False], np.all(raw[1:] == raw[:-1], axis=1)))
    limit = float(np.median(case.setting("sense.frozen_s", 0.05)))
    stretches = case.spans(same & good)
    if limit == 0.0:  # as for the tick, 0 means never
        figures = (reported("longest constant reading", longest_s(stretches), "s"),)
        return Finding("frozen sensor", "not checked", figures, "sense.frozen_s is 0 (off).")
    spans = tuple(span for span in stretches if span.end_s - span.start_s > limit)
    figures = (reported("longest constant reading", longest_s(stretches), "s"), reported("allowed", limit, "s"))
    if not spans:
        return Finding("frozen sensor", "fine", figures)
    lasted = sum(span.end_s - span.start_s for span in spans)
    figures += (reported("time frozen", lasted, "s"),)
    cause = (
        f"All six channels of the force sensor were frozen for {millis(lasted)} in total, first at "
        f"{spans[0].start_s:.2f} s, for up to {millis(longest_s(spans))}, while the driver marked them as good. A "
        "working sensor has noise. During that time the law had no force feedback."
    )
    remedy = "Check the sensor's cable, driver and rate. " + (
        f"The robot stopped as configured (sense.frozen_s = {limit:g} s)."
        if case.sensor_fault == WRENCH_FROZEN
        else "Set sense.frozen_s so that the robot stops when it freezes."
    )
    return Finding("frozen sensor", "alarm", figures, cause, remedy, spans)


def late_sensor(case: Case) -> Finding:
    """The age of the readings by their time stamps, and by how far the force lags behind the motion."""
    reading = case.records["reading"]
    ages = reading["stamp_s"] - reading["wrench_stamp_s"]
    limit = float(np.median(case.setting("sense.stale_s", 0.01)))
    age, shown = age_s(case), pressing(case)
    late = np.nan_to_num(ages) > limit + 1e-9
    late &= reading["wrench_state"] == WRENCH_OK
    spans = case.spans(late, least_s=2 * case.dt, join_s=0.05)
    figures = (reported("median age by time stamp", 1e3 * age, "ms"), reported("allowed", 1e3 * limit, "ms"))
    if shown is not None:
        figures += (
            reported("force lag behind motion", 1e3 * shown.behind_s, "ms"),
            reported("uncertainty of the force's lag", 1e3 * shown.doubt_s, "ms"),
        )
    part = case.seconds(late) / (len(case.records) * case.dt)
    remedy = "Find the buffer or filter that delays the readings. Until then, declare the whole lag."
    ended = case.sensor_fault == WRENCH_STALE and late.any()
    if ended or (spans and longest_s(spans) > limit):
        cause = (
            f"In {share(part)} of the time the readings were older than {millis(limit)} by their time stamps: "
            f"{millis(float(np.median(ages[late])))} in the median. The law reacts to outdated forces."
        )
        severity = "alarm" if ended else "warning"
        return Finding("late sensor", severity, figures, cause, remedy, spans or case.spans(late))
    hidden = shown.behind_s - age if shown is not None else 0.0
    if shown is not None and hidden - shown.doubt_s > HIDDEN_S and shown.doubt_s < DOUBT * hidden:
        cause = (
            f"While the tool pressed, the force lagged {millis(shown.behind_s)} (± {millis(shown.doubt_s)}) behind the "
            f"motion, but the time stamps show {millis(age)}: the readings are older than their stamps."
        )
        return Finding("late sensor", "warning", figures, cause, remedy)
    return Finding("late sensor", "fine", figures)


def failing_sensor(case: Case) -> Finding:
    """Readings that were missing, saturated, out of range or not finite.

    Stale and frozen readings are only counted here: they have their own findings. Both counts together are the bad
    readings in the summary of a run.
    """
    bad, trouble = signals.bad_readings(case.records), case.records["state"]["trouble"]
    broken = bad & ~np.isin(trouble, (WRENCH_STALE, WRENCH_FROZEN))
    hold = float(np.median(case.setting("sense.hold_s", 0.02)))
    spans = case.spans(broken)
    figures = (
        reported("missing, saturated or out-of-range readings", np.count_nonzero(broken), "ticks"),
        reported("stale or frozen readings", np.count_nonzero(bad & ~broken), "ticks"),
        reported("longest failure", longest_s(spans), "s"),
    )
    ended = case.sensor_fault not in (WRENCH_OK, WRENCH_STALE, WRENCH_FROZEN)
    if not ended and longest_s(spans) <= hold + 1e-9:
        said = [f"Short failures of at most {millis(longest_s(spans))} were bridged."] if spans else []
        said += ["Stale or frozen readings: see frozen sensor and late sensor."] if (bad & ~broken).any() else []
        return Finding("failing sensor", "fine", figures, " ".join(said))
    state = case.records["reading"]["wrench_state"]
    words = {WRENCH_MISSING: "missing", WRENCH_SATURATED: "saturated"}
    kinds = [name for number, name in words.items() if (state == number).any()]
    others = {WRENCH_RANGE: "out of range", WRENCH_NAN: "not finite"}
    kinds += [name for number, name in others.items() if (trouble == number).any()]
    cause = (
        f"For up to {millis(longest_s(spans))} the force readings were unusable ({', '.join(kinds) or 'not finite'}). "
        f"The last good one is held for {millis(hold)}" + ("; then the robot stopped." if ended else ".")
    )
    remedy = "Check the sensor, its range and its connection."
    return Finding("failing sensor", "alarm", figures, cause, remedy, spans)
