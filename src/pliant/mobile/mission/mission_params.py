"""Parameters of a mission: time limits and tolerances of its three stages."""

from __future__ import annotations

from typing import Literal

from pliant.mobile.base.base_params import Base, Follow, Planner, Pursuit
from pliant.mobile.whole_body.body_params import Slip, Weight, WholeBody
from pliant.params.declare import Section, param


class Park(Section):
    """Stage A: the arm moves to its travel pose; the base is locked."""

    q: tuple[float, ...] = param(
        (), unit="rad", help="Joint positions of the arm while the base drives (default: home pose)."
    )
    speed: float = param(0.4, gt=0, le=1, help="Fraction of the joint speed and acceleration limits to use.")
    tolerance_rad: float = param(0.01, unit="rad", gt=0, le=0.2, help="Largest position error of a joint at the end.")
    limit_s: float = param(10.0, unit="s", gt=0, le=600, help="Time limit; exceeding it stops the mission.")
    moved_m: float = param(0.01, unit="m", gt=0, le=1, help="Motion of the locked base that stops the mission.")
    moved_rad: float = param(0.03, unit="rad", gt=0, le=1, help="Rotation of the locked base that stops the mission.")


class Travel(Section):
    """Stage B: the base drives to a pose from which the arm can reach the goal."""

    candidates: int = param(
        80, ge=1, le=200, help="Number of base poses to search for; the one with the cheapest path is used."
    )
    stray_rad: float = param(
        1.6,
        unit="rad",
        gt=0,
        le=7,
        help="Largest joint distance from the arm's home pose when the tool reaches the goal from a base pose.",
    )
    search_s: float = param(
        10.0,
        unit="s",
        gt=0,
        le=600,
        help="Time limit of the search for a base pose and a path; then the best one found is used.",
    )
    follower: Literal["path", "pursuit"] = param(
        "path", help="How the base follows the path: closely, or by pure pursuit, which slows down near obstacles."
    )
    limit_s: float = param(30.0, unit="s", gt=0, le=3600, help="Time limit; exceeding it stops the mission.")
    limit_s_m: float = param(
        2.0, unit="s/m", ge=0, le=60, help="Time limit per metre of path; it counts where it gives more than limit_s."
    )
    detours: int = param(
        3, ge=0, le=100, help="How often to plan around an obstacle on the path before the mission stops."
    )
    stand_m: float = param(0.02, unit="m", gt=0, le=1, help="Largest position error of the base when it stops.")
    stand_deg: float = param(1.0, unit="°", gt=0, le=45, help="Largest heading error of the base when it stops.")


class Reach(Section):
    """Stage C: base and arm together move the tool to the goal."""

    speed: float = param(0.3, gt=0, le=1, help="Fraction of the joint speed and acceleration limits to use.")
    tolerance_m: float = param(0.005, unit="m", gt=0, le=0.1, help="Largest position error of the tool at the goal.")
    tolerance_deg: float = param(0.5, unit="°", gt=0, le=45, help="Largest orientation error of the tool at the goal.")
    settle_s: float = param(0.2, unit="s", ge=0, le=10, help="How long the tool must stay within both tolerances.")
    limit_s: float = param(60.0, unit="s", gt=0, le=600, help="Time limit; exceeding it stops the mission.")


class Watch(Section):
    """Conditions that stop a mission in every stage."""

    joint_rad: float = param(
        0.1, unit="rad", gt=0, le=3,
        help="Largest difference between a commanded and a measured joint position, beyond the arm's lag. More means "
        "that something blocks or pushes the joint.",
    )  # fmt: skip
    force_n: float = param(100.0, unit="N", gt=0, le=1000, help="Largest force at the tool, including its weight.")
    slip_s: float = param(
        0.6, unit="s", gt=0, le=10,
        help="How long the wheels may slip. Keep it above slip.window_s, so that a single pose correction is not slip.",
    )  # fmt: skip
    stuck_s: float = param(
        1.0, unit="s", ge=0.5, le=10,
        help="Time within which a commanded base must cover a quarter of the commanded motion.",
    )  # fmt: skip


class MissionBase(Base):
    """The base of a mission. The default delay is that of the simulated base."""

    delay_s: float = param(
        0.03,
        unit="s",
        ge=0,
        le=2,
        help="Total lag from an odometry reading to the effect of the command that follows it.",
    )


class MissionWholeBody(WholeBody):
    """How base and arm share a motion in stage C. By default the base does not turn towards the tool."""

    facing: Weight = param(0.0, help="Weight of turning the base towards the tool (0: off).")


class MissionSettings(Section):
    """All parameters of a mission."""

    watch: Watch = Watch()
    park: Park = Park()
    travel: Travel = Travel()
    reach: Reach = Reach()
    base: MissionBase = MissionBase()
    planner: Planner = Planner()
    follow: Follow = Follow()
    pursuit: Pursuit = Pursuit()
    slip: Slip = Slip()
    whole_body: MissionWholeBody = MissionWholeBody()
