"""A mission as the page draws it: map as a picture, path as points, stages and figures as text."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from pliant.mobile.mission.mission_task import MissionTask
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.studio.page_messages import MapWords, MissionLog, MissionWords
from pliant.studio.wire import Channel, driving_channels

Array = np.ndarray[Any, Any]

# Stages in the order of a mission, and what happens in each.
STAGES = {
    "ready": "a path is planned; nothing moves until you press Begin",
    "A": "the arm moves to its parking pose, the base is locked",
    "B": "the base drives, the arm holds still",
    "C": "base and arm move the tool to its goal",
    "done": "the tool is at its goal",
    "stopping": "base and arm brake",
    "stopped": "base and arm have stopped",
}
# A map is drawn with no more cells than this along a side.
_MOST = 1024
_WAY_M = 0.05
# Greys of free, unknown and blocked cells in the picture of a map.
_FREE, _UNKNOWN, _BLOCKED = 255, 128, 0


def channels_of(task: MissionTask, grid: OccupancyGrid, goal: Callable[[], Array]) -> tuple[Channel, ...]:
    """The lines of its plots; `goal` returns the current goal of the tool (X_WT)."""
    from pliant.analysis.clearance import Clearance  # imported here: only a mission needs it

    planner = task.planner
    room = Clearance(grid, planner.footprint, unknown_is_free=planner.unknown == "free")
    return driving_channels(room.at, goal)


def mission_in_words(task: MissionTask, grid: OccupancyGrid) -> MissionWords:
    """The constant part: stages, footprint and map."""
    body = task.planner.footprint
    return {
        "stages": STAGES,
        "footprint": (body.rear_m, body.front_m, 0.5 * body.width_m),
        "map": map_in_words(grid),
    }


def map_in_words(grid: OccupancyGrid) -> MapWords:
    """A map as a picture in a data URL, and its extent. A large map is drawn coarser; blocked cells stay blocked."""
    left, right, bottom, top = grid.extent
    known = np.where(grid.blocked(), _UNKNOWN, _FREE)
    cells = np.where(grid.blocked(unknown_is_free=True), _BLOCKED, known).astype(np.uint8)
    height, width = cells.shape
    every = -(-max(height, width) // _MOST)
    if every > 1:
        rows, columns = -(-height // every), -(-width // every)
        room = (0, rows * every - height), (0, columns * every - width)
        cells = np.pad(cells, room, constant_values=_FREE).reshape(rows, every, columns, every).min(axis=(1, 3))
        right, top = left + columns * every * grid.resolution_m, bottom + rows * every * grid.resolution_m
    picture = io.BytesIO()
    Image.fromarray(cells[::-1]).save(picture, "PNG")  # a picture begins at the top
    address = f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
    return {"name": grid.name, "picture": address, "extent": (left, right, bottom, top)}


def mission_log_in_words(mission_log: dict[str, Any]) -> MissionLog:
    """The state of a mission, as reported by its loop or by a recording."""
    told = mission_log["account"]
    way = told["path"] and Path(tuple(told["path"]["start"]), np.array(told["path"]["arcs"], float).reshape(-1, 2))
    last = told["log"][-1] if told["log"] else [0.0, "", ""]
    return {
        "stage": mission_log.get("stage", last[1]),
        "moving": bool(mission_log.get("moving")),
        "seeking": bool(mission_log.get("seeking")),
        "log": told["log"],
        "goal": told["goal"],
        "stand": told["stand"] and told["stand"][:3],
        "path": [] if not way else np.round(way.samples(_WAY_M)[:, (0, 1, 2, 4)], 3).tolist(),
        "figures": [] if not way else [way.length_m, way.backward_m, way.cusps],
    }
