"""An arm on a differential-drive base as one kinematic chain: x, y, heading, and the joints of the arm.

The chain alone could move sideways. `kinematic_body` prevents this, and all motion goes through it.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import mujoco

from pliant.errors import InputError
from pliant.model.arm import UNLIMITED, Arm
from pliant.model.catalogue import design
from pliant.model.design import FLANGE, Design
from pliant.model.looks import DARK, LIGHT, ball, cylinder, shape
from pliant.model.tool import Tool

BASE = "mobile_base"
JOINTS = ("base_x", "base_y", "base_heading")
_ARM = "arm/"  # MuJoCo requires a prefix for attached models; joints and flange get their own names back


@dataclass(frozen=True)
class Chassis:
    """A base with two driven wheels and two casters. Its origin M is on the floor between the wheels, x forward."""

    track_m: float = 0.574
    """Distance between the driven wheels [m]."""
    wheel_radius_m: float = 0.1
    """Radius of the driven wheels [m]."""
    length_m: float = 0.72
    """Length of the body [m], half of it ahead of the wheels."""
    width_m: float = 0.6
    """Width of the body [m]."""
    height_m: float = 0.4
    """Height of the body [m]."""
    mass_kg: float = 60.0
    """Mass of the base with its wheels, without the arm [kg]."""
    mount_m: tuple[float, float, float] = (0.1, 0.0, 0.4)
    """Where the arm is mounted on the base [m]; its axes are parallel to the base's."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "mount_m":
                if len(value) != 3 or not all(math.isfinite(part) for part in value):
                    raise InputError("base.mount_m", value, "3 finite numbers")
            elif not (math.isfinite(value) and value > 0.0):
                raise InputError(f"base.{field.name}", value, "a finite number greater than 0")


def mount(spec: mujoco.MjSpec, base: Chassis, arm: str, mass_kg: float, *, visual: bool) -> mujoco.MjsBody:
    """Add the body of a base to `spec`, without joints, with this mass [kg] and the arm on it."""
    l, w, h = base.length_m, base.width_m, base.height_m
    body = spec.worldbody.add_body(
        name=BASE,
        mass=mass_kg,
        ipos=(0.0, 0.0, 0.4 * h),  # the centre of mass is low, because of the batteries
        inertia=(mass_kg * (w * w + h * h) / 12, mass_kg * (l * l + h * h) / 12, mass_kg * (l * l + w * w) / 12),
        explicitinertial=True,
    )
    carried = design(arm, visual=visual).spec
    names = [joint.name for joint in carried.joints]
    spec.attach(carried, prefix=_ARM, frame=body.add_frame(pos=base.mount_m))
    for name in names:
        spec.joint(_ARM + name).name = name
    spec.site(_ARM + FLANGE).name = FLANGE
    if visual:
        draw(body, base)
    return body


def mobile_design(base: Chassis, arm: str = "ur5e", *, visual: bool = False) -> Design:
    """Base and arm with their limits: a kinematic model without wheels."""
    carried = design(arm)
    spec = mujoco.MjSpec()
    spec.modelname = f"mobile_{arm}"
    spec.compiler.degree = False
    body = mount(spec, base, arm, base.mass_kg, visual=visual)
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    for name, kind, axis in zip(JOINTS, (slide, slide, hinge), axes, strict=True):
        body.add_joint(name=name, type=kind, axis=axis)
    home = carried.q_home
    return Design(
        name=f"mobile_{arm}",
        spec=spec,
        v_max=(*(UNLIMITED,) * 3, *carried.v_max),  # a base's limits are those of its wheels: see `body_params`
        a_max=(*(UNLIMITED,) * 3, *carried.a_max),
        q_home=None if home is None else (0.0, 0.0, 0.0, *home),
        payload_kg=carried.payload_kg,
        assumed=carried.assumed,
    )


def load_mobile(base: Chassis, arm: str = "ur5e", tool: Tool | None = None) -> Arm:
    """The chain as the controller sees it; its "base" frame is the world, its first three joints move the base."""
    plan = mobile_design(base, arm)
    if plan.q_home is None:
        raise InputError("arm", arm, "an arm with a home pose, to be mounted on a mobile base")
    return Arm.of(plan, tool)


def draw(body: mujoco.MjsBody, base: Chassis) -> None:
    """A box with a lid, two wheels and two casters."""
    r, half = base.wheel_radius_m, 0.5 * base.track_m
    floor, top = 0.5 * r, base.height_m
    box = mujoco.mjtGeom.mjGEOM_BOX
    size = (0.5 * base.length_m, 0.5 * base.width_m - 0.045, 0.5 * (top - floor) - 0.015)
    shape(body, box, LIGHT, pos=(0, 0, 0.5 * (top + floor) - 0.015), size=size)
    shape(body, box, DARK, pos=(0, 0, top - 0.015), size=(*size[:2], 0.015))
    for side in (-1, 1):
        cylinder(body, (0, side * (half - 0.02), r), (0, side * (half + 0.02), r), r, DARK)
        ball(body, (side * caster_at(base), 0, 0.5 * r), 0.5 * r, DARK)


def caster_at(base: Chassis) -> float:
    """Distance of the casters ahead of and behind the wheels [m]."""
    return 0.5 * base.length_m - 0.5 * base.wheel_radius_m - 0.03
