"""Commands at a limit: the share of time in which a limit, of the law or of the tick, overrode the law."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding, share
from pliant.analysis.targets import reported
from pliant.control.laws.registry import LAWS
from pliant.records import LIMIT_SINGULAR, LIMITS

Array = np.ndarray[Any, Any]

# From these shares of the time on it is a warning, and an alarm.
SOME, MUCH = 0.1, 0.5
# A limit hardly acted if it took less than this share of what was asked, or than that share of the most that was asked.
HARDLY, DUST = 0.05, 0.02
OWN = "the law's own speed limit"


def command_at_limit(case: Case) -> Finding:
    """The share of time in which each limit acted, and the effect of the one that acted most."""
    acted = _acted(case)
    spent = case.seconds(case.active) or len(case.records) * case.dt
    shares = {name: case.seconds(active) / spent for name, active in acted.items()}
    figures = tuple(reported(f"share of the time, {name}", 100 * value, "%") for name, value in shares.items())
    worst = max(shares, key=lambda name: shares[name], default="")
    if not worst or shares[worst] < SOME:
        return Finding("command at a limit", "fine", figures or (reported("share of the time", 0.0, "%"),))
    cause, remedy, more = _own(case, acted[OWN], spent) if worst == OWN else _of_tick(case, worst, shares[worst])
    spans = case.spans(acted[worst], least_s=0.02, join_s=0.05)
    severity = "alarm" if shares[worst] >= MUCH else "warning"
    return Finding("command at a limit", severity, figures + more, cause, remedy, spans)


def _acted(case: Case) -> dict[str, Array]:
    """The ticks in which each limit cut what was asked for."""
    contact, observed = case.contact, case.records["observed"]
    wanted, asked = np.abs(contact["wanted"]), np.abs(contact["asked"])
    acted = {OWN: case.active & (wanted > asked * (1 + 1e-6) + 1e-9)}
    for position, (bit, name) in enumerate(LIMITS.items()):
        if bit == LIMIT_SINGULAR:
            continue
        on = observed["limits"] & bit != 0
        # a joint move of the law hold goes at the speed limit: that is how it is meant
        on &= case.active if case.active.any() else case.records["goal"]["law"] != LAWS["hold"].number
        before, after = np.abs(observed["asked"][:, position]), np.abs(observed["allowed"][:, position])
        acted[name] = on & (before - after > np.maximum(HARDLY * before, DUST * before[on].max(initial=0.0)))
    return {name: active for name, active in acted.items() if active.any()}


def _own(case: Case, active: Array, spent: float) -> tuple[str, str, tuple[Any, ...]]:
    """A contact law that runs into the limit of its own speed: near to a switch."""
    asked, gain = case.contact["asked"], case.contact["gain"]
    limit = float(np.median(np.abs(asked[active])))
    inward, outward = (case.seconds(active & (asked * sign > 0)) / spent for sign in (1, -1))
    side = np.sign(asked[active])
    flips = int(np.count_nonzero(np.diff(side))) / spent
    steep = float(np.median(gain[active]))
    error = case.contact["target_n"] - case.contact["force_n"]
    largest = float(np.abs(error[case.active]).max())
    linear = limit / steep if steep > 0 else np.nan
    figures = (
        reported("speed limit of the law", 1e3 * limit, "mm/s"),
        reported("share of the time at the limit, inward", 100 * inward, "%"),
        reported("share of the time at the limit, outward", 100 * outward, "%"),
        reported("switches between the limits", flips, "1/s"),
        reported("force error at which it saturates", linear, "N"),
    )
    cause = (
        f"The law exceeded its speed limit of {1e3 * limit:.3g} mm/s in {share(inward + outward)} of the time "
        f"({share(inward)} inward, {share(outward)} outward) and switched between the limits {flips:.2g} times per "
        f"second. With a gain of {1e3 * steep:.3g} mm/(N s) it saturates at an error of {linear:.3g} N. Errors "
        f"reached {largest:.3g} N: "
    )
    if largest > linear:
        cause += "a law at its limit acts as a switch, so gain, integral and damping have no effect."
        remedy = (
            f"Lower the gain to {1e3 * limit / largest:.2g} mm/(N s) or less, or approach more slowly, so that "
            "errors stay in the linear range."
        )
    else:  # a lower gain would not help: never advise one that is higher than it is
        cause += "the integral or the feedforward demands this speed, not the gain."
        remedy = (
            "Keep the gain. Check that the sensor reads zero while the tool is free: an offset looks like a "
            "contact that recedes. Otherwise lower the integral gain."
        )
    return cause, remedy, figures


def _of_tick(case: Case, name: str, value: float) -> tuple[str, str, tuple[Any, ...]]:
    position = list(LIMITS.values()).index(name)
    on = case.records["observed"]["limits"] & (1 << position) != 0
    before = np.abs(case.records["observed"]["asked"][on, position])
    after = np.abs(case.records["observed"]["allowed"][on, position])
    left = float(np.median(after / np.maximum(before, 1e-12)))
    cause = (
        f"The {_words(name)} reduced the command for {share(value)} of the time, to a median of {share(left)} of the "
        "requested value. During that time the limit determines the motion, not the law."
    )
    remedy = f"Use a softer or more damped law or a slower goal, or raise the {_words(name)} if that is safe."
    return cause, remedy, (reported("share let through, median", 100 * left, "%"),)


def _words(name: str) -> str:
    """The name of a limit within a sentence."""
    name = name.partition(":")[0]
    return f"limit on {name}" if " of " in name or " before " in name else f"{name} limit"
