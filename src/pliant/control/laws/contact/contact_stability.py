"""The contact law as it responds to a surface: a linear model for the check of its stability, and its first touch."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.force_law import APPROACH_SHARE, DAMPING_SHARE, INERTIA_SHARE, SWAY, SWING
from pliant.control.laws.contact.surface_estimate import DAMPING_MOST, FOLLOW_LAGS, QUIET, TOGETHER
from pliant.control.laws.contact.tool_motion import BETWEEN_TICKS, CORRECT_S, LEAST_TICKS
from pliant.control.laws.stability_model import (
    Array,
    LinearLaw,
    Memory,
    Pressing,
    Signals,
    StabilityModel,
    Swing,
)
from pliant.control.sense.external_wrench import smoothing


def gain_for(p: Contact, tool_kg: float, stiffness: float, damping: float) -> float:
    """The gain [m/(N s)] that the law uses on a known surface."""
    lag = p.lag_s + 2.0 * smoothing_s(p, tool_kg, stiffness)
    return min(p.margin / (lag * stiffness + DAMPING_SHARE * damping), INERTIA_SHARE * lag / max(tool_kg, 1e-3))


def smoothing_s(p: Contact, tool_kg: float, stiffness: float) -> float:
    """Time constant [s] of each of the two poles with which the law smooths the force on a known surface."""
    omega = 2.0 * math.pi * p.resonance_hz
    if omega <= 0.0:
        return 0.0
    return math.sqrt(max(0.0, (SWING * tool_kg * omega / stiffness + SWAY / omega) / p.lag_s - 1.0)) / omega


def linear(p: Contact, period: tuple[float, float], known: float, damping: float, gain: float, kg: float) -> LinearLaw:
    """The force law on a surface whose stiffness it assumes to be `known` [N/m]; `period` is (dt [s], cut-off [Hz]).

    It remembers its integral or the speed of its virtual mass; the observed motion of the tool (explained position and
    its speed, position error, filtered speed); what smooths force and speed, of a tool of `kg`; and, if it feeds that
    forward, the motion of the surface (speed, acceleration).
    """
    dt, cutoff_hz = period
    alpha = float(smoothing(cutoff_hz, dt))
    soft = smoothing_s(p, kg, known)
    share, total = dt / (soft + dt), p.lag_s + 2.0 * soft
    theta = math.exp(-dt / (FOLLOW_LAGS * total + p.noise_n / (known * QUIET)))
    lag = max(LEAST_TICKS * dt, p.lag_s - (1 - alpha) / alpha * dt - BETWEEN_TICKS * dt)

    def tick(now: Signals, memory: Memory) -> tuple[Array, Memory]:
        *moved, v_lp = memory[1:5]
        f_1, f_lp, v_1, v_old = memory[5:9]
        moved, speed = observed(moved, now.commanded, now.measured, lag, dt)
        v_lp = v_lp + alpha * (speed - v_lp)
        f_1, v_1 = f_1 + share * (now.force - f_1), v_1 + share * (v_lp - v_1)
        f, v = f_lp + share * (f_1 - f_lp), v_old + share * (v_1 - v_old)
        ahead, seen = 0.0 * f, memory[9:]
        if p.feed_forward == "surface":
            off = ((f - f_lp) - damping * (v - v_old)) / (dt * known) - v - seen[0] - dt * seen[1]
            seen = [seen[0] + dt * seen[1] + (1 - theta * theta) * off, seen[1] + (1 - theta) ** 2 / dt * off]
            ahead = seen[0] + total * seen[1]
        kept = [*moved, v_lp, f_1, f, v_1, v]
        if p.law == "mass":  # (m + dt d) v⁺ = m v + dt e   with   e = -f about the target
            own = memory[0] + (-gain * f - memory[0]) * dt / (total + dt)
            return own - ahead, [own, *kept, *seen]
        own = memory[0] - dt * gain / (p.integral_lags * total) * f if p.feed_forward == "none" else 0.0 * f
        return own - gain * f - ahead, [own, *kept, *seen]

    return LinearLaw(tick, 11 if p.feed_forward == "surface" else 9)


def observed(moved: Memory, commanded: Array, x: Array, lag: float, dt: float) -> tuple[Memory, Array]:
    """One tick of the law's observer of the tool's motion (`tool_motion`): its memory and the observed speed."""
    y, rate, off = moved
    omega = 2.0 / lag
    rate = (rate + dt * omega**2 * (commanded - y)) / (1.0 + omega * dt) ** 2
    y = y + dt * rate
    step = dt / CORRECT_S * (x - y - off)
    return [y, rate, off + step], rate + step / dt


def response(press: Pressing) -> LinearLaw:
    """The force law with the gain that it uses on this surface."""
    p, sense = press.parameters.contact, press.parameters.sense
    gain = press.gain * gain_for(p, press.tool_kg, press.stiffness, press.damping)
    return linear(p, (press.dt, sense.cutoff_hz), press.stiffness, press.damping, gain, press.tool_kg)


def learn(press: Pressing, swing: Swing) -> Pressing:
    """The surface as `surface_estimate` learns it from an oscillation: stiffness and damping only grow.

    With the depth x = v/s, force and depth that go together show a stiffness, and what is left beside it a damping.
    """
    p = press.parameters.contact
    speed = complex(swing.memory[4])
    if abs(swing.rate) == 0.0 or abs(speed) == 0.0:
        return press
    depth = speed / swing.rate
    force = swing.force - press.tool_kg * speed * swing.rate  # without the tool's inertia, as observed
    spring = force - press.damping * speed
    stiffness, damping = press.stiffness, press.damping
    together = (spring * depth.conjugate()).real
    if together > TOGETHER * abs(spring) * abs(depth):
        stiffness = max(stiffness, min(p.stiffness_max_n_m, together / abs(depth) ** 2))
    left = force - (force * depth.conjugate()).real / abs(depth) ** 2 * depth
    along = (left * speed.conjugate()).real
    if along > TOGETHER * abs(left) * abs(speed):
        damping = max(damping, min(DAMPING_MOST, along / abs(speed) ** 2))
    return replace(press, stiffness=stiffness, damping=damping)


class WorstTouch(NamedTuple):
    """A first touch of the stiffest surface in the worst case: the tool does not slow down for a whole lag."""

    speed_m_s: float
    stiffness_n_m: float
    lag_s: float

    @property
    def peak_n(self) -> float:
        """The largest force [N]: F = v k T."""
        return self.speed_m_s * self.stiffness_n_m * self.lag_s


def worst_touch(p: Contact, stiffness: float, lag_s: float) -> WorstTouch:
    """The worst case of the first touch of a surface [N/m], with the total lag of the model [s]."""
    speed = min(p.approach_m_s, APPROACH_SHARE * p.peak_n / (p.stiffness_max_n_m * p.lag_s))
    return WorstTouch(speed, stiffness, lag_s)


def first_touch(parameters: Any, stiffness: float, lag_s: float) -> tuple[float, str] | None:
    """A first touch that may exceed the force limit: how many times, and in words."""
    p = parameters.contact
    worst = worst_touch(p, stiffness, lag_s)
    if worst.peak_n <= p.force_limit_n:
        return None
    return (
        worst.peak_n / p.force_limit_n,
        f"the first touch of the stiffest surface ({worst.stiffness_n_m:.3g} N/m) could reach {worst.peak_n:.0f} N, "
        f"above contact.force_limit_n = {p.force_limit_n:g} N. (At worst the peak is speed × stiffness × lag: "
        f"{worst.speed_m_s * 1e3:.2g} mm/s and {worst.lag_s * 1e3:.0f} ms.)",
    )


STABILITY = StabilityModel(
    response,
    title="contact law",
    stiffness_range=("stiffness_min_n_m", "stiffness_max_n_m"),
    lag="lag_s",
    learn=learn,
    first_touch=first_touch,
)
