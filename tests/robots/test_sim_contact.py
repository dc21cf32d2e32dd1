"""Touching surfaces: rest, sliding, sticking and bouncing obey mechanics, and no contact ever creates energy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from pliant.model import Arm, Tool
from pliant.records import COMMAND, POSITION, READING, TORQUE
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import Sensor, Servo, SimConfig, Surface

Array = np.ndarray[Any, Any]
Ball = Callable[..., Any]
MASS, RADIUS, G, STEP = 2.0, 0.01, 9.81, 0.0005
DOWN = (0.0, 0.0, -G)
TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15), tip_radius_m=RADIUS)


def plane(k: float = 1e4, d: float = 20.0, mu: float = 0.0, **more: Any) -> Surface:
    return Surface(**{"position_m": (0.0, 0.0, 0.0), "stiffness_n_m": k, "damping_n_s_m": d, "friction": mu, **more})


def facing(normal: Any, distance: float = 0.0, **values: Any) -> Surface:
    """A plane whose outside is where `normal` points, through the point at `distance` along it."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    turn = Rotation.align_vectors([n], [[0, 0, 1]])[0]
    rpy = turn.as_euler("xyz", degrees=True)
    return plane(position_m=tuple(distance * n), rpy_deg=tuple(rpy), **values)


# ---- rest ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("radius", [0.0, RADIUS])
def test_a_body_at_rest_sinks_in_by_weight_over_stiffness(ball: Ball, k: float, radius: float) -> None:
    body = ball((plane(k, math.sqrt(k * MASS), 0.3),), at=(0, 0, radius), gravity=DOWN, radius=radius)
    flight = body.fly(3.0)
    assert radius - flight.position[-1, 2] == pytest.approx(MASS * G / k, rel=1e-6)
    assert_allclose(flight.force[-1], (0, 0, MASS * G), atol=1e-6)


def test_two_surfaces_share_a_weight_as_statics_says(ball: Ball) -> None:
    walls = tuple(facing((side, 0, 1), k=1e4, d=200) for side in (1, -1))
    flight = ball(walls, at=(0, 0, RADIUS * math.sqrt(2)), gravity=DOWN).fly(3.0)
    assert_allclose(flight.force[-1], (0, 0, MASS * G), atol=1e-6)
    depth = RADIUS - flight.position[-1, 2] / math.sqrt(2)
    assert 1e4 * depth == pytest.approx(MASS * G / math.sqrt(2), rel=1e-6)
    assert flight.touching[-1] == 2


@pytest.mark.parametrize("k", [1e3, 1e4, 1e5])
def test_an_arm_that_presses_feels_stiffness_times_depth(k: float) -> None:
    arm = Arm.load("ur5e", TOOL)
    top = arm.pose(arm.q_home)
    height = float(top[2]) - RADIUS + 10.0 / k
    quiet = Sensor(noise_n=0, noise_nm=0, step_n=0, step_nm=0)
    robot = SimRobot(
        "ur5e", TOOL, SimConfig(surfaces=(plane(k, 50, 0.3, position_m=(0, 0, height)),), sensor=quiet), 0.002
    )
    command, reading = COMMAND.new(), READING.new()
    command[0].mode, command[0].q[:6] = POSITION, arm.q_home
    for _ in range(1500):
        robot.write(command)
    robot.read(reading)
    depth = RADIUS - (arm.pose(reading[0].q[:6])[2] - height)
    felt = -reading[0].wrench[2] - TOOL.mass_kg * arm.gravity[2]  # the sensor looks down
    assert depth > 1.0 / k
    assert felt == pytest.approx(k * depth, rel=1e-4)


# ---- friction ------------------------------------------------------------------------------------------------------


def resting(ball: Ball, mu: float, k: float = 1e5, d: float = 50.0, **more: Any) -> Any:
    return ball((plane(k, d, mu),), at=(0, 0, RADIUS - MASS * G / k), gravity=DOWN, **more)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1e4, 1e5])
def test_a_sliding_body_slows_down_by_mu_g_and_its_energy_only_falls(ball: Ball, mu: float, k: float) -> None:
    v = 0.5
    flight = resting(ball, mu, k, moving=(v * 0.6, v * 0.8, 0)).fly(2.0)
    stop = v / (mu * G)
    sliding = (flight.time > 0.005) & (flight.time < 0.8 * stop)
    across = flight.force[sliding][:, :2]
    assert_allclose(np.linalg.norm(across, axis=1), mu * flight.force[sliding][:, 2], rtol=1e-9)
    assert_allclose(
        across / np.linalg.norm(across, axis=1)[:, None], np.tile((-0.6, -0.8), (len(across), 1)), atol=1e-6
    )
    speed = np.linalg.norm(flight.velocity[sliding][:, :2], axis=1)
    assert_allclose(np.diff(speed) / STEP, -mu * G, rtol=1e-3)
    way = np.linalg.norm(flight.position[:, :2], axis=1)
    give = mu * MASS * G / k  # the material springs back when the body stops
    assert way.max() == pytest.approx(v**2 / (2 * mu * G), abs=give + 2e-4)
    assert way.max() - way[-1] <= give * 1.01
    total = flight.kinetic + flight.stored
    assert total.max() <= total[0] * (1 + 1e-9)
    assert np.diff(total[sliding]).max() < 0


@pytest.mark.parametrize(
    ("k", "d", "mu", "v"), [(1e4, 1000.0, 1.0, 0.05), (1e4, 200.0, 1.0, 0.2), (1e3, 500.0, 2.0, 0.1)]
)
def test_friction_never_throws_a_body_back_behind_its_start(
    ball: Ball, k: float, d: float, mu: float, v: float
) -> None:
    flight = resting(ball, mu, k, d, moving=(v, 0, 0)).fly(2.0)
    assert flight.position[:, 0].min() > -v * STEP * 1.01
    assert (flight.kinetic + flight.stored).max() <= 0.5 * MASS * v**2 * (1 + STEP**2 * k / MASS)


def sloped(ball: Ball, angle: float, mu: float, k: float = 1e5) -> Any:
    gravity = (G * math.sin(angle), 0, -G * math.cos(angle))
    at = (0, 0, RADIUS - MASS * G * math.cos(angle) / k)
    return ball((plane(k, 2 * math.sqrt(k * MASS), mu),), at=at, gravity=gravity)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_body_on_a_slope_below_the_cone_sticks(ball: Ball, share: float) -> None:
    mu = 0.5
    angle = math.atan(share * mu)
    flight = sloped(ball, angle, mu).fly(5.0)
    give = MASS * G * math.sin(angle) / 1e5
    assert flight.position[-1, 0] == pytest.approx(give, abs=1e-3 * give if share < 0.95 else 1e-3)
    assert np.abs(flight.velocity[-1]).max() < 1e-9  # and does not creep


@pytest.mark.parametrize("share", [1.05, 2.0])
def test_a_body_on_a_slope_beyond_the_cone_slides_as_galileo_says(ball: Ball, share: float) -> None:
    mu = 0.5
    angle = math.atan(share * mu)
    flight = sloped(ball, angle, mu).fly(1.0)
    expected = G * (math.sin(angle) - mu * math.cos(angle))
    late = flight.time > 0.3
    assert np.polyfit(flight.time[late], flight.velocity[late, 0], 1)[0] == pytest.approx(expected, rel=0.01)


def test_a_slow_pull_is_held_until_the_cone_then_gives_way(ball: Ball) -> None:
    mu, held, last = 0.4, 0.0, 0.0
    body = resting(ball, mu, 1e5, 500.0)
    for pull in np.linspace(0, 1.2 * mu * MASS * G, 60):
        body.command[0].tau[0] = pull
        flight = body.fly(0.1)
        if abs(flight.velocity[-1, 0]) < 1e-4:
            held = pull
            assert flight.force[-1, 0] == pytest.approx(-pull, abs=0.05)
        last = abs(flight.velocity[-1, 0])
    assert held == pytest.approx(mu * MASS * G, rel=0.05)
    assert last > 0.01


# ---- turned around -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plane", "box", "dome"])
def test_a_turned_world_behaves_like_the_upright_one(ball: Ball, kind: Any) -> None:
    shape = {"plane": {}, "box": {"half_size_m": (0.2, 0.2, 0.05)}, "dome": {"radius_m": 0.1}}[kind]
    top = {"plane": 0.0, "box": 0.05, "dome": 0.1}[kind]
    start, velocity, gravity = np.array([0.01, -0.02, top + 0.03]), np.array([0.2, 0.1, -0.5]), np.array(DOWN)
    upright = ball((plane(2e4, 10, 0.3, kind=kind, **shape),), at=start, moving=velocity, gravity=gravity).fly(0.4)
    assert upright.touching.any()
    for rpy in ((90, 0, 0), (0, -35, 120), (170, 20, -60)):
        R = Rotation.from_euler("xyz", rpy, degrees=True)
        surface = plane(2e4, 10, 0.3, kind=kind, rpy_deg=rpy, **shape)
        turned = ball((surface,), at=R.apply(start), moving=R.apply(velocity), gravity=R.apply(gravity)).fly(0.4)
        assert_allclose(R.inv().apply(turned.position), upright.position, atol=1e-7)
        assert_allclose(R.inv().apply(turned.force), upright.force, atol=1e-2)


# ---- energy --------------------------------------------------------------------------------------------------------


def assert_never_faster(flight: Any, least: int = 1) -> None:
    energies = flight.flights
    assert len(energies) > least
    assert (np.diff(energies) <= 1e-9 * energies[:-1]).all(), np.diff(energies).max()
    assert np.isfinite(flight.position).all()


@pytest.mark.parametrize("k", [1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("d", [0.0, 20.0])
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_a_ball_in_a_room_of_leaning_walls_never_speeds_up(ball: Ball, k: float, d: float, mu: float) -> None:
    random = np.random.default_rng(1)
    for mass in (1.0, 5.0):
        walls = tuple(
            facing(-side * np.eye(3)[axis] + random.normal(size=3) * 0.2, -0.15, k=k, d=d, mu=mu)
            for axis in range(3) for side in (1, -1)
        )  # fmt: skip
        flight = ball(walls, at=(0, 0, 0), moving=random.normal(size=3), mass=mass).fly(10.0)
        assert_never_faster(flight, least=5)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("damper", [0.0, 0.4, 0.95])
def test_a_bounce_gains_nothing_as_long_as_a_step_is_short_for_the_contact(
    ball: Ball, share: float, damper: float
) -> None:
    # no gain in whole steps where h² k/m ≤ 1 and h² k/m + h d/m ≤ 2
    random, mass = np.random.default_rng(2), 1.0
    k = share * mass / STEP**2
    d = damper * (2 - share) * mass / STEP
    scale = min(1.0, 0.99e6 / k, 1990 / max(d, 1.0))  # the largest figures that can be declared
    mass, k, d = mass * scale, k * scale, d * scale
    body = ball((plane(k, d),), at=(0, 0, 1), mass=mass)
    for _ in range(200):
        body.throw((0, 0, RADIUS + random.uniform(0, 1e-3)), (0, 0, -random.uniform(0.5, 2)))
        flight = body.fly(0.1)
        assert flight.touching.any()
        assert (flight.flights <= flight.kinetic[0] * (1 + 1e-9)).all()


@pytest.mark.parametrize("k", [1e2, 1e6])
@pytest.mark.parametrize("d", [0.0, 2000.0])
def test_the_stiffest_and_most_damped_surfaces_throw_a_light_tip_back_no_faster(ball: Ball, k: float, d: float) -> None:
    random, body = np.random.default_rng(6), ball((plane(k, d, 0.5),), at=(0, 0, 1), mass=1.0)
    for _ in range(200):
        body.throw((0, 0, RADIUS + random.uniform(0, 1e-3)), (random.normal(), 0, -random.uniform(0.1, 2)))
        flight = body.fly(0.2)
        assert (flight.flights <= flight.kinetic[0] * (1 + 1e-9)).all()


@pytest.mark.parametrize("kind", ["box", "dome"])
@pytest.mark.parametrize("radius", [0.0, RADIUS])
@pytest.mark.parametrize("k", [1e4, 1e6])
def test_shots_at_edges_corners_rims_and_flat_sides_come_back_no_faster(
    ball: Ball, kind: Any, radius: float, k: float
) -> None:
    random, hits = np.random.default_rng(3), 0
    # where a bare point crosses a ridge the force turns within one step: an error of the order (h ω)²
    gain = 0.5 * STEP**2 * k / MASS if radius == 0.0 else 1e-9
    surface = plane(
        k, 0.0, 0.2, kind=kind, **{"box": {"half_size_m": (0.06, 0.04, 0.03)}, "dome": {"radius_m": 0.05}}[kind]
    )
    if kind == "box":
        aims = [np.array(signs) * (0.06, 0.04, 0.03) for signs in np.ndindex(2, 2, 2)]
        aims = [2 * aim - (0.06, 0.04, 0.03) for aim in aims] + [
            np.array((0.06, 0.04, 0.0)),
            np.array((0.0, 0.0, 0.03)),
        ]
    else:
        around = np.linspace(0, 2 * np.pi, 7)[:-1]
        aims = [0.05 * np.array((math.cos(a), math.sin(a), 0.0)) for a in around]
        aims += [np.array((0, 0, 0.05)), np.zeros(3), np.array((0.02, 0.01, 0.0))]
    body = ball((surface,), at=(1, 1, 1), radius=radius)
    for aim in aims:
        for _ in range(12):
            direction = random.normal(size=3)
            direction /= np.linalg.norm(direction)
            target = aim + random.normal(size=3) * 0.003
            body.throw(target - 0.2 * direction, direction)
            flight = body.fly(0.5)
            hits += bool(flight.touching.any())
            assert (flight.flights <= flight.kinetic[0] * (1 + gain)).all()
            assert (np.linalg.norm(flight.force, axis=1) <= 1.5 * k * 0.1).all()
    assert hits > 50


def test_a_thin_sheet_is_broken_through_but_gives_nothing_for_it(ball: Ball) -> None:
    sheet = plane(1e4, 0.0, 0.2, kind="box", half_size_m=(0.5, 0.5, 0.001))
    slow = ball((sheet,), at=(0, 0, 0.05), moving=(0.1, 0, -0.3)).fly(1.0)
    assert slow.position[-1, 2] > 0.05
    fast = ball((sheet,), at=(0, 0, 0.05), moving=(0.1, 0, -3.0)).fly(0.2)
    assert fast.position[-1, 2] < -0.05
    assert (fast.flights <= fast.kinetic[0]).all()


def test_a_body_between_two_surfaces_at_once_gains_nothing(ball: Ball) -> None:
    random = np.random.default_rng(4)
    body = ball((facing((1, 0, 1), k=1e5, d=0, mu=0.2), facing((-1, 0.2, 1), k=1e5, d=0, mu=0.2)), at=(0, 0, 1))
    for _ in range(50):
        body.throw((0, 0, 0.1), (*random.normal(size=2) * 0.01, -1.0))
        flight = body.fly(0.5)
        assert flight.touching.max() == 2
        assert_never_faster(flight)


# ---- an arm that bounces -------------------------------------------------------------------------------------------


class Falling:
    """A UR5e whose drives carry its weight and nothing else; its tool is thrown at a plane."""

    def __init__(self, surface: Surface, velocity: Any) -> None:
        config = SimConfig(surfaces=(surface,), servo=Servo(delay_s=0.0))
        self.robot = SimRobot("ur5e", TOOL, config, STEP, interface="torque")
        self.arm, self.data, self.world = self.robot.arm, self.robot.world.data, self.robot.world.record[0]
        self.data.qvel[:] = np.linalg.solve(self.arm.jacobian(self.arm.q_home), (*velocity, 0, 0, 0))
        self.command = COMMAND.new()
        self.command[0].mode = TORQUE

    def energies(self, seconds: float) -> tuple[Array, Array]:
        """Kinetic energy and whether the tool touches, at every step."""
        rows = np.zeros((round(seconds / STEP), 2))
        for row in rows:
            self.command[0].tau[:6] = self.arm.bias(self.data.qpos, np.zeros(6))
            self.robot.write(self.command)
            row[:] = (
                0.5 * self.data.qvel @ self.arm.mass_matrix(self.data.qpos) @ self.data.qvel,
                self.world.surface[0].touching,
            )
        return rows[:, 0], rows[:, 1]


@pytest.mark.parametrize("k", [1e3, 1e5, 1e6])
@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_a_whole_arm_that_bounces_never_gains_energy(k: float, mu: float) -> None:
    arm, random = Arm.load("ur5e", TOOL), np.random.default_rng(5)
    height = float(arm.pose(arm.q_home)[2])
    for _ in range(3):
        tilt = tuple(random.uniform(-20, 20, 2))
        surface = plane(
            k, 0.0, mu, position_m=(float(arm.pose(arm.q_home)[0]), 0.0, height - 0.04), rpy_deg=(*tilt, 0.0)
        )
        falling = Falling(surface, (*random.uniform(-0.3, 0.3, 2), -0.4))
        kinetic, touching = falling.energies(0.35)
        assert touching.any()
        free = kinetic[touching == 0]
        # what the integration of the free arm adds by itself is far below what a contact could
        assert free.max() <= kinetic[0] * 1.003
        after = kinetic[np.flatnonzero(touching)[-1] + 1 :]
        assert not len(after) or after.max() <= kinetic[0] * 1.0005


def test_a_surface_stops_an_arm_whose_drives_are_off() -> None:
    arm = Arm.load("ur5e", TOOL)
    height = float(arm.pose(arm.q_home)[2]) - 0.05
    config = SimConfig(surfaces=(plane(1e5, 300, 0.5, position_m=(0, 0, height)),), servo=Servo(delay_s=0.0))
    robot = SimRobot("ur5e", TOOL, config, 0.001, interface="torque")
    command, surface, lowest, hardest = COMMAND.new(), robot.world.record[0].surface[0], 1.0, 0.0
    command[0].mode = TORQUE
    for _ in range(300):
        robot.write(command)
        lowest = min(lowest, float(arm.pose(robot.world.data.qpos)[2]))
        hardest = max(hardest, float(surface.force[2]))
        assert surface.force[2] >= 0.0
    assert height - 0.02 < lowest < height + RADIUS
    assert hardest > 100.0
