"""Shapes for display only: without contact or mass, in geom group 1."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

from collections.abc import Sequence

import mujoco

LIGHT = (0.80, 0.81, 0.83, 1.0)
DARK = (0.17, 0.175, 0.185, 1.0)
BLUE = (0.42, 0.66, 0.88, 1.0)
STEEL = (0.62, 0.64, 0.66, 1.0)

GROUP = 1

Point = Sequence[float]


def shape(body: mujoco.MjsBody, kind: mujoco.mjtGeom, rgba: Sequence[float], **where: object) -> None:
    """Add one shape to a body; `where` is any of MuJoCo's pos, quat, fromto, size [m]."""
    body.add_geom(type=kind, rgba=rgba, contype=0, conaffinity=0, mass=0.0, group=GROUP, **where)


def cylinder(body: mujoco.MjsBody, start: Point, end: Point, radius: float, rgba: Sequence[float]) -> None:
    """A cylinder between two points of the body [m]."""
    shape(body, mujoco.mjtGeom.mjGEOM_CYLINDER, rgba, fromto=(*start, *end), size=(radius, 0, 0))


def capsule(body: mujoco.MjsBody, start: Point, end: Point, radius: float, rgba: Sequence[float]) -> None:
    """A cylinder with round ends between two points of the body [m]."""
    shape(body, mujoco.mjtGeom.mjGEOM_CAPSULE, rgba, fromto=(*start, *end), size=(radius, 0, 0))


def ball(body: mujoco.MjsBody, centre: Point, radius: float, rgba: Sequence[float]) -> None:
    """A ball at a point of the body [m]."""
    shape(body, mujoco.mjtGeom.mjGEOM_SPHERE, rgba, pos=centre, size=(radius, 0, 0))


def dome(body: mujoco.MjsBody, centre: Point, axis: int, radius: float, height: float, rgba: Sequence[float]) -> None:
    """A flat ellipsoid about one coordinate axis of the body [m]; half inside a cylinder's end, it is a domed lid."""
    size = [radius, radius, radius]
    size[axis] = height
    shape(body, mujoco.mjtGeom.mjGEOM_ELLIPSOID, rgba, pos=centre, size=size)
