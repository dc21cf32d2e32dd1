"""What a simulated arm on a mobile base is like, beyond what a simulated arm is like."""

from __future__ import annotations

from pliant.params.declare import Section, param
from pliant.robots.sim.config import SimConfig


class Drive(Section):
    """How the base carries out (v, ω): a first-order lag, then speed loops as strong as drives and floor allow."""

    lag_s: float = param(0.03, unit="s", ge=0.005, le=1, help="Time constant with which the wheels follow a command.")
    stiffness_hz: float = param(
        6.0, unit="Hz", gt=0, le=30, help="Natural frequency with which a wheel holds on to its speed and way."
    )
    torque_nm: float = param(40.0, unit="N m", gt=0, le=1000, help="Greatest torque of a wheel.")
    friction: float = param(0.8, gt=0, le=2, help="Friction between wheel and floor.")


class BodySimConfig(SimConfig):
    """The whole simulated mobile manipulator. Surfaces and pushes are given in world axes."""

    wheels: bool = param(
        False,
        help="Wheels on a floor, which can slip; or else a planar base, which is right where nothing pushes it.",
    )
    drive: Drive = Drive()
