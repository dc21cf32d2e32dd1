"""The parameters of an arm on a differential-drive base: slip, and how base and arm share a motion."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field as Bounds

from pliant.params.declare import Section, param

Weight = Annotated[float, Bounds(ge=0, le=10)]


class WholeBody(Section):
    """How base and arm share a motion of the tool. The weights are small beside 1, the weight of the tool's motion."""

    gain_1_s: float = param(8.0, unit="1/s", gt=0, le=50, help="How fast the tool closes in on its target.")
    most_pull_m_s: float = param(
        0.5, unit="m/s", gt=0, le=5, help="Fastest that an error pulls the tool (a target that jumped)."
    )
    rotation_m_rad: float = param(0.5, unit="m/rad", gt=0, le=10, help="How much a turn counts beside a shift.")
    posture: Weight = param(1e-3, help="Weight of the arm's posture.")
    posture_1_s: float = param(1.0, unit="1/s", ge=0, le=10, help="How fast the arm returns to its posture.")
    facing: Weight = param(1e-3, help="Weight of turning the base towards the tool (0: it need not).")
    facing_1_s: float = param(1.0, unit="1/s", ge=0, le=10, help="How fast the base turns towards the tool.")
    effort_base: Weight = param(3e-4, help="Weight of the base's own speed: high, and the arm does the most.")
    effort_arm: Weight = param(3e-4, help="Weight of the joints' speeds.")


class Slip(Section):
    """When wheels count as slipping: odometry and pose have parted within a short time."""

    window_s: float = param(0.5, unit="s", gt=0, le=10, help="Time over which both are compared.")
    most_m: float = param(0.01, unit="m", gt=0, le=1, help="Distance by which they may part in that time.")
    most_rad: float = param(0.02, unit="rad", gt=0, le=1, help="Angle by which they may part in that time.")
    share: float = param(0.02, ge=0, le=1, help="Share of the way in that time that is allowed on top.")
