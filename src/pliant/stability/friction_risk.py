"""Whether a slide may mistake friction for a slope of the surface.

A normal that is wrong by δ turns the friction µ T into the force that is held, so the true depth changes by µ T/k per
radian. While the tool slides at v, that change looks like a slope. If it is as slow as the normal is followed, that is
if µ T/(k v) comes near the time constant of the normal, the estimate may run away.
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.surface_estimate import TURN_LAGS, TURN_S
from pliant.control.parameters import Parameters
from pliant.task.schema import Task

SAFE_RATIO = 0.8
"""Runs with a smaller ratio stayed within 9 % of the target; with a larger one, up to three times the target."""
ASSUMED_FRICTION = 0.5
"""Friction coefficient that is assumed if no surface is declared: steel on wood or acrylic."""


@dataclass(frozen=True)
class FrictionRisk:
    """The worst case of a slide."""

    ratio: float
    friction: float
    stiffness_n_m: float


def friction_risk(task: Task, parameters: Parameters) -> FrictionRisk:
    """The largest ratio over the declared stiffness; 0 without a path."""
    p = parameters.contact
    surfaces = task.sim.surfaces
    friction = max((one.friction for one in surfaces), default=ASSUMED_FRICTION)
    stiffness = min(p.stiffness_min_n_m, *(one.stiffness_n_m for one in surfaces), p.stiffness_max_n_m)
    return FrictionRisk(ratio(p, friction, stiffness) if p.path != "none" else 0.0, friction, stiffness)


def ratio(p: Contact, friction: float, stiffness: float) -> float:
    """µ T/(k v) over the time constant of the normal."""
    return friction * p.target_n / (stiffness * p.speed_m_s) / max(TURN_S, TURN_LAGS * p.lag_s)
