"""Surfaces: distances against brute force, and the force law at a single instant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from pliant.model import Tool
from pliant.robots.simulated import SimRobot
from pliant.world.build_world import fill_surface
from pliant.world.surface_contact import LEAST_DAMPING, touch
from pliant.world.surface_kind import measured as measure_surface
from pliant.world.world_config import SimConfig, Surface
from pliant.world.world_layout import SURFACE, WORLD

Array = np.ndarray[Any, Any]
HALF, RADIUS, LENGTH, STEP = (0.5, 0.3, 0.2), 0.7, 0.4, 0.0005
PLANE, BOX, DOME, CYLINDER = "plane", "box", "dome", "cylinder"
SIZES: dict[str, dict[str, Any]] = {
    PLANE: {},
    BOX: {"half_size_m": HALF},
    DOME: {"radius_m": RADIUS},
    CYLINDER: {"radius_m": RADIUS, "half_length_m": LENGTH},
}
# Where each is highest above its origin.
TOPS = {PLANE: 0.0, BOX: HALF[2], DOME: RADIUS, CYLINDER: RADIUS}


def declared(kind: str, **values: Any) -> Surface:
    where = {"position_m": (0.0, 0.0, 0.0), "stiffness_n_m": 1e4, "damping_n_s_m": 20.0, "friction": 0.5}
    return Surface(kind=kind, **{**where, **SIZES[kind], **values})


def shape(kind: str, **values: Any) -> Any:
    c = SURFACE.new()[0]
    fill_surface(c, declared(kind, **values))
    return c


def all_measured(kind: str, points: Array) -> tuple[Array, Array]:
    return measure_surface(declared(kind), points)


def measured(kind: str, p: Any, **values: Any) -> tuple[float, Array]:
    distances, normals = measure_surface(declared(kind, **values), np.array([p], float))
    return float(distances[0]), normals[0]


# ---- distance ------------------------------------------------------------------------------------------------------


def skin(kind: str, spacing: float = 0.01) -> Array:
    """Points all over the surface of a box, a half ball or a cylinder, no further apart than `spacing`."""
    if kind == CYLINDER:
        around = np.linspace(0, 2 * np.pi, round(2 * np.pi * RADIUS / spacing))
        along = np.linspace(-LENGTH, LENGTH, 2 + round(2 * LENGTH / spacing))
        X, A = (grid.ravel() for grid in np.meshgrid(along, around))
        side = np.column_stack([X, RADIUS * np.cos(A), RADIUS * np.sin(A)])
        golden, k = np.pi * (3 - math.sqrt(5)), np.arange(round(np.pi * RADIUS**2 / spacing**2))
        r = RADIUS * np.sqrt((k + 0.5) / len(k))
        ends = [np.column_stack([0 * r + x, r * np.cos(golden * k), r * np.sin(golden * k)]) for x in (-LENGTH, LENGTH)]
        return np.vstack([side, *ends])
    if kind == BOX:
        faces = []
        for axis in range(3):
            u, v = (i for i in range(3) if i != axis)
            a, b = (np.linspace(-HALF[i], HALF[i], 2 + round(2 * HALF[i] / spacing)) for i in (u, v))
            A, B = np.meshgrid(a, b)
            for side in (-1, 1):
                face = np.zeros((A.size, 3))
                face[:, u], face[:, v], face[:, axis] = A.ravel(), B.ravel(), side * HALF[axis]
                faces.append(face)
        return np.vstack(faces)
    n = round(4 * np.pi * RADIUS**2 / spacing**2)
    golden, k = np.pi * (3 - math.sqrt(5)), np.arange(n)
    z = 1 - (k + 0.5) / n
    ball = RADIUS * np.column_stack([np.sqrt(1 - z**2) * np.cos(golden * k), np.sqrt(1 - z**2) * np.sin(golden * k), z])
    r = RADIUS * np.sqrt((k + 0.5) / n)
    disc = np.column_stack([r * np.cos(golden * k), r * np.sin(golden * k), 0 * r])
    around = np.linspace(0, 2 * np.pi, round(2 * np.pi * RADIUS / spacing))
    rim = RADIUS * np.column_stack([np.cos(around), np.sin(around), 0 * around])
    return np.vstack([ball, disc, rim])


def inside(kind: str, p: Array) -> Array:
    if kind == CYLINDER:
        return (np.hypot(p[:, 1], p[:, 2]) < RADIUS) & (np.abs(p[:, 0]) < LENGTH)
    if kind == BOX:
        return np.all(np.abs(p) < HALF, axis=1)
    return ((p**2).sum(1) < RADIUS**2) & (p[:, 2] > 0)


@pytest.mark.parametrize("kind", [BOX, DOME, CYLINDER])
def test_distance_is_that_to_the_nearest_point_of_the_surface(kind: str) -> None:
    points = np.random.default_rng(1).uniform(-1.2, 1.2, (5000, 3))
    nearest = KDTree(skin(kind)).query(points)[0]
    signed = np.where(inside(kind, points), -nearest, nearest)
    found, _ = all_measured(kind, points)
    # the nearest sample is a little further away than the nearest point
    assert_allclose(found, signed, atol=0.008)
    assert (np.abs(found) <= nearest + 1e-12).all()
    assert np.abs(found - signed)[nearest > 0.1].max() < 1e-3


def test_a_plane_is_everything_below_its_zero() -> None:
    assert measured(PLANE, (3.0, -2.0, 0.25)) == (0.25, pytest.approx([0, 0, 1]))
    assert measured(PLANE, (3.0, -2.0, -0.25))[0] == -0.25


@pytest.mark.parametrize("kind", [PLANE, BOX, DOME, CYLINDER])
def test_the_normal_is_the_gradient_of_the_distance(kind: str) -> None:
    points = np.random.default_rng(2).uniform(-1.2, 1.2, (5000, 3))
    d, normals = all_measured(kind, points)
    assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
    slopes = [
        np.column_stack([(all_measured(kind, points + step * e)[0] - d) / step for e in np.eye(3)])
        for step in (1e-6, -1e-6)
    ]
    smooth = np.abs(slopes[0] - slopes[1]).max(1) < 1e-4  # not across a ridge, where there is no gradient
    assert smooth.mean() > 0.95
    assert_allclose(np.mean(slopes, 0)[smooth], normals[smooth], atol=1e-5)


@pytest.mark.parametrize("kind", [PLANE, BOX, DOME, CYLINDER])
def test_distance_never_jumps(kind: str) -> None:
    random = np.random.default_rng(3)
    p = random.uniform(-1.0, 1.0, (50_000, 3))
    q = p + random.normal(size=p.shape) * 10 ** random.uniform(-6, -1, (len(p), 1))
    jump = np.abs(all_measured(kind, p)[0] - all_measured(kind, q)[0])
    assert (jump <= np.linalg.norm(p - q, axis=1) * (1 + 1e-9) + 1e-15).all()


@pytest.mark.parametrize(("kind", "edge"), [(BOX, (0.5, 0.3, 0.1)), (BOX, (0.5, 0.3, 0.2)), (DOME, (0.7, 0.0, 0.0))])
def test_around_an_edge_outside_the_normal_turns_without_a_jump(kind: str, edge: tuple[float, float, float]) -> None:
    last = None
    out = np.array([1.0, 1.0 if kind == BOX else 0.0, 0.0])
    for angle in np.linspace(-0.5 * math.pi, 0.5 * math.pi, 1001):
        turn = Rotation.from_rotvec(angle * np.array([0, 1.0, 0] if kind == DOME else [0, 0, 1.0]))
        p = np.array(edge) + 0.01 * turn.apply(out / np.linalg.norm(out)) + (0, 0, 0.005 if edge[2] == 0.2 else 0)
        _, normal = measured(kind, p)
        if last is not None:
            assert np.linalg.norm(normal - last) < 0.02
        last = normal


@pytest.mark.parametrize("p", [(0, 0, 0), (0, 0, -1e-12), (0, 0, 1e-300), (0.7, 0, 0), (0, 0, 0.7), (0, 0, -0.3)])
@pytest.mark.parametrize("kind", [BOX, DOME, CYLINDER])
def test_hard_places_have_a_finite_distance_and_a_unit_normal(kind: str, p: tuple[float, float, float]) -> None:
    d, normal = measured(kind, p)
    assert math.isfinite(d)
    assert np.linalg.norm(normal) == pytest.approx(1.0)


def test_a_box_without_thickness_has_two_sides() -> None:
    sheet = (0.5, 0.5, 0.0)
    assert measured(BOX, (0, 0, 0.1), half_size_m=sheet) == (pytest.approx(0.1), pytest.approx([0, 0, 1]))
    assert measured(BOX, (0, 0, -0.1), half_size_m=sheet) == (pytest.approx(0.1), pytest.approx([0, 0, -1]))


# ---- the force at one instant --------------------------------------------------------------------------------------


def force(c: Any, tip: Any, velocity: Any = (0, 0, 0), omega: Any = (0, 0, 0), radius: float = 0.0) -> Array:
    w = WORLD.new()[0]
    w.h, w.tip_radius = STEP, radius
    w.velocity[:3], w.velocity[3:] = omega, velocity
    touch(w, c, np.array(tip, float))
    return c.force.copy()


@pytest.mark.parametrize("radius", [0.0, 0.01])
@pytest.mark.parametrize("k", [1e3, 1e5, 1e6])
def test_force_is_stiffness_times_depth(radius: float, k: float) -> None:
    c = shape(PLANE)
    c.stiffness = k
    assert_allclose(force(c, (1.0, 2.0, radius - 1e-3), radius=radius), (0, 0, k * 1e-3), rtol=1e-12)
    assert_array_equal(force(c, (1.0, 2.0, radius + 1e-9), radius=radius), 0.0)


def test_damping_acts_against_penetration_and_never_pulls() -> None:
    c = shape(PLANE)
    assert force(c, (0, 0, -1e-3), velocity=(0, 0, -0.1))[2] == pytest.approx(10.0 + 2.0)
    assert force(c, (0, 0, -1e-3), velocity=(0, 0, 0.1))[2] == pytest.approx(10.0 - 2.0)
    assert_array_equal(force(c, (0, 0, -1e-3), velocity=(0, 0, 10.0)), 0.0)


def test_damping_is_never_less_than_a_bounce_in_whole_steps_needs() -> None:
    c = shape(PLANE)
    c.damping, c.stiffness = 0.0, 1e5
    found = force(c, (0, 0, -1e-3), velocity=(0, 0, -0.1))[2]
    assert found == pytest.approx(1e5 * 1e-3 + LEAST_DAMPING * 1e5 * STEP * 0.1)


def test_no_surface_ever_pulls_and_friction_never_leaves_its_cone() -> None:
    random, w, touched = np.random.default_rng(4), WORLD.new()[0], 0
    for _ in range(3000):
        c = shape(str(random.choice(list(SIZES))))
        c.pose[:3], c.pose[3:] = random.normal(size=3) * 0.1, random.normal(size=4)
        c.pose[3:] /= np.linalg.norm(c.pose[3:])
        c.stiffness, c.damping = 10 ** random.uniform(2, 6), random.choice([0.0, 10 ** random.uniform(0, 4)])
        c.friction, c.stretch[:] = random.choice([0.0, random.uniform(0, 2)]), random.normal(size=3) * 1e-3
        w.h, w.tip_radius = STEP, random.choice([0.0, 0.01])
        w.velocity[:] = random.normal(size=6) * 10 ** random.uniform(-4, 1)
        touch(w, c, random.uniform(-0.8, 0.8, 3))
        normal = w.normal.copy()
        press = float(c.force @ normal)
        assert press >= -1e-9 * np.linalg.norm(c.force)
        across = np.linalg.norm(c.force - press * normal)
        assert across <= (c.friction + 1e-9) * press
        assert np.linalg.norm(c.stretch) <= c.friction * press / c.stiffness * (1 + 1e-9) + 1e-15
        touched += int(c.touching)
    assert touched > 600


def test_sliding_friction_opposes_the_motion_of_the_touching_point() -> None:
    for direction in ((1, 0, 0), (0, -1, 0), (0.6, 0.8, 0)):
        c = shape(PLANE)
        found = force(c, (0, 0, -1e-3), velocity=3.0 * np.array(direction))
        assert_allclose(found[:2], -0.5 * 10.0 * np.array(direction[:2]), rtol=1e-9)


def test_a_rolling_ball_does_not_rub() -> None:
    c, radius = shape(PLANE), 0.01
    rolling = force(c, (0, 0, radius - 1e-3), velocity=(0.5, 0, 0), omega=(0, 0.5 / radius, 0), radius=radius)
    assert_allclose(rolling, (0, 0, 10.0), atol=1e-9)
    spinning = force(c, (0, 0, radius - 1e-3), omega=(0, 500.0, 0), radius=radius)
    assert spinning[0] > 1.0  # the lowest point of the ball moves backwards, so the ground pushes forwards


def test_a_slip_stores_no_more_than_the_way_that_was_dragged() -> None:
    # a strong damper at low speed: the force is at its limit although the material was hardly dragged at all
    c = shape(PLANE)
    c.damping, c.friction = 1e4, 1.0
    found = force(c, (0, 0, -1e-3), velocity=(0.01, 0, 0))
    assert found[0] == pytest.approx(-10.0)
    assert np.linalg.norm(c.stretch) <= 0.01 * STEP * (1 + 1e-9)


def test_a_surface_left_forgets_how_it_was_dragged() -> None:
    c = shape(PLANE)
    force(c, (0, 0, -1e-3), velocity=(0.1, 0, 0))
    assert np.any(c.stretch)
    force(c, (0, 0, 1e-3))
    assert_array_equal(c.stretch, 0.0)
    assert c.touching == 0


# ---- where surfaces are --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rpy", [(0, 0, 0), (90, 0, 0), (0, 90, 0), (0, 0, 90), (30, -40, 50), (180, 0, 0)])
@pytest.mark.parametrize("kind", list(SIZES))
def test_a_surface_is_where_it_was_declared(kind: Any, rpy: tuple[float, float, float]) -> None:
    position = (0.3, -0.2, 0.1)
    surface = declared(kind, position_m=position, rpy_deg=rpy, damping_n_s_m=0.0, friction=0.0)
    robot = SimRobot("ur5e", Tool(tip_radius_m=0.01), SimConfig(surfaces=(surface,)), 0.002)
    slot = robot.world.record[0].surface[0]
    turn = Rotation.from_euler("xyz", rpy, degrees=True)  # about the fixed axes x, y, z in this order
    assert_allclose(Rotation.from_quat(slot.pose[3:], scalar_first=True).as_matrix(), turn.as_matrix(), atol=1e-12)
    assert_array_equal(slot.pose[:3], position)
    top = TOPS[kind]
    tip = position + turn.apply((0, 0, top + 0.01 - 1e-3))
    assert_allclose(force(slot, tip, radius=0.01), 1e4 * 1e-3 * turn.apply((0, 0, 1)), atol=1e-9)
    away = position + turn.apply((0, 0, top + 0.01 + 1e-6))
    assert_array_equal(force(slot, away, radius=0.01), 0.0)


def test_every_figure_of_a_surface_arrives() -> None:
    surface = Surface(
        kind="box", position_m=(0.0, 0.0, 0.0), half_size_m=(0.1, 0.2, 0.3), stiffness_n_m=123.0,
        damping_n_s_m=4.0, friction=0.7,
    )  # fmt: skip
    config = SimConfig(surfaces=(Surface(position_m=(0.0, 0.0, 0.0)), surface))
    slot = SimRobot("ur5e", Tool(), config, 0.002).world.record[0].surface[1]
    assert (slot.stiffness, slot.damping, slot.friction) == (123.0, 4.0, 0.7)
    assert_array_equal(slot.params[:3], (0.1, 0.2, 0.3))
