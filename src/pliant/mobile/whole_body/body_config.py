"""Simulator settings of an arm on a mobile base, in addition to those of an arm."""

from __future__ import annotations

from pliant.params.declare import Section, param
from pliant.world.world_config import SimConfig


class Drive(Section):
    """How the base follows (v, ω): a first-order lag, then speed loops limited by the drives and the floor."""

    lag_s: float = param(0.03, unit="s", ge=0.005, le=1, help="Time constant with which the wheels follow a command.")
    stiffness_hz: float = param(
        6.0, unit="Hz", gt=0, le=30, help="Natural frequency of a wheel's speed and position loop."
    )
    torque_nm: float = param(40.0, unit="N m", gt=0, le=1000, help="Largest torque of a wheel.")
    friction: float = param(0.8, gt=0, le=2, help="Friction between wheel and floor.")


class BodySimConfig(SimConfig):
    """The simulated mobile manipulator. Surfaces and pushes are given in world axes."""

    wheels: bool = param(
        False,
        help="Wheels on a floor, which can slip (true), or a planar base, accurate if nothing pushes it (false).",
    )
    drive: Drive = Drive()
