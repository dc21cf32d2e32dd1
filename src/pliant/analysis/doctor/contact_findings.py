"""Contact: losses, preload before the start, force above the limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case, longest_s, smooth
from pliant.analysis.doctor.finding import Finding, millis
from pliant.analysis.signals import Span
from pliant.analysis.targets import reported
from pliant.control.laws.contact.contact_states import DWELL, PAUSED, PRELOAD, READY, SLIDE
from pliant.control.sense.resting_limit import BEFORE_S, most_at_rest_n

Array = np.ndarray[Any, Any]

# A contact is firm from this share of the target on, and lost below contact.loss_n for at least this long [s].
FIRM, LOST_S = 0.2, 0.01
# Contacts that are lost and come back within this time bounce [s].
BOUNCE_S = 0.5
# The law must react to an exceeded force limit within the first time; the force must fall within the second [s].
ANSWER_S, RELIEF_S = 0.05, 0.5


def _is_off(case: Case) -> Array:
    """Ticks at work in which the tool, once it had touched firmly, does not touch."""
    force = smooth(np.nan_to_num(case.pressed), 5)
    gone = case.setting("contact.loss_n", 0.06 * case.target_n)
    firm = np.maximum(FIRM * case.target, gone)
    # hysteresis: the last of the two thresholds that was crossed counts
    mark = np.where(force > firm, 1, np.where(force < gone, -1, 0))
    at = np.maximum.accumulate(np.where(mark != 0, np.arange(len(mark)), 0))
    # while the law seeks, a force is that of the tool's own inertia
    touched = np.cumsum((mark == 1) & np.isin(case.contact["state"], (DWELL, SLIDE, PAUSED))) > 0
    return case.active & touched & (mark[at] == -1)


def contact_losses(case: Case) -> Finding:
    """How often contact was lost, for how long, and the largest force on return."""
    if not case.is_contact:
        return Finding("contact losses", "not applicable", (), "The contact law did not run.")
    if not case.target_n > 0:
        return Finding("contact losses", "fine", (reported("contacts lost", 0.0),), "The target force is zero.")
    off = _is_off(case)
    spans = case.spans(off, least_s=LOST_S)
    noticed = int(case.contact["losses"].max())
    figures = (
        reported("contacts lost", len(spans)),
        reported("detected by the law", noticed),
        reported("time without contact", case.seconds(off), "s"),
    )
    if not spans:
        return Finding("contact losses", "fine", figures)
    back = [span for span in spans if span.end_s < case.time_s[-1] - case.dt and span.end_s - span.start_s < BOUNCE_S]
    after = [(case.time_s >= span.end_s) & (case.time_s < span.end_s + 0.2) for span in back]
    hardest = max((float(np.nanmax(case.pressed[rows], initial=0.0)) for rows in after), default=0.0)
    figures += (reported("longest", longest_s(spans), "s"), reported("largest force on return", hardest, "N"))
    if len(back) >= 3:
        rate = len(back) / max(back[-1].end_s - back[0].start_s, case.dt)
        cause = (
            f"The tool bounces: contact was lost {len(spans)} times, up to {rate:.2g} times per second, for at most "
            f"{millis(longest_s(spans))}. The force on return reached {hardest:.3g} N."
        )
        remedy = "If a limit cycle is reported, fix that first. Otherwise approach more slowly and lower the gain."
        return Finding("contact losses", "alarm", figures, cause, remedy, spans)
    ended = spans[-1].end_s >= case.time_s[-1] - 2 * case.dt
    cause = (
        f"Contact was lost {'once' if len(spans) == 1 else f'{len(spans)} times'}, at {spans[0].start_s:.2f} s, for "
        f"{millis(longest_s(spans))}{' and until the end' if ended else ''}: the surface ended there, or it moved away "
        "faster than the law could follow."
    )
    remedy = "Check the surface at that position. The tool must not search for it faster than it approaches."
    return Finding("contact losses", "warning", figures, cause, remedy, spans)


def preload(case: Case) -> Finding:
    """The force on the tool when the law started."""
    if case.begun_in_contact:
        why = "The recording begins in mid-contact: the start is not in it."
        return Finding("preload at start", "not checked", (), why)
    start = _start(case)
    before = max(0, start - round(BEFORE_S / case.dt))
    if start - before < 5:  # it was at work from the first record on: what it felt then
        before, start = 0, max(5, round(0.2 * BEFORE_S / case.dt))
    force = float(np.linalg.norm(np.nanmean(case.force[before:start], axis=0)))
    figures = (reported("force before the start", force, "N"), reported("start", float(case.time_s[start]), "s"))
    deadband, allowed = case.setting("sense.deadband_n", 1.0)[start], case.setting("contact.preload_n", 0.5)[start]
    most = float(allowed) if case.is_contact else most_at_rest_n(float(deadband))
    rejected = bool((case.contact["rejected"] == PRELOAD).any())
    if not force > most and (case.active.any() or not rejected):
        said = "An earlier start was rejected because of a preload." if rejected else ""
        return Finding("preload at start", "fine", figures, said)
    what = "A start was rejected" if rejected else "The law started"
    cause = (
        f"{what} while {force:.3g} N acted on the tool; at most {most:.3g} N is allowed. The tool touched "
        "something, or the sensor offset or the tool weight is wrong."
    )
    remedy = "Lift the tool off before the start. If it is already free, run pliant tare or pliant identify payload."
    spans = case.spans(np.isin(np.arange(len(case.records)), range(before, start + 1)))
    return Finding("preload at start", "warning" if rejected else "alarm", figures, cause, remedy, spans)


def _start(case: Case) -> int:
    """The tick in which the law began to work (for a contact law: first sought, or else was ready)."""
    if case.active.any():
        return int(np.argmax(case.active))
    if (rejected := case.contact["rejected"] == PRELOAD).any():
        return int(np.argmax(rejected))
    if case.is_contact:
        return len(case.records) - 1 - int(np.argmax(case.contact["state"][::-1] == READY))
    return int(np.argmax(case.records["state"]["started"] != 0))


def overload(case: Case) -> Finding:
    """The largest force compared with the declared limit, and whether the law reacted."""
    size = np.nan_to_num(np.linalg.norm(case.force, axis=1))
    figures = (reported("largest force", float(size.max()), "N"),)
    if not (case.is_contact or case.failed.any()):
        return Finding("force above its limit", "not applicable", figures, "This law has no force limit.")
    limit = case.setting("contact.force_limit_n", np.inf)
    figures += (reported("limit", float(limit.min()), "N"),)
    over = size > limit
    spans = case.spans(over, join_s=ANSWER_S)
    if not spans:
        return Finding("force above its limit", "fine", figures)
    ignored = [span for span in spans if not _answered(case, span)]
    lasting = [span for span in spans if span.end_s - span.start_s > RELIEF_S]
    figures += (
        reported("times above it", len(spans)),
        reported("times the law did not react", len(ignored)),
        reported("longest", longest_s(spans), "s"),
    )
    cause = (
        f"The force reached {size.max():.3g} N and was above its limit of {limit[over].min():.3g} N for "
        f"{millis(case.seconds(over))} in total, first at {spans[0].start_s:.2f} s"
    )
    if ignored:
        cause += f". The law did not react{_how_many(len(ignored), len(spans))}, first at {ignored[0].start_s:.2f} s."
        remedy = "Check the force limit in every state, not only while sliding, and lift off when it is exceeded."
        return Finding("force above its limit", "alarm", figures, cause, remedy, tuple(ignored))
    if lasting:
        cause += f". The law stopped, but the force stayed above the limit for {millis(longest_s(spans))}."
        remedy = "Check what holds the tool: lifting off did not free it."
        return Finding("force above its limit", "alarm", figures, cause, remedy, tuple(lasting))
    cause += ". The law stopped each time." if len(spans) > 1 else ". The law stopped."
    remedy = "If it was the first touch, approach more slowly or declare a stiffer surface "
    remedy += "(contact.stiffness_max_n_m). Otherwise check what the tool hit there."
    return Finding("force above its limit", "warning", figures, cause, remedy, spans)


def _answered(case: Case, span: Span) -> bool:
    """Whether the law was in its fault soon after the force exceeded the limit, or already was."""
    soon = (case.time_s >= span.start_s - case.dt / 2) & (case.time_s <= span.start_s + ANSWER_S + case.dt / 2)
    return bool(case.failed[soon].any())


def _how_many(some: int, of_all: int) -> str:
    if of_all == 1:
        return ""
    return f" {some} of {of_all} times"
