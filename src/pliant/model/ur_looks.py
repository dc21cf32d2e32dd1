"""The shapes of an e-Series arm: dark joints, light tubes and blue lids made of cylinders and domes, to scale."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import mujoco

from pliant.model.looks import BLUE, DARK, LIGHT, STEEL, cylinder, dome


class Proportions(Protocol):
    """The lengths that the drawing needs [m]."""

    @property
    def d1(self) -> float: ...
    @property
    def a2(self) -> float: ...
    @property
    def a3(self) -> float: ...
    @property
    def d4(self) -> float: ...
    @property
    def d5(self) -> float: ...
    @property
    def d6(self) -> float: ...
    @property
    def shoulder_offset(self) -> float: ...
    @property
    def elbow_offset(self) -> float: ...
    @property
    def foot(self) -> tuple[float, float]: ...
    @property
    def radius(self) -> tuple[float, ...]: ...


def _at(axis: int, value: float, x: float = 0.0) -> tuple[float, float, float]:
    """The point (x, 0, 0) moved by `value` along a coordinate axis [m]."""
    point = [x, 0.0, 0.0]
    point[axis] += value
    return (point[0], point[1], point[2])


def _lid(body: mujoco.MjsBody, axis: int, end: float, outward: int, radius: float, x: float = 0.0) -> None:
    """A blue domed lid on the end of a housing that runs along `axis` through (x, 0, 0) [m]."""
    rim = 0.22 * radius
    cylinder(body, _at(axis, end, x), _at(axis, end + outward * rim, x), radius, BLUE)
    dome(body, _at(axis, end + outward * rim, x), axis, radius, 0.28 * radius, BLUE)


def _tube(body: mujoco.MjsBody, length: float, offset: float, radius: tuple[float, float, float]) -> None:
    """A light tube along -x between two dark collars; `radius` [m] is that of the near joint, the far one, the tube."""
    near, far, tube = radius
    cylinder(body, (0, 0, offset), (-1.35 * near, 0, offset), 0.98 * near, DARK)
    cylinder(body, (-1.35 * near, 0, offset), (-length + 1.35 * far, 0, offset), tube, LIGHT)
    cylinder(body, (-length + 1.35 * far, 0, offset), (-length, 0, offset), 0.98 * far, DARK)


def draw(bodies: Sequence[mujoco.MjsBody], p: Proportions) -> None:
    """Add shapes to the foot and the six links of an arm (world first), in link frames whose z is the joint axis."""
    foot, shoulder, upper, fore, wrist_1, wrist_2, wrist_3 = bodies
    r0, r1, r2, r3, r4, r5 = p.radius
    z, y = 2, 1

    cylinder(foot, (0, 0, 0), (0, 0, 0.3 * p.foot[1]), p.foot[0], LIGHT)
    cylinder(foot, (0, 0, 0.3 * p.foot[1]), (0, 0, p.foot[1]), 1.02 * r0, DARK)

    # The shoulder is upright and bends into the axis of the lift joint, which is -y.
    cylinder(shoulder, (0, 0, p.foot[1] - p.d1), (0, 0, 0.25 * r0), r0, DARK)
    cylinder(shoulder, (0, 0.8 * r0, 0), (0, -(p.shoulder_offset - r1), 0), 0.98 * r1, DARK)
    _lid(shoulder, y, 0.8 * r0, 1, 0.98 * r1)

    # Upper arm: housings at both ends, lids on the outside.
    for x, r in ((0.0, r1), (p.a2, r2)):
        cylinder(upper, _at(z, p.shoulder_offset - r, x), _at(z, p.shoulder_offset + 0.8 * r, x), r, DARK)
        _lid(upper, z, p.shoulder_offset + 0.8 * r, 1, r, x)
    _tube(upper, -p.a2, p.shoulder_offset, (r1, r2, 0.86 * r1))

    # Forearm: the elbow's inner half, then the first wrist joint, lids on the inside.
    elbow_top = max(p.shoulder_offset - r2, p.elbow_offset + r2)
    cylinder(fore, (0, 0, p.elbow_offset - 0.8 * r2), (0, 0, elbow_top), 0.98 * r2, DARK)
    _lid(fore, z, p.elbow_offset - 0.8 * r2, -1, 0.98 * r2)
    cylinder(fore, _at(z, p.elbow_offset - 0.8 * r3, p.a3), _at(z, p.d4 - r3, p.a3), 0.98 * r3, DARK)
    _lid(fore, z, p.elbow_offset - 0.8 * r3, -1, 0.98 * r3, p.a3)
    _tube(fore, -p.a3, p.elbow_offset, (0.9 * r2, r3, 0.78 * r2))

    # Wrists: each is a housing about its own axis and a neck towards the next.
    cylinder(wrist_1, (0, 0, -r3), (0, 0, 0.8 * r3), r3, DARK)
    _lid(wrist_1, z, 0.8 * r3, 1, r3)
    cylinder(wrist_1, (0, 0, 0), (0, r4 - p.d5, 0), 0.98 * r4, DARK)
    cylinder(wrist_2, (0, 0, -r4), (0, 0, 0.8 * r4), r4, DARK)
    _lid(wrist_2, z, 0.8 * r4, 1, r4)
    cylinder(wrist_2, (0, 0, 0), (0, 0.62 * p.d6, 0), 0.96 * r5, DARK)
    cylinder(wrist_3, (0, 0, -0.38 * p.d6), (0, 0, 0), r5, STEEL)
