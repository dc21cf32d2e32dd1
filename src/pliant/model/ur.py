"""Universal Robots e-Series arms, built from the manufacturer's published data.

The base frame is the frame before the first DH row, called "base" by the manufacturer's controller: z up, and at q = 0
the arm extends along -x. (The ROS description's `base_link` is rotated by 180 deg about z.) The flange frame is the
frame after the last DH row, z out of the flange, so forward kinematics is exactly the DH product.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import mujoco
import numpy as np
from ruamel.yaml import YAML

from pliant.errors import UnknownNameError
from pliant.model.design import FLANGE, Design
from pliant.model.ur_looks import draw

JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)

# Reflected inertia of rotor and gear [kg m^2]: not published, so this is an estimate.
ARMATURE = 0.1
# Our choice [rad/s^2]: 800 deg/s^2 for every joint, not a figure of the maker.
A_MAX = math.radians(800.0)
# Upper arm upright, forearm level, tool straight down in front of the base (+x); far from every singularity [rad].
Q_HOME = (math.pi, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0)


@dataclass(frozen=True)
class Facts:
    """Published data of one arm (see data/ur_e_series.yaml for frames) in m, kg, kg m^2, N m, rad/s."""

    d1: float
    a2: float
    a3: float
    d4: float
    d5: float
    d6: float
    links: tuple[str, ...]
    mass: tuple[float, ...]
    com: np.ndarray
    inertia: np.ndarray
    """(6, 3, 3) about the centre of mass, in link axes."""
    v_max: tuple[float, ...]
    tau_max: tuple[float, ...]
    payload_kg: float
    reach_m: float
    shoulder_offset: float
    elbow_offset: float
    foot: tuple[float, float]
    radius: tuple[float, ...]


@lru_cache(maxsize=1)
def _file() -> dict:
    text = resources.files("pliant.model").joinpath("data/ur_e_series.yaml").read_text(encoding="utf-8")
    return YAML(typ="safe").load(text)


def ur_names() -> tuple[str, ...]:
    """The arms of the series, smallest first."""
    return tuple(_file()["robots"])


def _link_inertia(values: list[float], roll_deg: float) -> np.ndarray:
    ixx, iyy, izz, ixy, ixz, iyz = values
    c, s = round(math.cos(math.radians(roll_deg))), round(math.sin(math.radians(roll_deg)))  # quarter turns
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]], float)
    return R @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ R.T


def ur_facts(name: str) -> Facts:
    """The published data of an arm, e.g. "ur5e"."""
    file = _file()
    if name not in file["robots"]:
        raise UnknownNameError("arm", name, file["robots"])
    row = file["robots"][name]
    return Facts(
        **row["dh"],
        links=tuple(file["links"]),
        mass=tuple(row["mass"]),
        com=np.array(row["com"], float),
        inertia=np.array([_link_inertia(*pair) for pair in zip(row["inertia"], file["inertia_roll_deg"], strict=True)]),
        v_max=tuple(math.radians(speed) for speed in row["max_speed_deg_s"]),
        tau_max=tuple(float(torque) for torque in row["max_torque"]),
        payload_kg=row["payload"],
        reach_m=row["reach"],
        shoulder_offset=row["shoulder_offset"],
        elbow_offset=row["elbow_offset"],
        foot=tuple(row["base"]),
        radius=tuple(row["radius"]),
    )


def _link_frames(f: Facts) -> list[tuple[tuple[float, float, float], float]]:
    """Each link frame in the one before it: position [m] and quarter turns about x."""
    return [
        ((0, 0, f.d1), 0),
        ((0, 0, 0), 1),
        ((f.a2, 0, 0), 0),
        ((f.a3, 0, f.d4), 0),
        ((0, -f.d5, 0), 1),
        ((0, f.d6, 0), -1),
    ]


def ur_spec(name: str, *, visual: bool) -> mujoco.MjSpec:
    """An arm of the series as a MuJoCo spec with the site `flange`; `visual` adds shapes without mass or contact."""
    facts = ur_facts(name)
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    half = math.sqrt(0.5)
    body, bodies = spec.worldbody, [spec.worldbody]
    for i, (position, turns) in enumerate(_link_frames(facts)):
        I = facts.inertia[i]
        body = body.add_body(
            name=facts.links[i],
            pos=position,
            quat=(half, half * turns, 0, 0) if turns else (1, 0, 0, 0),
            mass=facts.mass[i],
            ipos=facts.com[i],
            fullinertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
            explicitinertial=True,
        )
        limit = math.pi if JOINTS[i] == "elbow_joint" else 2 * math.pi
        body.add_joint(
            name=JOINTS[i],
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=(0, 0, 1),
            range=(-limit, limit),
            actfrcrange=(-facts.tau_max[i], facts.tau_max[i]),
            armature=ARMATURE,
        )
        bodies.append(body)
    body.add_site(name=FLANGE, group=4)
    if visual:
        draw(bodies, facts)
    return spec


def ur_design(name: str, *, visual: bool = False) -> Design:
    """An arm of the series with its limits and home pose."""
    facts = ur_facts(name)
    return Design(name, ur_spec(name, visual=visual), facts.v_max, (A_MAX,) * 6, Q_HOME, facts.payload_kg)
