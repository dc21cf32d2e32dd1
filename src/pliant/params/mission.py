"""The parameters of a mission: what its three stages may take, and how near they must come."""

from __future__ import annotations

from typing import Literal

from pliant.params.body import Slip, Weight, WholeBody
from pliant.params.declare import Section, param
from pliant.params.mobile import Base, Follow, Planner, Pursuit


class Park(Section):
    """Stage A: the arm goes to the pose in which it travels, and the base is locked."""

    q: tuple[float, ...] = param((), unit="rad", help="Joint positions in which the arm travels (default: home pose).")
    speed: float = param(0.4, gt=0, le=1, help="Share of the joints' speed and acceleration that it goes with.")
    tolerance_rad: float = param(0.01, unit="rad", gt=0, le=0.2, help="How near every joint must come.")
    limit_s: float = param(10.0, unit="s", gt=0, le=600, help="Time after which the mission is stopped.")
    moved_m: float = param(0.01, unit="m", gt=0, le=1, help="Way of the locked base at which the mission is stopped.")
    moved_rad: float = param(
        0.03, unit="rad", gt=0, le=1, help="Turn of the locked base at which the mission is stopped."
    )


class Travel(Section):
    """Stage B: the base drives to a place from which the arm reaches the goal."""

    candidates: int = param(80, ge=1, le=200, help="Places that are looked for; the cheapest to drive to is taken.")
    stray_rad: float = param(
        1.6, unit="rad", gt=0, le=7, help="How far from the arm's home pose its joints may be at such a place."
    )
    search_s: float = param(
        10.0,
        unit="s",
        gt=0,
        le=600,
        help="How long a place and a way to it may be looked for; then what was found is taken.",
    )
    follower: Literal["path", "pursuit"] = param(
        "path", help="How the way is followed: closely, or by pure pursuit, which slows down near obstacles."
    )
    limit_s: float = param(30.0, unit="s", gt=0, le=3600, help="Time after which the mission is stopped.")
    limit_s_m: float = param(
        2.0, unit="s/m", ge=0, le=60, help="Time allowed per metre of the way, where that is more than limit_s."
    )
    detours: int = param(
        3, ge=0, le=100, help="How often another way is looked for where something stands in the way; then it stops."
    )
    stand_m: float = param(0.02, unit="m", gt=0, le=1, help="How near to its place the base must stop.")
    stand_deg: float = param(1.0, unit="°", gt=0, le=45, help="How near to its heading it must stop.")


class Reach(Section):
    """Stage C: base and arm bring the tool to the goal together."""

    speed: float = param(0.3, gt=0, le=1, help="Share of the joints' speed and acceleration that it goes with.")
    tolerance_m: float = param(0.005, unit="m", gt=0, le=0.1, help="How near to the goal the tool must come to rest.")
    tolerance_deg: float = param(0.5, unit="°", gt=0, le=45, help="How near to its orientation.")
    settle_s: float = param(0.2, unit="s", ge=0, le=10, help="How long it must stay there.")
    limit_s: float = param(60.0, unit="s", gt=0, le=600, help="Time after which the mission is stopped.")


class Watch(Section):
    """What stops a mission in every stage."""

    joint_rad: float = param(
        0.1, unit="rad", gt=0, le=3,
        help="How far a joint may be from where it was told to be, beyond what the arm's lag explains: more, and "
        "something holds or pushes it.",
    )  # fmt: skip
    force_n: float = param(100.0, unit="N", gt=0, le=1000, help="Largest force at the tool, its own weight included.")
    slip_s: float = param(
        0.6, unit="s", gt=0, le=10,
        help="How long the wheels may slip. More than slip.window_s, so that a pose that is put right once is no slip.",
    )  # fmt: skip
    stuck_s: float = param(
        1.0, unit="s", ge=0.5, le=10,
        help="Time within which a base that is told to drive must have gone a quarter of what it was told.",
    )  # fmt: skip


class MissionBase(Base):
    """The base of a mission: the one that is simulated has less delay than others."""

    delay_s: float = param(
        0.03,
        unit="s",
        ge=0,
        le=2,
        help="Time from an odometry reading until a command shows: delays and lags together.",
    )


class MissionWholeBody(WholeBody):
    """How base and arm share a motion in stage C: the base need not turn towards the tool."""

    facing: Weight = param(0.0, help="Weight of turning the base towards the tool (0: it need not).")


class MissionSettings(Section):
    """All that the stages are set to."""

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
