"""How a law declares its response to a surface, so that unstable parameters are rejected before they take effect.

A law brings a `StabilityModel`. At a start, and at every change while it runs, `stability.guard` closes the loop around
it with the model of robot, filter and surface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Pressing:
    """A tool that presses on a surface: what the response of a law may depend on."""

    parameters: Any
    """The parameter set, with the section of the law."""
    dt: float
    """Period [s]."""
    tool_kg: float
    """Mass that the force sensor carries [kg]."""
    stiffness: float
    """Stiffness of the surface [N/m], within the range that the law declares."""
    damping: float
    """Damping of the surface [N s/m]."""
    into: Array
    """Direction into the surface, a unit vector in the base frame."""
    pose: Array
    """Pose of the tool at the start."""
    gain: float = 1.0
    """The response must be this many times as strong: so the gain margin is found."""


class Signals(NamedTuple):
    """What a law sees in a tick, along the direction into the surface; each is linear in the state of the loop."""

    force: Array
    """Filtered force of the surface [N], positive when pressed."""
    last_force: Array
    """The same a tick ago."""
    commanded: Array
    """Commanded depth of the tool [m]."""
    measured: Array
    """Measured depth of the tool [m]."""


Memory = list[Array]


class Swing(NamedTuple):
    """An oscillation of the loop by itself, as complex amplitudes."""

    rate: complex
    """Growth and angular frequency: s in exp(s t) [1/s]."""
    force: complex
    """Filtered force of the surface [N]."""
    memory: Array
    """What the law remembers."""


@dataclass(frozen=True)
class LinearLaw:
    """A law, linearised about a steady contact along one direction."""

    tick: Callable[[Signals, Memory], tuple[Array, Memory]]
    """(signals, what it remembers) → (speed into the surface [m/s], what it remembers next)."""
    memory: int = 0
    """How many numbers it remembers."""
    moving: Callable[[float], Array] | None = None
    """What it remembers while the tool moves freely at this speed [m/s]; None: a first touch is not predicted."""


@dataclass(frozen=True)
class StabilityModel:
    """Whether a law is stable on a surface: declared by the law, checked at every start and every change."""

    response: Callable[[Pressing], LinearLaw]
    """The law as it responds to this surface."""
    title: str = ""
    """What messages call it, such as "contact law"; by default "law" and its name."""
    remedy: str = "`pliant check` shows the details."
    """What to do if a set is rejected."""
    is_advice: bool = False
    """Whether the remedy is also given for a change while the loop runs."""
    stiffness_range: tuple[str, str] | None = None
    """Parameters of the law with the softest and the stiffest surface [N/m]; None: the surfaces of the task."""
    learn: Callable[[Pressing, Swing], Pressing] | None = None
    """What the law takes the surface for after it has oscillated like this; None: it learns nothing."""
    lag: str = ""
    """Parameter of the law with the total lag that it assumes [s]; "" if it assumes none."""
    first_touch: Callable[[Any, float, float], tuple[float, str] | None] | None = None
    """(parameters, stiffest surface [N/m], total lag [s]) → how many times the limit, and a sentence; None: allowed."""
