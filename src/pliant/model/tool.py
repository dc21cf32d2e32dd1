"""What is mounted on the flange: the force sensor, the tool's mass, and the tool centre point.

All positions are in flange axes from the flange's origin, as on the teach pendant.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Self

import mujoco
import numpy as np

from pliant.errors import InputError, UnknownNameError
from pliant.model.design import FLANGE
from pliant.model.looks import BLUE, STEEL, ball, capsule

TOOL, SENSOR = "tool", "sensor"

# Least and largest of each number of a field, and its unit. More is a mistake, such as mm for m.
_BOUNDS = {
    "mass_kg": (0.0, 1000.0, "kg"),
    "com_m": (-2.0, 2.0, "m"),
    "inertia_kg_m2": (0.0, 1000.0, "kg m²"),
    "tcp_m": (-2.0, 2.0, "m"),
    "sensor_m": (-2.0, 2.0, "m"),
    "tip_radius_m": (0.0, 0.5, "m"),
}

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Tool:
    """A tool and the force sensor that carries it; the default is a bare flange with a built-in sensor."""

    mass_kg: float = 0.0
    """Mass beyond the sensor [kg]."""
    com_m: Vector = (0.0, 0.0, 0.0)
    """Centre of mass [m]."""
    inertia_kg_m2: Vector = (0.0, 0.0, 0.0)
    """Moments of inertia about the centre of mass, along flange axes [kg m^2]; zeros: a point mass."""
    tcp_m: Vector = (0.0, 0.0, 0.0)
    """Tool centre point [m]: where compliance acts."""
    tcp_quat: Quaternion = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the tool frame, wxyz."""
    sensor_m: Vector = (0.0, 0.0, 0.0)
    """Origin of the force sensor [m]."""
    sensor_quat: Quaternion = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the force sensor's axes, wxyz."""
    tip_radius_m: float = 0.0
    """Radius [m] of the ball at the tip, centred at the tool centre point; 0: a point."""

    def __new__(cls, *_: object, **given: object) -> Self:
        """A tool; a misspelt field is an `InputError`, as everywhere else."""
        known = [field.name for field in fields(cls)]
        if unknown := next((name for name in given if name not in known), ""):
            raise UnknownNameError("tool field", unknown, known)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in fields(self):
            size = 1 if isinstance(field.default, float) else len(field.default)  # pyright: ignore[reportArgumentType]
            object.__setattr__(self, field.name, _numbers(f"tool.{field.name}", getattr(self, field.name), size))
        for name, (low, high, unit) in _BOUNDS.items():
            value = np.atleast_1d(getattr(self, name))
            if (value < low).any() or (value > high).any():
                allowed = f"{low:g} to {high:g} {unit}{' in x, y and z' if len(value) > 1 else ''}"
                raise InputError(f"tool.{name}", getattr(self, name), allowed, unit=unit)
        for name in ("tcp_quat", "sensor_quat"):
            object.__setattr__(self, name, _unit(f"tool.{name}", getattr(self, name)))
        self._check_inertia()

    def _check_inertia(self) -> None:
        low, middle, high = sorted(self.inertia_kg_m2)
        if high > (low + middle) * (1 + 1e-9):
            allowed = "three moments, none larger than the sum of the other two"
            raise InputError("tool.inertia_kg_m2", self.inertia_kg_m2, allowed)
        if self.mass_kg == 0.0 and (high > 0.0 or any(self.com_m)):
            field = "inertia_kg_m2" if high > 0.0 else "com_m"
            raise InputError(f"tool.{field}", getattr(self, field), "zero when the mass is zero", "Set tool.mass_kg.")

    @property
    def com_in_sensor_m(self) -> Vector:
        """The centre of mass in the sensor frame, from the sensor's origin [m]."""
        inverse, result = np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(inverse, np.array(self.sensor_quat))
        mujoco.mju_rotVecQuat(result, np.subtract(self.com_m, self.sensor_m), inverse)
        return (float(result[0]), float(result[1]), float(result[2]))


def _numbers(field: str, value: object, size: int) -> float | tuple[float, ...]:
    """`value` as a float (size 1) or as a tuple of floats, refused unless all are finite."""
    allowed = "a finite number" if size == 1 else f"{size} finite numbers"
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(field, value, allowed) from None
    if np.asarray(value).dtype.kind not in "iuf":  # "1" and True are no numbers
        raise InputError(field, value, allowed)
    if array.shape != (() if size == 1 else (size,)) or not np.isfinite(array).all():
        raise InputError(field, value, allowed)
    return float(array) if size == 1 else tuple(array.tolist())


def _unit(field: str, quat: Quaternion) -> Quaternion:
    """A quaternion scaled to length one, refused when it is clearly not a rotation."""
    length = math.sqrt(sum(part * part for part in quat))
    if abs(length - 1.0) > 1e-3:
        raise InputError(field, quat, "a unit quaternion in the order w, x, y, z")
    w, x, y, z = (part / length for part in quat)
    return (w, x, y, z)


def attach(spec: mujoco.MjSpec, tool: Tool, *, visual: bool, flange: str = FLANGE) -> mujoco.MjsBody:
    """Mount a tool at the site `flange`: a rigid body `tool` with the sites `sensor` and `tool` (the TCP).

    Both sites are in the tool's body, so a MuJoCo force or torque sensor at `sensor` measures the wrench between
    flange and tool: the tool's weight and inertia, and every contact of the tool.
    """
    mount = spec.site(flange)
    body = mount.parent.add_body(
        name=TOOL,
        pos=mount.pos,
        quat=mount.quat,
        mass=tool.mass_kg,
        ipos=tool.com_m,
        inertia=tool.inertia_kg_m2,
        explicitinertial=True,
    )
    body.add_site(name=SENSOR, pos=tool.sensor_m, quat=tool.sensor_quat, group=4)
    body.add_site(name=TOOL, pos=tool.tcp_m, quat=tool.tcp_quat, group=4)
    if visual:
        _draw(body, tool)
    return body


def _draw(body: mujoco.MjsBody, tool: Tool) -> None:
    """A slim probe from the flange to the tip, which ends in a ball."""
    length = math.dist((0, 0, 0), tool.tcp_m)
    if length > 1e-3:
        radius = min(0.008, 0.1 * length)
        capsule(body, (0, 0, 0), tool.tcp_m, radius, STEEL)
    if tool.tip_radius_m > 0.0:
        ball(body, tool.tcp_m, tool.tip_radius_m, BLUE)
