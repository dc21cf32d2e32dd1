"""Random contact scenes: a surface, a robot, and a task with what a user would know about them.

The task declares ranges around the truth, never the truth itself. A scene depends on the seed and its index alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_params import Contact
from pliant.control.parameters import Parameters, Sense
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.task.schema import Event, Task
from pliant.world.realism.effects_config import Effects, Level
from pliant.world.realism.presets import sizes_for
from pliant.world.realism.specimen import resonance_hz
from pliant.world.world_config import Servo, SimConfig, Surface

Array = np.ndarray[Any, Any]

ARMS = ("ur3e", "ur5e", "ur10e", "ur16e")
STIFFNESS, FRICTION, CURVATURE, TILT_DEG = (1e3, 1e5), (0.0, 0.8), (0.0, 40.0), (0.0, 25.0)
TARGET, LAG_S, SPEED, TOOL_KG = (2.0, 60.0), (0.010, 0.060), (0.002, 0.030), (0.1, 2.5)
# Shares of flat surfaces and of domes; the rest are cylinders.
FLAT, DOMES = 0.35, 0.4
# The tip starts so far above the surface [m], slides so far [m], and turns no further on a curve [rad].
GAP_M, LENGTH_M, TURN = 0.004, (0.02, 0.05), 0.7
DT = 0.002
# A user knows the lowest natural frequency of the arm no better than this, and declares it too low.
KNOWN = 0.9


@dataclass(frozen=True)
class Scene:
    """One random scene: the task, and the truth that the task does not declare."""

    index: int
    task: Task
    arm: str
    stiffness: float
    friction: float
    curvature: float
    tilt_deg: float
    target_n: float
    lag_s: float
    speed_m_s: float
    tool_kg: float

    @property
    def runaway_ratio(self) -> float:
        """µT/(k v) over 0.2 s: how closely friction resembles a slope in this scene."""
        return self.friction * self.target_n / (self.stiffness * self.speed_m_s) / 0.2

    def as_dict(self) -> dict[str, Any]:
        """The scene as a row of a table."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "task"}

    def __str__(self) -> str:
        shape = f"radius {1e3 / self.curvature:.0f} mm" if self.curvature > 0.0 else "flat"
        return (
            f"{self.arm}, {self.target_n:.1f} N, {self.stiffness:.3g} N/m, µ {self.friction:.2f}, {shape}, tilt "
            f"{self.tilt_deg:.0f}°, lag {self.lag_s * 1e3:.0f} ms, {self.speed_m_s * 1e3:.1f} mm/s, tool "
            f"{self.tool_kg:.2f} kg"
        )


def scene(seed: int, index: int, realism: Level = "ideal") -> Scene:
    """The scene number `index` of this seed, in the ideal world or with the errors of a real cell."""
    random = np.random.default_rng([seed, index])

    def even(bounds: tuple[float, float]) -> float:
        return float(random.uniform(*bounds))

    def log(bounds: tuple[float, float]) -> float:
        return float(np.exp(random.uniform(*np.log(bounds))))

    arm = str(random.choice(ARMS))
    stiffness, friction, target, speed = log(STIFFNESS), even(FRICTION), log(TARGET), log(SPEED)
    lag, tilt, tool_kg, draw = even(LAG_S), even(TILT_DEG), log(TOOL_KG), random.random()
    curvature = 0.0 if draw < FLAT else even(CURVATURE)
    kind = "plane" if curvature <= 0.0 else ("dome" if draw < FLAT + DOMES else "cylinder")
    tool = Tool(mass_kg=tool_kg, com_m=(0.0, 0.0, even((0.02, 0.08))), tcp_m=(0.0, 0.0, even((0.1, 0.2))))
    servo, cutoff_hz = _loop(lag, even((0.15, 0.35)))
    model = Arm.load(arm, tool)
    effects: Any = sizes_for(model, Effects(), realism)
    lag += _more_lag(effects)
    q = np.array(model.q_home) + random.uniform(-0.1, 0.1, len(model.q_home))
    pose, around, along = model.pose(q), even((0.0, 2.0 * math.pi)), even((0.0, 2.0 * math.pi))
    surface, heading = _surface(kind, curvature, pose, math.radians(tilt), around, along)
    length = min(even(LENGTH_M), TURN / curvature if curvature > 0.0 else math.inf)
    contact = Contact(
        target_n=target,
        band_n=max(0.05 * target, 0.15),
        peak_n=1.4 * target,
        force_limit_n=2.5 * target + 10.0,
        stiffness_min_n_m=stiffness / even((1.5, 4.0)),
        stiffness_max_n_m=stiffness * even((1.3, 3.0)),
        slope_deg=tilt * even((1.0, 1.4)) + 3.0,
        lag_s=lag * even((1.0, 1.1)),
        resonance_hz=resonance_hz(model, q, effects) * KNOWN,
        zero_n=effects.sensor.pose_zero_n + effects.sensor.drift_n_min + effects.sensor.jump_n,
        heading=_three(heading),
        length_m=length,
        speed_m_s=speed,
    )  # fmt: skip
    task = Task(
        name=f"scene-{index}", robot=f"sim:{arm}", law="contact", duration_s=30.0 + 4.0 * length / speed, tool=tool,
        start_q=tuple(float(x) for x in q), params=Parameters(sense=Sense(cutoff_hz=cutoff_hz), contact=contact),
        sim=SimConfig(
            seed=index, realism=realism, servo=servo,
            surfaces=(Surface(stiffness_n_m=stiffness, friction=friction, **surface),),
        ),
        events=(Event(at_s=0.8, command="set_start"), Event(at_s=0.9, command="start")),
    )  # fmt: skip
    return Scene(index, task, arm, stiffness, friction, curvature, tilt, target, lag, speed, tool_kg)


def _loop(lag: float, filtered: float) -> tuple[Servo, float]:
    """A servo and the cut-off of a filter [Hz] with this total lag, of which the filter takes the share `filtered`."""
    transport = 0.004 if lag > 0.02 else 0.002
    rest = lag - DT - transport
    omega = 2.0 / ((1.0 - filtered) * rest)
    # inverse of Servo.omega
    return (
        Servo(bandwidth_hz=min(60.0, omega * (2.0**0.5 - 1.0) ** 0.5 / (2.0 * math.pi)), delay_s=transport),
        1.0 / (2.0 * math.pi * filtered * rest),
    )


def _more_lag(effects: Any) -> float:
    """What the errors of a real cell add to the lag [s]; `pliant identify delay` measures it with the rest."""
    sensor, packets = effects.sensor, effects.packets
    low_pass = 1.0 / (2.0 * math.pi * sensor.bandwidth_hz) if sensor.bandwidth_hz > 0.0 else 0.0
    return packets.command_delay_s + sensor.latency_s + low_pass


def _surface(
    kind: str, curvature: float, pose: Array, tilt: float, around: float, along: float
) -> tuple[dict[str, Any], Array]:
    """Shape and place of a surface `GAP_M` below the tip, and a heading across the tool's axis."""
    w, x, y, z = pose[3:]
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    u = np.cross(axis, [1.0, 0.0, 0.0])
    u /= np.linalg.norm(u)
    v = np.cross(axis, u)
    side = math.cos(around) * u + math.sin(around) * v
    normal = -math.cos(tilt) * axis + math.sin(tilt) * side
    touched = pose[:3] + GAP_M * axis
    heading = math.cos(along) * u + math.sin(along) * v
    if kind == "plane":
        return {"kind": kind, "position_m": _three(touched), "rpy_deg": _rpy(normal, heading)}, heading
    radius = 1.0 / curvature
    centre = _three(touched - radius * normal)
    if kind == "dome":
        return {"kind": kind, "position_m": centre, "radius_m": radius}, heading
    # it lies in a direction of its own, so that the path crosses it at any angle
    return {"kind": kind, "position_m": centre, "radius_m": radius, "rpy_deg": _rpy(normal, u)}, heading


def _rpy(z: Array, near: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw [deg] of a frame with this z axis, its x axis as near as possible to `near`."""
    x = near - (near @ z) * z
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    return (
        math.degrees(math.atan2(y[2], z[2])),
        math.degrees(-math.asin(float(np.clip(x[2], -1.0, 1.0)))),
        math.degrees(math.atan2(x[1], x[0])),
    )


def _three(vector: Array) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])
