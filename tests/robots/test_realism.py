"""The realistic world: every effect against its closed form, off when off, and the same again with the same seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import InputError
from pliant.model import Tool
from pliant.model.arm import Arm
from pliant.records import COMMAND, IDLE, POSITION, READING, TORQUE
from pliant.robots.simulated import SimRobot
from pliant.world.realism.presets import GROUPS, entry, sizes, sizes_for
from pliant.world.realism.robot_controller import BY_FORCE
from pliant.world.realism.sensor_errors import LEVER_M
from pliant.world.world_config import Sensor, Servo, SimConfig

Array = np.ndarray[Any, Any]
TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
QUIET = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)
DT, BASE = 0.002, 0


class Real:
    """A UR5e with some effects, written to and read directly."""

    def __init__(self, effects: dict[str, Any] | None = None, *, arm: str = "ur5e", **config: Any) -> None:
        settings = {"sensor": QUIET, "servo": Servo(delay_s=0.0), **config, "effects": effects or {}}
        self.robot = SimRobot(arm, TOOL, SimConfig.model_validate(settings), DT, interface="position")
        self.world, self.n = self.robot.world.record[0], self.robot.arm.n
        self.command, self.reading = COMMAND.new(), READING.new()
        self.robot.read(self.reading)
        self.start = self.reading[0].q[: self.n].copy()
        self.hold(self.start)

    def hold(self, q: Array) -> None:
        self.command[0].mode, self.command[0].q[: self.n] = POSITION, q

    def carry(self, more: Array) -> None:
        """Torques that carry the arm, and `more`."""
        self.command[0].mode = TORQUE
        bias = self.robot.world.data.qfrc_bias[: self.n]
        self.command[0].tau[: self.n] = bias + more

    def write(self, times: int = 1) -> Any:
        for _ in range(times):
            self.robot.write(self.command)
            self.robot.read(self.reading)
        return self.reading[0]

    @property
    def link(self) -> Array:
        return self.robot.world.data.qpos[: self.n].copy()


# ---- off and on ----------------------------------------------------------------------------------------------------


def test_the_ideal_world_has_no_effect_at_all() -> None:
    w = Real().world
    assert not any((w.drive.on, w.encoder.on, w.felt.on, w.supervised))
    assert (w.packets.late_share, w.packets.command_loss, w.packets.reading_loss) == (0.0, 0.0, 0.0)
    assert Real().robot.world.model.dof_armature[:6].tolist() == [0.1] * 6


@pytest.mark.parametrize("arm", ["ur3e", "ur5e", "ur10e", "ur16e", "two_link"])
@pytest.mark.parametrize("level", ["typical", "harsh"])
def test_every_arm_rests_at_every_level(arm: str, level: str) -> None:
    real = Real(arm=arm, realism=level, sensor=Sensor())
    real.command[0].mode = IDLE
    real.write(100)
    assert (real.world.drive.on, real.world.encoder.on, real.world.felt.on) == (1, 1, 1)
    assert real.world.drive.speed.tolist() == [0.0] * 12, "static friction holds the motors"
    assert real.world.stop.reason == 0
    assert np.abs(real.reading[0].q[: real.n] - real.start).max() < 5e-4


def test_every_size_of_every_preset_has_a_source_and_fits_its_bounds() -> None:
    for arm in (Arm.load(name) for name in ("ur3e", "ur5e", "ur10e", "ur16e", "two_link")):
        for level in ("ideal", "typical", "harsh"):
            filled = sizes_for(arm, SimConfig().effects, level)  # validates the bounds
            for group in GROUPS:
                values = {name: value for name, value in getattr(filled, group) if name != "level"}
                assert all(len(v) == arm.n for v in values.values() if isinstance(v, tuple))
                if level != "ideal":
                    for name in values:
                        found = entry(arm, group, name)
                        assert found["source"]
                        assert found["sure"] in ("high", "medium", "low", "assumption")
    assert set(sizes()) == {"ideal", "geared", "torque_sensing", "arms"}


def test_an_effect_in_the_task_overrides_the_preset_and_a_group_can_have_its_own_level() -> None:
    config = SimConfig.model_validate(
        {"realism": "typical", "effects": {"friction": {"coulomb_nm": 3}, "packets": {"level": "ideal"}}}
    )
    filled = sizes_for(Arm.load("ur5e"), config.effects, "typical")
    assert filled.friction.coulomb_nm == (3.0,) * 6
    assert filled.friction.static_ratio == 1.1
    assert filled.packets.command_delay_s == 0.0
    with pytest.raises(InputError, match=r"sim\.effects\.friction\.coulomb_nm .*6 of them"):
        Real({"friction": {"coulomb_nm": (1.0, 2.0)}})


def test_the_same_seed_gives_the_same_bytes_also_after_reset_and_restore() -> None:
    task = pliant.load_task("push").replace({"sim.realism": "harsh", "sim.seed": 5})
    first = pliant.Simulation(task, unchecked=True)
    early = first.advance(60).tobytes()
    before = first.snapshot()
    late = first.advance(60).tobytes()
    first.restore(before)
    assert first.advance(60).tobytes() == late
    first.reset(6)
    other = first.advance(60).tobytes()
    assert other != early
    assert pliant.Simulation(task.replace({"sim.seed": 6}), unchecked=True).advance(60).tobytes() == other
    first.restore(before)  # back to another specimen
    assert first.advance(60).tobytes() == late
    first.reset(5)
    assert first.advance(60).tobytes() == early


# ---- motors and gears ----------------------------------------------------------------------------------------------


def test_a_gear_deflects_by_torque_over_stiffness_and_the_encoder_does_not_see_it() -> None:
    real = Real({"gears": {"stiffness_nm_rad": 2e4, "damping_ratio": 0.3}})
    before = real.link
    wrench = np.array([30.0, -20.0, 40.0, 0.0, 0.0, 0.0])
    real.robot.push(wrench, 100.0)
    seen = real.write(1500).q[:6]
    torque = real.robot.arm.jacobian(real.link).T @ wrench
    servo = torque / real.world.drive.k_p[:6]
    np.testing.assert_allclose(seen - real.start, servo, rtol=0.02, atol=1e-7)
    np.testing.assert_allclose(real.link - before, servo + torque / 2e4, rtol=0.02, atol=1e-7)


def test_a_link_swings_on_its_gear_with_the_declared_frequency_and_damping() -> None:
    """The base joint alone: the other gears are stiff. Motor held by Coulomb friction."""
    ratio, stiffness = 0.05, 2.5e4
    real = Real(
        {
            "friction": {"coulomb_nm": 1e3},
            "gears": {"stiffness_nm_rad": (stiffness, 1e7, 1e7, 1e7, 1e7, 1e7), "damping_ratio": ratio},
        }
    )
    rest, inertia = real.link[BASE], _base_inertia(real)
    real.robot.push([0.0, 60.0, 0.0, 0.0, 0.0, 0.0], 1.0)
    real.write(501)
    angle = np.array([(real.write(), rest - real.link[BASE])[1] for _ in range(200)])
    peaks = [k for k in range(3, 197) if angle[k] == angle[k - 3 : k + 4].max() and angle[k] > 0.0]
    expected = math.sqrt(stiffness / inertia) / (2 * math.pi)
    assert 1 / (DT * np.mean(np.diff(peaks))) == pytest.approx(expected, rel=0.03)
    decrement = np.mean(np.diff(-np.log(angle[peaks])))
    assert decrement == pytest.approx(2 * math.pi * ratio / math.sqrt(1 - ratio**2), rel=0.1)


def _base_inertia(real: Real) -> float:
    return float(real.world.drive.damping[BASE] ** 2 / (4 * 0.05**2 * real.world.drive.stiffness[BASE]))


def test_light_wrists_on_stiff_gears_lose_no_energy_to_the_steps_and_gain_none() -> None:
    """2.5·10⁴ N m/rad on the bare wrist of a UR3e: 1 kHz and more, far beyond what an explicit step could follow."""
    robot = SimRobot(
        "ur3e",
        Tool(),
        SimConfig.model_validate(
            {"effects": {"friction": {"coulomb_nm": 1e3}, "gears": {"stiffness_nm_rad": 2.5e4, "damping_ratio": 0.0}}}
        ),
        DT,
    )
    command, data = COMMAND.new(), robot.world.data
    command[0].mode = IDLE
    rest = data.qpos.copy()
    data.qvel[5] = 1.0
    sizes_of = []
    for _ in range(2000):
        robot.write(command)
        sizes_of.append(abs(data.qpos[5] - rest[5]))
    early, later = max(sizes_of[:500]), max(sizes_of[-500:])
    assert np.isfinite(later)
    assert later == pytest.approx(early, rel=0.3)


def test_the_friction_loop_has_the_area_of_coulomb_and_viscous_friction() -> None:
    coulomb, viscous, amplitude, rate = 8.0, 5.0, 0.02, 2.0
    real = Real({"friction": {"coulomb_nm": coulomb, "viscous_nm_s_rad": viscous}})
    turn, angle, torque = [], [], []
    for k in range(round(3 / rate / DT)):
        turn.append(2 * math.pi * rate * k * DT)
        q = real.start.copy()
        q[BASE] += amplitude * math.sin(turn[-1])
        real.hold(q)
        real.write()
        angle.append(real.world.drive.motor[BASE])
        torque.append(real.world.drive.friction[BASE])
    last = slice(-round(1 / rate / DT) - 1, None)
    moved = np.array(angle[last])
    half = (moved.max() - moved.min()) / 2
    area = float(np.sum(0.5 * (np.array(torque[last])[1:] + np.array(torque[last])[:-1]) * np.diff(moved)))
    expected = 4 * coulomb * half + math.pi * viscous * 2 * math.pi * rate * half**2
    assert area == pytest.approx(expected, rel=0.03)


def test_friction_holds_a_torque_below_its_static_level_and_not_above() -> None:
    effects = {"friction": {"coulomb_nm": 5.0, "static_ratio": 1.4, "torque_share": 0.5}}
    held, torn = Real(effects), Real(effects)
    for real, torque in ((held, 3.4), (torn, 3.6)):
        for _ in range(200):
            real.carry(np.array([torque, 0, 0, 0, 0, 0]))
            real.write()
    assert held.world.drive.speed[BASE] == 0.0
    assert torn.world.drive.speed[BASE] > 0.01


def test_the_hysteresis_loop_is_as_wide_as_declared() -> None:
    width, stiffness = 6e-4, 2e4
    real = Real({"gears": {"stiffness_nm_rad": stiffness, "hysteresis_rad": width, "damping_ratio": 0.5}})
    found = []
    for first, last in ((0.0, 120.0), (120.0, 0.0), (0.0, -120.0), (-120.0, 0.0)):
        for force in np.linspace(first, last, 500):
            real.robot.push([0.0, force, 0.0, 0.0, 0.0, 0.0], 100.0)
            real.write()
        real.write(200)
        found.append(real.world.drive.wind[BASE])
    assert found[3] - found[1] == pytest.approx(width, rel=0.1)


# ---- readings ------------------------------------------------------------------------------------------------------


def test_q_has_the_declared_noise_and_steps_and_the_speed_of_a_resting_rotor_is_zero() -> None:
    noise, step = 2e-5, 4e-6
    real = Real({"friction": {"coulomb_nm": 5.0}, "encoders": {"noise_rad": noise, "step_rad": step}})
    rows = np.array([real.write().q[:6].copy() for _ in range(1500)])
    assert np.abs(rows / step - np.round(rows / step)).max() < 1e-6
    assert rows.std(axis=0).mean() == pytest.approx(math.hypot(noise, step / math.sqrt(12)), rel=0.05)
    assert real.reading[0].qd.tolist() == [0.0] * 12


def test_a_speed_that_is_a_difference_has_the_noise_of_a_difference() -> None:
    noise = 2e-5
    real = Real({"friction": {"coulomb_nm": 5.0}, "encoders": {"noise_rad": noise, "speed_from": "difference"}})
    rows = np.array([real.write().qd[:6].copy() for _ in range(1500)])
    assert rows[5:].std(axis=0).mean() == pytest.approx(math.sqrt(2) * noise / DT, rel=0.05)


def test_wander_and_drift_of_the_force_sensor_have_the_declared_size() -> None:
    wander, drift = 0.5, 60.0
    real = Real({"sensor": {"wander_n": wander, "wander_s": 0.02, "drift_n_min": drift}})
    start = real.reading[0].wrench.copy()
    rows = np.array([real.write().wrench.copy() - start for _ in range(3000)])
    time = DT * np.arange(1, 3001)
    slope, _ = np.polyfit(time, rows[:, 2], 1)
    rest = rows - np.outer(time, real.world.felt.drift)
    assert abs(60 * slope) == pytest.approx(drift, rel=0.1)
    np.testing.assert_allclose(rest.std(axis=0), wander * np.array([1, 1, 1, *[LEVER_M] * 3]), rtol=0.2)
    lagged = np.mean(rest[10:, 0] * rest[:-10, 0]) / np.mean(rest[:, 0] ** 2)
    assert lagged == pytest.approx(math.exp(-1), abs=0.12)


def test_a_step_of_force_passes_the_low_pass_of_the_sensor_and_arrives_late() -> None:
    real = Real({"sensor": {"bandwidth_hz": 5.0, "latency_s": 0.01}})
    start = real.reading[0].wrench[2]
    real.robot.push([0.0, 0.0, 10.0, 0.0, 0.0, 0.0], 100.0)
    rows = np.array([abs(real.write().wrench[2] - start) for _ in range(200)])
    assert np.abs(rows[:4]).max() == 0.0
    reached = DT * (1 + int(np.argmax(rows > 10.0 * (1 - math.exp(-1)))))
    assert reached == pytest.approx(0.01 + 1 / (2 * math.pi * 5.0), abs=0.003)


def test_cross_talk_and_scale_stay_within_their_bounds_and_the_zero_depends_on_the_pose() -> None:
    real = Real({"sensor": {"cross_talk": 0.02, "scale_error": 0.1, "pose_zero_n": 3.0}})
    matrix = real.world.felt.matrix
    assert np.abs(np.diag(matrix) - 1).max() <= 0.1
    assert 0 < np.abs(matrix[:3, :3] - np.diag(np.diag(matrix)[:3])).max() <= 0.02
    g = np.random.default_rng(0).normal(size=(2000, 3))
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    terms = np.hstack([g, g * np.roll(g, -1, axis=1)])
    zero = terms @ real.world.felt.pose_zero.T
    spread = zero.max(axis=0) - zero.min(axis=0)
    assert (spread[:3] <= 3.0).all()
    assert (spread[:3] > 0.9).all()


# ---- line, supervision, geometry -----------------------------------------------------------------------------------


def test_lost_commands_and_readings_are_lost_as_often_as_declared() -> None:
    real = Real({"packets": {"command_loss": 0.1, "reading_loss": 0.2}})
    stamps = np.array([float(real.write().stamp_s) for _ in range(3000)])
    repeated = np.mean(np.diff(stamps) == 0.0)
    assert repeated == pytest.approx(0.2, abs=0.03)
    assert real.world.packets.lost[0] / 3000 == pytest.approx(0.1, abs=0.02)


def test_a_late_command_acts_late_and_the_next_one_catches_up() -> None:
    real = Real({"packets": {"late_share": 1.0, "late_s": 0.01}})
    for k in range(500):
        q = real.start.copy()
        q[5] += 0.001 * k
        real.hold(q)
        real.write()
    behind = 0.001 * 499 - (real.world.target[5] - real.start[5])
    assert 0.0 <= behind <= 0.001 * 8


def test_the_robot_stops_by_itself_when_it_is_pressed_too_hard() -> None:
    real = Real({"stop": {"force_n": 50.0}})
    real.robot.push([0.0, 0.0, 45.0, 0.0, 0.0, 0.0], 0.1)
    real.write(20)
    assert real.world.stop.reason == 0
    real.robot.push([0.0, 0.0, 60.0, 0.0, 0.0, 0.0], 0.2)
    real.write(100)
    assert (real.world.stop.reason, real.world.halted) == (BY_FORCE, 1)
    real.hold(real.start + 0.5)
    assert np.abs(real.write(500).q[:6] - real.start).max() < 1e-3


def test_geometry_and_tool_differ_within_their_sizes_and_between_seeds() -> None:
    effects = {"geometry": {"length_m": 1e-3, "angle_rad": 1e-3, "tool_mass_share": 0.2, "tool_com_m": 0.01}}
    model = Real(effects).robot.world.model
    other = Real(effects, seed=1).robot.world.model
    nominal = Real().robot.world.model
    tool = nominal.body("tool").id
    assert 0 < abs(model.body_mass[tool] / 0.8 - 1) <= 0.2
    assert 0 < np.abs(model.body_ipos[tool] - nominal.body_ipos[tool]).max() <= 0.01
    assert 1e-4 < np.abs(model.body_pos - nominal.body_pos).max() < 5e-3
    assert np.abs(model.body_pos - other.body_pos).max() > 1e-4
