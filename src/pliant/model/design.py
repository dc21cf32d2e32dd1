"""The result of a model builder: the kinematic tree as a MuJoCo spec, and what a spec cannot hold."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco

FLANGE = "flange"
"""Name of the site, present in every model, at which a tool is mounted."""


@dataclass(frozen=True)
class Design:
    """A robot before it is compiled. Joint ranges and torque limits are in the spec (`range`, `actfrcrange`)."""

    name: str
    spec: mujoco.MjSpec
    v_max: tuple[float, ...]
    """Joint speed limits [rad/s, m/s]."""
    a_max: tuple[float, ...]
    """Joint acceleration limits [rad/s^2, m/s^2]."""
    q_home: tuple[float, ...] | None = None
    """Home pose [rad, m]; None: it is searched for when the arm is loaded."""
    payload_kg: float = math.inf
    """Largest mass of the tool that the maker allows [kg]; infinite if the description does not give it."""
    assumed: tuple[str, ...] = ()
    """Assumptions where the description is incomplete, one sentence each."""
    acceleration_note: str = ""
    """A sentence on acceleration limits that are assumed; "" if they are known."""
    flange: str = FLANGE
    """Name of the site or link of a file that carries the tool."""
