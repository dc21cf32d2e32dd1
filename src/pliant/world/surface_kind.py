"""A surface kind: its name, its parameters, a kernel for distance and normal, and the shapes to draw.

    @pliant.compiled
    def distance(p, point, normal):
        normal[0], normal[1], normal[2] = 0.0, 0.0, 1.0
        return point[2]

    SURFACE = pliant.own_surface("table", Params, distance)

Points are in the frame of the surface, whose z axis points out of the material. The simulator calls the kernel by its
address, so it is compiled once for all kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numba
import numpy as np

from pliant.errors import InputError, RejectedError
from pliant.kernel import address_of, call_at, kernel, record_in
from pliant.params.declare import Section, Three, layout_of, param
from pliant.params.kinds import Kinds, OfKind, record_layout
from pliant.params.packing import packed
from pliant.params.plugin_kernels import (
    COMPILE_ERRORS,
    Argument,
    Outside,
    check_defaults,
    check_function,
    class_name,
    compile_error,
)
from pliant.world.world_layout import MAX_SURFACE_PARAMS, SURFACE

Array = np.ndarray[Any, Any]
Vector = tuple[float, float, float]
Z_AXIS: tuple[Vector, ...] = ((0.0, 0.0, 1.0),)

# Where the kernel of a surface from outside the package is tried before anything moves: so far from its origin [m].
_TRIED_M, _TRIED = 0.2, 200


class Shape(NamedTuple):
    """A shape that pictures and the Studio draw, in the frame of the surface."""

    kind: Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh"]
    """What it is."""
    size: tuple[float, ...] = ()
    """Half-sizes of a box, radius of a sphere, radius and half-length of a cylinder (along its z axis) [m]."""
    position_m: Vector = (0.0, 0.0, 0.0)
    """Its centre."""
    rpy_deg: Vector = (0.0, 0.0, 0.0)
    """Its orientation: roll, pitch, yaw."""
    vertices: Any = None
    """Corners of a mesh (n × 3) [m]."""
    faces: Any = None
    """Triangles of a mesh (n × 3): numbers of corners, counter-clockwise as seen from outside."""


@dataclass(frozen=True)
class SurfaceKind:
    """A kind of surface; `own_surface` makes one."""

    name: str
    """Its name in tasks."""
    params: type[Section]
    """Its parameters, besides those that every surface has."""
    measure: Any
    """Kernel that the simulator calls: it computes `distance` and `normal` in the surface's record."""
    shapes: Callable[[Any], tuple[Shape, ...]]
    """The shapes to draw, from a surface of this kind."""
    pressed_along: tuple[Vector, ...] = Z_AXIS
    """Outward directions along which a tool may press on it; the stability check uses them."""
    is_curved: bool = False
    """Whether its normal changes from place to place."""

    def address(self) -> int:
        """The address of its compiled kernel."""
        return address_of(self.measure, surface_type())


def surface_type() -> Any:
    """The Numba type of a surface's record."""
    array: Any = numba.typeof(SURFACE.new())
    return array.dtype


def _adapted(outside: Outside, params: Any) -> Any:
    """The kernel that the simulator calls: it hands the kind its own parameters."""
    function = outside.function

    @kernel(separate=True)
    def measure(c):
        c.distance = function(record_in(c.params, params), c.point, c.normal)

    measure.outside = outside
    return measure


def _nothing_to_draw(surface: Any) -> tuple[Shape, ...]:
    return ()


def own_surface(
    name: str,
    params: type[Section],
    distance: Callable[..., float],
    *,
    shapes: Callable[[Any], tuple[Shape, ...]] = _nothing_to_draw,
    pressed_along: tuple[Vector, ...] = Z_AXIS,
    is_curved: bool = False,
) -> SurfaceKind:
    """A kind of surface: its name, its parameters, and a kernel ``distance(p, point, normal)``.

    The kernel returns the signed distance of `point` [m] from the surface (negative inside the material) and writes the
    direction out of the material, of length 1, into `normal`. Both are in the frame of the surface; `p` are the
    parameters. `shapes(surface)` returns what pictures and the Studio draw. `pressed_along` are the outward directions
    along which a tool may press, for the stability check. `is_curved` says that the normal changes from place to place.
    """
    if not isinstance(name, str) or not name.isidentifier() or not name.islower():
        raise InputError("the name of the surface", name, "a lower-case Python name, such as wavy_plane")
    if not (isinstance(params, type) and issubclass(params, Section)):
        raise InputError(f"the parameters of {name}", class_name(params), "a class derived from pliant.Section")
    check_defaults(params)
    fields = Argument("p", f"the surface {name}", "parameter", tuple(params.model_fields))
    outside = Outside(f"surface {name}", distance, (fields, Argument("point"), Argument("normal")))
    check_function(outside)
    record = record_layout(layout_of(params)).dtype
    if record.itemsize > 8 * MAX_SURFACE_PARAMS:
        allowed = f"at most {MAX_SURFACE_PARAMS} numbers in all"
        raise InputError(f"the parameters of {name}", record.itemsize // 8, allowed)
    return SurfaceKind(name, params, _adapted(outside, record), shapes, pressed_along, is_curved)


class Surface(OfKind):
    """A surface of declared stiffness. The z axis of its frame points out of the material.

    Its kind decides its shape and the parameters below.
    """

    kinds = Kinds("surface", "SURFACE", "pliant.surfaces", "pliant.world.surfaces", SurfaceKind, "own_surface")

    if TYPE_CHECKING:

        def __init__(self, **data: Any) -> None: ...

    kind: str = param(
        "plane", min_length=1, help="Shape of the surface: a name, or the file of a kind of your own (my_surface.py)."
    )
    position_m: Three = param(..., unit="m", help="Origin of the surface in the base frame.")
    rpy_deg: Three = param((0.0, 0.0, 0.0), unit="deg", help="Roll, pitch, yaw of the surface in the base frame.")
    stiffness_n_m: float = param(2e4, unit="N/m", gt=0, le=1e6, help="Force per penetration, along the normal.")
    damping_n_s_m: float = param(
        50.0, unit="N s/m", ge=0, le=2000, help="Force per speed of penetration, along the normal."
    )
    friction: float = param(0.3, ge=0, le=2, help="Coulomb friction coefficient.")
    stiffness_end_n_m: float = param(
        0.0, unit="N/m", ge=0, le=1e6, help="Stiffness after the change along x (0: constant stiffness)."
    )
    change_m: tuple[float, float] = param(
        (0.0, 0.01), unit="m", help="Interval along its x axis over which the stiffness changes."
    )
    swing_m: float = param(
        0.0,
        unit="m",
        ge=0,
        le=0.2,
        help="Amplitude of its motion along its z axis: it moves down by twice the amplitude and back.",
    )
    swing_hz: float = param(0.2, unit="Hz", gt=0, le=20, help="Frequency of the surface's motion along its z axis.")
    swing_at_s: float = param(0.0, unit="s", ge=0, help="Start of the surface's motion along its z axis, from rest.")

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """What pictures and the Studio draw, in the frame of the surface."""
        return type(self).its_kind.shapes(self)


def connect(slot: Any, surface: Surface) -> None:
    """Fill what the record of a surface needs of its kind: parameters and the address of its kernel."""
    kind = type(surface).its_kind
    values = packed(surface.own)
    slot.params[: len(values)] = values
    slot.measure_at = kind.address()


@kernel
def _measure(c, points, distances, normals):
    for k in range(points.shape[0]):
        for i in range(3):
            c.point[i] = points[k, i]
        if call_at(c.measure_at, (c,)) != 0:
            c.distance = np.nan
        distances[k] = c.distance
        for i in range(3):
            normals[k, i] = c.normal[i]


def measured(surface: Surface, points: Any) -> tuple[Array, Array]:
    """Signed distances [m] of points (n × 3) in the frame of a surface, and the true normals (n × 3) there."""
    record = SURFACE.new()
    connect(record[0], surface)
    points = np.ascontiguousarray(points, float)
    distances, normals = np.zeros(len(points)), np.zeros((len(points), 3))
    _measure(record[0], points, distances, normals)
    return distances, normals


def check_kernel(surface: Surface) -> None:
    """Raise if the kernel of a surface from outside the package cannot be compiled or gives impossible numbers."""
    kind = type(surface).its_kind
    points = np.random.default_rng(0).uniform(-_TRIED_M, _TRIED_M, (_TRIED, 3))
    try:
        distances, normals = measured(surface, points)
    except COMPILE_ERRORS as error:
        raise compile_error(kind.measure.outside, error) from None
    lengths = np.linalg.norm(normals, axis=1)
    bad = np.flatnonzero(~(np.isfinite(distances) & (np.abs(lengths - 1.0) < 1e-6)))
    if len(bad):
        at, length = points[bad[0]].round(3).tolist(), lengths[bad[0]]
        raise RejectedError(
            f"The surface {kind.name} gives a distance of {distances[bad[0]]:g} m and a normal of length {length:g} at "
            f"{at} (its own frame). The distance must be finite and the normal of length 1.",
            field="surface",
            value=kind.name,
        )
