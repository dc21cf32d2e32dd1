"""Parameters of an arm on a differential-drive base: slip detection, and how base and arm share a motion."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field as Bounds

from pliant.params.declare import Section, param

Weight = Annotated[float, Bounds(ge=0, le=10)]


class WholeBody(Section):
    """How base and arm share a tool motion. Weights are relative to the tool motion, which has weight 1."""

    gain_1_s: float = param(8.0, unit="1/s", gt=0, le=50, help="Gain of the tool's position error: how fast it decays.")
    most_pull_m_s: float = param(
        0.5, unit="m/s", gt=0, le=5, help="Largest correction speed, for example after a jump of the target."
    )
    rotation_m_rad: float = param(
        0.5, unit="m/rad", gt=0, le=10, help="Weight of a rotation relative to a translation."
    )
    posture: Weight = param(1e-3, help="Weight of keeping the arm's posture.")
    posture_1_s: float = param(1.0, unit="1/s", ge=0, le=10, help="How fast the arm returns to its posture.")
    facing: Weight = param(1e-3, help="Weight of turning the base towards the tool (0: off).")
    facing_1_s: float = param(1.0, unit="1/s", ge=0, le=10, help="How fast the base turns towards the tool.")
    effort_base: Weight = param(
        3e-4, help="Weight of the base's speed: a high value leaves most of the motion to the arm."
    )
    effort_arm: Weight = param(3e-4, help="Weight of the joint speeds.")


class Slip(Section):
    """Slip detection: the wheels slip when odometry and measured pose drift apart within a short time."""

    window_s: float = param(0.5, unit="s", gt=0, le=10, help="Time over which odometry and pose are compared.")
    most_m: float = param(
        0.01, unit="m", gt=0, le=1, help="Largest position difference that may build up within window_s."
    )
    most_rad: float = param(
        0.02, unit="rad", gt=0, le=1, help="Largest heading difference that may build up within window_s."
    )
    share: float = param(
        0.02, ge=0, le=1, help="Additional tolerance, as a fraction of the distance driven within window_s."
    )
