"""The textbook two-link arm: point masses at the link ends, in a vertical plane.

It moves in the x-y plane of the base frame, y up, and both joints turn about z. So the tool's (x, y) equals that of
the textbook: (1.3071, 0.7071) m at q = (45, -45) deg.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math

import mujoco

from pliant.model.design import FLANGE, Design
from pliant.model.looks import BLUE, DARK, LIGHT, ball, capsule, cylinder

NAME = "two_link"
LENGTH = (1.0, 0.6)  # m
MASS = (3.0, 2.0)  # kg, at the tips
DAMPING = 5.0  # N m s/rad
GRAVITY = 9.81  # m/s^2, along -y
Q_HOME = (math.radians(45.0), math.radians(-45.0))

# The textbook arm is ideal. A controller needs limits, and these are our choice: ample for its weight (about 61 N m).
TAU_MAX = (200.0, 100.0)  # N m
V_MAX = (10.0, 10.0)  # rad/s
A_MAX = (200.0, 200.0)  # rad/s^2
Q_MAX = 2 * math.pi

# A point mass has no inertia of its own; MuJoCo wants a figure above 1e-15 kg m^2.
_POINT = (1e-12, 1e-12, 1e-12)


def two_link_spec(*, visual: bool) -> mujoco.MjSpec:
    """The two-link arm as a MuJoCo spec with the site `flange` at its tip."""
    spec = mujoco.MjSpec()
    spec.modelname = NAME
    spec.compiler.degree = False
    spec.option.gravity = (0.0, -GRAVITY, 0.0)
    body = spec.worldbody
    for i, (length, mass, torque) in enumerate(zip(LENGTH, MASS, TAU_MAX, strict=True)):
        body = body.add_body(
            name=f"link_{i + 1}",
            pos=(LENGTH[i - 1] if i else 0.0, 0, 0),
            mass=mass,
            ipos=(length, 0, 0),
            inertia=_POINT,
            explicitinertial=True,
        )
        body.add_joint(
            name=f"joint_{i + 1}",
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=(0, 0, 1),
            range=(-Q_MAX, Q_MAX),
            actfrcrange=(-torque, torque),
            damping=DAMPING,
        )
        if visual:
            capsule(body, (0, 0, 0), (length, 0, 0), 0.03, LIGHT)
            cylinder(body, (0, 0, -0.05), (0, 0, 0.05), 0.055, DARK)
            ball(body, (length, 0, 0), 0.05, BLUE)
    body.add_site(name=FLANGE, pos=(LENGTH[1], 0, 0), group=4)
    return spec


def two_link_design(*, visual: bool = False) -> Design:
    """The two-link arm with its limits and the textbook's initial pose."""
    return Design(NAME, two_link_spec(visual=visual), V_MAX, A_MAX, Q_HOME)
