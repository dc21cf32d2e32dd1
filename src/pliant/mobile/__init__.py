"""A mobile base: velocity from sampled poses, planning, path following, an arm on the base, and missions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.lazy_names import lazy_names

if TYPE_CHECKING:
    from pliant.mobile.base.base_params import BaseVelocity
    from pliant.mobile.base.kinematic_base import KinematicBase
    from pliant.mobile.following.followers import PathFollower, RegulatedPurePursuit
    from pliant.mobile.following.stamped_poses import STATES, PoseTracker
    from pliant.mobile.mission.mission_link import MissionLink, MissionSession, attach_mission
    from pliant.mobile.mission.mission_task import MissionTask, load_mission
    from pliant.mobile.mission.simulated_mission import MissionRun, simulate_mission
    from pliant.mobile.planning.base_path import reeds_shepp_path
    from pliant.mobile.planning.grid import OccupancyGrid, grid_of
    from pliant.mobile.planning.planner import HybridAStar
    from pliant.mobile.velocity.estimate import SCHEMES, STATUS
    from pliant.mobile.velocity.estimators import CAKalman, LocalPoly, Stencil
    from pliant.mobile.whole_body.closed_loop import BodyLoop, BodySettings, Lags
    from pliant.mobile.whole_body.kinematic_body import Body
    from pliant.mobile.whole_body.pose_ik import PoseSearch
    from pliant.mobile.whole_body.simulated_body import SimBody

HOMES = {
    "BaseVelocity": "pliant.mobile.base.base_params",
    "Body": "pliant.mobile.whole_body.kinematic_body",
    "BodyLoop": "pliant.mobile.whole_body.closed_loop",
    "BodySettings": "pliant.mobile.whole_body.closed_loop",
    "CAKalman": "pliant.mobile.velocity.estimators",
    "HybridAStar": "pliant.mobile.planning.planner",
    "KinematicBase": "pliant.mobile.base.kinematic_base",
    "Lags": "pliant.mobile.whole_body.closed_loop",
    "LocalPoly": "pliant.mobile.velocity.estimators",
    "MissionLink": "pliant.mobile.mission.mission_link",
    "MissionRun": "pliant.mobile.mission.simulated_mission",
    "MissionSession": "pliant.mobile.mission.mission_link",
    "MissionTask": "pliant.mobile.mission.mission_task",
    "OccupancyGrid": "pliant.mobile.planning.grid",
    "PathFollower": "pliant.mobile.following.followers",
    "PoseSearch": "pliant.mobile.whole_body.pose_ik",
    "PoseTracker": "pliant.mobile.following.stamped_poses",
    "RegulatedPurePursuit": "pliant.mobile.following.followers",
    "SCHEMES": "pliant.mobile.velocity.estimate",
    "STATES": "pliant.mobile.following.stamped_poses",
    "STATUS": "pliant.mobile.velocity.estimate",
    "SimBody": "pliant.mobile.whole_body.simulated_body",
    "Stencil": "pliant.mobile.velocity.estimators",
    "attach_mission": "pliant.mobile.mission.mission_link",
    "grid_of": "pliant.mobile.planning.grid",
    "load_mission": "pliant.mobile.mission.mission_task",
    "reeds_shepp_path": "pliant.mobile.planning.base_path",
    "simulate_mission": "pliant.mobile.mission.simulated_mission",
}
"""The module in which each public name is defined."""

__all__ = [
    "SCHEMES",
    "STATES",
    "STATUS",
    "BaseVelocity",
    "Body",
    "BodyLoop",
    "BodySettings",
    "CAKalman",
    "HybridAStar",
    "KinematicBase",
    "Lags",
    "LocalPoly",
    "MissionLink",
    "MissionRun",
    "MissionSession",
    "MissionTask",
    "OccupancyGrid",
    "PathFollower",
    "PoseSearch",
    "PoseTracker",
    "RegulatedPurePursuit",
    "SimBody",
    "Stencil",
    "attach_mission",
    "grid_of",
    "load_mission",
    "reeds_shepp_path",
    "simulate_mission",
]

__getattr__, __dir__ = lazy_names(__name__, HOMES)
