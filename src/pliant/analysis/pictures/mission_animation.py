"""A mission as a small animation: the map from above and the arm from the side. Drawn with Pillow, without a window."""

from __future__ import annotations

import math
from pathlib import Path as File
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pliant.analysis.mission_figures import STAGES, MissionHistory
from pliant.analysis.pictures.mission_picture import beside
from pliant.analysis.pictures.plan_picture import corners
from pliant.analysis.pictures.style import LIGHT, Theme
from pliant.errors import InputError, UnwritableError

Array = np.ndarray[Any, Any]

MAP_PX, SIDE_PX, HEAD_PX = 470, 230, 34
FINE = 2
"""Frames are drawn this much larger and then scaled down, for smooth lines."""
FRAMES_S, MOST_FRAMES = 12.5, 150
HOLD_MS = 1500
COLOURS = 48
SIDE_M = (-0.55, 1.25)
"""The extent of the side view, along the base [m]."""


class _Sheet:
    """One frame, with its scales."""

    def __init__(self, mission: MissionHistory, background: Image.Image, theme: Theme) -> None:
        self.mission, self.theme, self.image = mission, theme, background.copy()
        self.draw = ImageDraw.Draw(self.image)
        left, right, _, top = mission.grid.extent
        self._per_m = FINE * MAP_PX / (right - left)
        self._left, self._top, self._head = left, top, FINE * HEAD_PX
        self._side_per_m = FINE * SIDE_PX / (SIDE_M[1] - SIDE_M[0])
        self._floor = self.image.height - FINE * 24
        self.font = _font(FINE * 13)

    def above(self, points: Any) -> list[tuple[float, float]]:
        """World positions as pixels of the map."""
        p = np.atleast_2d(points)
        return [(self._per_m * (x - self._left), self._head + self._per_m * (self._top - y)) for x, y in p[:, :2]]

    def side(self, along: Array, height: Array) -> list[tuple[float, float]]:
        """Positions relative to the base as pixels of the side view."""
        x0 = FINE * MAP_PX
        return [
            (x0 + self._side_per_m * (a - SIDE_M[0]), self._floor - self._side_per_m * h)
            for a, h in zip(along, height, strict=True)
        ]


def _font(size: int) -> Any:
    return ImageFont.truetype(str(File(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")), size)


def _background(mission: MissionHistory, theme: Theme) -> Image.Image:
    """What does not move: the map, the plan, and the goal."""
    cells = np.asarray(mission.grid.occupancy, float)
    shade = np.where(cells < 0, 0.25, np.clip(cells, 0, 100) / 100.0)
    grey = (255 - 200 * shade).astype(np.uint8)[::-1]
    rows, columns = grey.shape
    height = round(MAP_PX * rows / columns)
    sheet = Image.new("RGB", (FINE * (MAP_PX + SIDE_PX), FINE * (height + HEAD_PX)), theme.background)
    room = Image.fromarray(grey).resize((FINE * MAP_PX, FINE * height), Image.Resampling.NEAREST)
    sheet.paste(room.convert("RGB"), (0, FINE * HEAD_PX))
    frame = _Sheet(mission, sheet, theme)
    if mission.path is not None:
        frame.draw.line(frame.above(mission.path.samples(0.05)), fill=theme.grid, width=FINE * 5, joint="curve")
    (x, y), r = frame.above(mission.goal)[0], FINE * 5
    for sign in (-1, 1):
        frame.draw.line([(x - r, y - sign * r), (x + r, y + sign * r)], fill=theme.alarm, width=FINE * 2)
    return frame.image


def _frame(mission: MissionHistory, background: Image.Image, row: int, theme: Theme) -> Image.Image:
    sheet = _Sheet(mission, background, theme)
    pose, points = mission.base[row], mission.links(row)
    thin = FINE * 2
    step = max(1, row // 300)
    sheet.draw.line(sheet.above(mission.base[: row + 1 : step]), fill=theme.lines[0], width=thin, joint="curve")
    sheet.draw.line(sheet.above(mission.tool[: row + 1 : step]), fill=theme.lines[1], width=FINE, joint="curve")
    box = sheet.above(corners(mission.task.planner.footprint, pose))
    sheet.draw.polygon(box, fill=theme.lines[5], outline=theme.lines[0])
    sheet.draw.line(box[:2], fill=theme.text, width=thin)  # its front
    _arm(sheet, sheet.above(points))
    _beside(sheet, points, pose)
    _words(sheet, row)
    return sheet.image.resize((sheet.image.width // FINE, sheet.image.height // FINE), Image.Resampling.LANCZOS)


def _arm(sheet: _Sheet, places: list[tuple[float, float]]) -> None:
    sheet.draw.line(places, fill=sheet.theme.text, width=FINE * 3, joint="curve")
    for (x, y), r in zip(places, [FINE * 2] * (len(places) - 1) + [FINE * 3.5], strict=True):
        colour = sheet.theme.text if r < FINE * 3 else sheet.theme.lines[1]
        sheet.draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)


def _beside(sheet: _Sheet, points: Array, pose: Array) -> None:
    """The robot from the side, and its goal when that is near."""
    base, theme = sheet.mission.body.base, sheet.theme
    half, r = 0.5 * base.length_m, base.wheel_radius_m
    floor = sheet.side(np.array(SIDE_M), np.zeros(2))
    sheet.draw.line(floor, fill=theme.faint, width=FINE)
    body = sheet.side(np.array((-half, half)), np.array((base.height_m, 0.5 * r)))
    sheet.draw.rectangle([*body[0], *body[1]], fill=theme.lines[5], outline=theme.lines[0])
    wheel = sheet.side(np.array((-r, r)), np.array((2 * r, 0.0)))
    sheet.draw.ellipse([*wheel[0], *wheel[1]], fill=theme.text)
    _arm(sheet, sheet.side(*beside(points, pose)))
    along, height = beside(sheet.mission.goal[None, :3], pose)
    if abs(along[0]) < SIDE_M[1] and math.dist(sheet.mission.goal[:2], pose[:2]) < SIDE_M[1]:
        (x, y), r = sheet.side(along, height)[0], FINE * 5
        for sign in (-1, 1):
            sheet.draw.line([(x - r, y - sign * r), (x + r, y + sign * r)], fill=theme.alarm, width=FINE * 2)


def _words(sheet: _Sheet, row: int) -> None:
    mission, theme = sheet.mission, sheet.theme
    now = float(mission.time_s[row])
    stage = next((STAGES[name] for name, begin, end in mission.spans() if begin <= now < end), "")
    stage = stage or (mission.log[-1].stage if mission.log else "")
    far = 1e3 * float(np.linalg.norm(mission.tool[row, :3] - mission.goal[:3]))
    text = f"{now:5.1f} s   {stage}"
    sheet.draw.text((FINE * 8, FINE * 8), text, fill=theme.text, font=sheet.font)
    distance = f"tool to goal: {far:.1f} mm" if far < 1e3 else f"tool to goal: {1e-3 * far:.2f} m"
    sheet.draw.text((FINE * MAP_PX, FINE * 8), distance, fill=theme.text, font=sheet.font)


def _palette(frame: Image.Image, theme: Theme) -> Image.Image:
    """The palette of a frame; a strip holds the colours of the theme, so that thin lines keep their colour."""
    names = (theme.alarm, theme.text, theme.faint, theme.grid, theme.background, *theme.lines)
    height, width = frame.height // 4, frame.width // len(names)
    source = Image.new("RGB", (frame.width, frame.height + height), theme.background)
    source.paste(frame, (0, 0))
    for k, colour in enumerate(names):
        source.paste(Image.new("RGB", (width, height), colour), (k * width, frame.height))
    return source.quantize(COLOURS, dither=Image.Dither.NONE)


def save_animation(mission: MissionHistory, target: File, theme: Theme = LIGHT) -> float:
    """Write the mission as a GIF; returns its speed relative to real time."""
    good = np.flatnonzero(np.isfinite(mission.base).all(axis=1))
    if not len(good):
        raise InputError("animation", str(target), "made from a mission with at least one measured pose")
    seconds = float(mission.time_s[good[-1]])
    speed = max(1.0, math.ceil(2.0 * seconds * FRAMES_S / MOST_FRAMES) / 2.0)
    rows = np.searchsorted(mission.time_s[good], np.arange(0.0, seconds, speed / FRAMES_S))
    background = _background(mission, theme)
    frames = [_frame(mission, background, int(good[min(row, len(good) - 1)]), theme) for row in [*rows, len(good) - 1]]
    palette = _palette(frames[len(frames) // 2], theme)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    wait = round(1e3 / FRAMES_S)
    try:
        frames[0].save(
            target, save_all=True, append_images=frames[1:], loop=0, optimize=True, disposal=1,
            duration=[wait] * (len(frames) - 1) + [HOLD_MS],
        )  # fmt: skip
    except OSError as error:
        raise UnwritableError(target, error) from None
    return speed
