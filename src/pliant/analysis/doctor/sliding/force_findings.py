"""The force of a contact beside its target, and its progress: too large, off its target, or crawling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case, smooth
from pliant.analysis.doctor.finding import Finding, share
from pliant.analysis.doctor.sliding.normal_findings import friction
from pliant.analysis.targets import reported
from pliant.control.laws.contact.contact_states import DWELL, SLIDE
from pliant.control.laws.contact.normal_force import FRICTION_MOST

Array = np.ndarray[Any, Any]

# Means over which a force counts [s]: shorter ones are mostly noise.
BRIEF_S, STEADY_S = 0.02, 0.1
# Without a declared peak, a force up to this times the target is allowed.
PEAK = 1.5
# The force may be off its target by this share (RMS) while the tool slides.
TOLERANCE = 0.15
# A mean of the noise counts beyond so many standard deviations.
SIGMAS = 4.0
# A slide below this share of its speed, for this share of its time, crawls; a slide shorter than this [s] says nothing.
CRAWLS, OFTEN, LEAST_SLIDE_S = 0.25, 0.5, 0.5
# The total force on a surface with the largest friction, relative to its normal part.
_MOST_TOTAL = math.hypot(1.0, FRICTION_MOST)


def _felt(case: Case) -> Array:
    """Unfiltered force at the tool, beyond the zero that the law took at its start [N]."""
    return np.nan_to_num(case.force - case.contact["zero"])


def _noise_n(case: Case, seconds: float) -> float:
    """Standard deviation of the noise in a mean over so many seconds [N]."""
    noise = np.maximum(case.contact["noise_n"], case.setting("contact.noise_n", 0.0))[case.active]
    return float(np.median(noise)) / math.sqrt(max(1.0, seconds / case.dt)) if len(noise) else 0.0


def force_above_target(case: Case) -> Finding:
    """The largest force of the contact, beside the one that is allowed.

    Judged is what the normal force is at least: the total force, without the largest friction that there may be.
    """
    name = "total force above target"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "The contact law did not run.")
    pressing = np.isin(case.contact["state"], (DWELL, SLIDE))
    if not pressing.any() or not case.target_n > 0.0:
        return Finding(name, "not checked", (), "The tool never pressed.")
    felt = smooth(_felt(case), round(BRIEF_S / case.dt))
    total, along = np.linalg.norm(felt, axis=1), np.sum(felt * case.contact["normal"], axis=1)
    least = np.maximum(along, total / _MOST_TOTAL)
    allowed = np.maximum(case.setting("contact.peak_n", 0.0), PEAK * case.target) + SIGMAS * _noise_n(case, BRIEF_S)
    over = pressing & (least > allowed)
    at = int(np.argmax(np.where(pressing, least, 0.0)))
    figures = (
        reported("largest total force while pressing", float(total[pressing].max()), "N"),
        reported("largest normal force, at least", float(least[at]), "N"),
        reported("allowed", float(allowed[at]), "N"),
    )
    if not over.any():
        return Finding(name, "fine", figures)
    first = bool(np.isin(case.contact["state"][int(np.argmax(over))], (DWELL,)))
    cause = (
        f"The tool pressed with {least[at]:.3g} N or more at {case.time_s[at]:.2f} s, where {allowed[at]:.3g} N are "
        f"allowed for a target of {case.target[at]:.3g} N. It was above that for {case.seconds(over):.2g} s in total, "
        f"first {'before' if first else 'while'} the tool {'slid' if first else 'was sliding'}."
    )
    remedy = (
        "Approach more slowly: lower contact.approach_m_s, or raise contact.stiffness_max_n_m and contact.lag_s to the "
        "real ones."
        if first
        else "See swinging normal, friction out of range and limit cycle. Otherwise slide more slowly."
    )
    return Finding(name, "warning", figures, cause, remedy, case.spans(over, join_s=STEADY_S))


def force_off_target(case: Case) -> Finding:
    """RMS of the normal force minus its target while the tool slides: as the law sees it, or by the total force.

    With the usual friction of the slide, the total force shows the normal one however wrong the estimated normal is.
    """
    name = "force off target"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "The contact law did not run.")
    slid = case.contact["state"] == SLIDE
    if case.seconds(slid) < LEAST_SLIDE_S or not case.target_n > 0.0:
        return Finding(name, "not checked", (), f"The tool slid for less than {LEAST_SLIDE_S:g} s.")
    target = np.maximum(case.target, 1e-9)
    shares = [smooth(force, round(BRIEF_S / case.dt)) / target - 1.0 for force in _normal_forces(case)]
    part = max(shares, key=lambda one: float(np.mean(one[slid] ** 2)))
    rms = float(np.sqrt(np.mean(part[slid] ** 2)))
    noise = _noise_n(case, BRIEF_S) / case.target_n
    figures = (reported("force error while sliding, RMS / target", 100 * rms, "%"),)
    if rms <= math.hypot(TOLERANCE, noise):
        return Finding(name, "fine", figures)
    off = slid & (np.abs(part) > TOLERANCE)
    mean = float(np.mean(part[slid]))
    cause = (
        f"While the tool slid, the force was off its target by {share(rms)} (RMS), {share(abs(mean))} too "
        f"{'high' if mean > 0.0 else 'low'} on average."
    )
    remedy = "Slide more slowly, and see the other findings. On an uneven surface a shorter contact.lag_s helps most."
    return Finding(name, "warning", figures, cause, remedy, case.spans(off, join_s=STEADY_S))


def _normal_forces(case: Case) -> list[Array]:
    """The normal force as the law estimates it, and as the total force has it, if the slide shows a friction [N]."""
    forces = [np.nan_to_num(case.contact["force_n"])]
    if (found := friction(case)) is not None:
        usual = float(np.clip(np.median(found[1]), 0.0, FRICTION_MOST))
        felt = smooth(_felt(case), round(BRIEF_S / case.dt))
        forces.append(np.linalg.norm(felt, axis=1) / math.hypot(1.0, usual))
    return forces


def crawling(case: Case) -> Finding:
    """The speed of the slide, beside contact.speed_m_s."""
    name = "crawling"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "The contact law did not run.")
    slid = case.contact["state"] == SLIDE
    if case.seconds(slid) < LEAST_SLIDE_S:
        return Finding(name, "not checked", (), f"The tool slid for less than {LEAST_SLIDE_S:g} s.")
    speed = np.linalg.norm(case.contact["way"], axis=1)
    if not speed[slid].any():
        return Finding(name, "not checked", (), "The recording does not contain the speed along the path.")
    asked = case.setting("contact.speed_m_s", float(speed.max()))
    slow = slid & (speed < CRAWLS * asked)
    part = case.seconds(slow) / case.seconds(slid)
    figures = (
        reported("mean speed of the slide / contact.speed_m_s", 100 * float(np.mean((speed / asked)[slid])), "%"),
        reported(f"share of the slide below {100 * CRAWLS:g} % of the speed", 100 * part, "%"),
    )
    if part < OFTEN:
        return Finding(name, "fine", figures)
    off = np.abs(case.contact["steady_n"] - case.target)[slow] / np.maximum(case.target[slow], 1e-9)
    cause = (
        f"For {share(part)} of the slide the tool moved at less than a quarter of contact.speed_m_s "
        f"({1e3 * float(np.median(asked[slow])):.3g} mm/s). The law slows down while the force is more than 20 % off "
        f"its target ({share(float(np.mean(off > 0.2)))} of that time) or the slope of the surface is not known."
    )
    remedy = (
        "Lower contact.speed_m_s, or find what disturbs the force: noise, vibration, friction that sticks and slips."
    )
    return Finding(name, "warning", figures, cause, remedy, case.spans(slow, join_s=STEADY_S))
