"""Settings of the simulated robot: servo, sensor, surfaces, pushes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pliant.model.tool import Tool
from pliant.params.declare import Section, Six, param
from pliant.params.kinds import ANY_KIND
from pliant.world.realism.effects_config import Effects, Level
from pliant.world.surface_kind import Surface

DEFAULT_REALISM: Level = "ideal"
"""The world of a task that does not choose one."""


class Servo(Section):
    """The robot's own position loop, as seen by an external controller: a delay, then a second-order lag.

    The defaults model a UR e-Series arm driven by servoJ with its shortest look-ahead (30 ms). Users who correlated
    commanded with reached positions on such arms report about 34 ms in total, of which 4 to 6 ms remain when the arm
    only echoes what it receives. So: 4 ms of transport, and a critically damped lag of 30 ms, whose -3 dB bandwidth is
    6.8 Hz. These values were not measured on a robot by the authors; set both numbers to those of your robot.
    """

    bandwidth_hz: float = param(
        6.8, unit="Hz", gt=0, le=60, help="Bandwidth (-3 dB) with which the joints follow a command."
    )
    delay_s: float = param(
        0.004,
        unit="s",
        ge=0,
        le=0.1,
        help="Transport delay of a command; at least one period, over which the servo interpolates.",
    )
    stiffness_hz: float = param(
        40.0,
        unit="Hz",
        ge=5,
        le=60,
        help="Natural frequency of the joint position loop: a high value makes a stiff arm.",
    )

    @property
    def lag_s(self) -> float:
        """Lag between a slowly changing command and the motion [s]: transport plus filter."""
        return self.delay_s + 2.0 / self.omega

    @property
    def omega(self) -> float:
        """Natural frequency [rad/s] of the critically damped filter whose -3 dB point is `bandwidth_hz`."""
        # |1/(1 + jω/ω₀)²|² = 1/2   at   ω = ω₀ √(√2 - 1)
        return 2.0 * 3.141592653589793 * self.bandwidth_hz / (2.0**0.5 - 1.0) ** 0.5


class Failure(Section):
    """A scripted failure of the force sensor."""

    kind: Literal["missing", "saturated", "nan", "range", "stale", "frozen"] = param("missing", help="Kind of failure.")
    at_s: float = param(1.0, unit="s", ge=0, help="Start of the failure.")
    for_s: float = param(1e6, unit="s", gt=0, help="Duration of the failure.")


class Sensor(Section):
    """A six-axis force sensor at the wrist. Like a real one, it measures the tool's weight and inertia."""

    noise_n: float = param(
        0.2, unit="N", ge=0, help="Standard deviation of the noise on each force, where realism does not set it."
    )
    noise_nm: float = param(
        0.005, unit="N m", ge=0, help="Standard deviation of the noise on each moment, where realism does not set it."
    )
    bias: Six = param((0.0,) * 6, unit="N, N m", help="Constant offset of the six channels.")
    step_n: float = param(0.02, unit="N", ge=0, help="Quantisation step of the forces (0: none).")
    step_nm: float = param(0.001, unit="N m", ge=0, help="Quantisation step of the moments (0: none).")
    range_n: float = param(200.0, unit="N", gt=0, help="Largest measurable force; above it the sensor saturates.")
    range_nm: float = param(20.0, unit="N m", gt=0, help="Largest measurable moment; above it the sensor saturates.")
    dropout: float = param(0.0, ge=0, le=1, help="Probability that a tick gets no new reading.")
    failures: Annotated[tuple[Failure, ...], Field(max_length=8)] = ()


class Push(Section):
    """A push at the tool, like that of a hand: it rises and falls over `ramp_s`."""

    also_called = dict.fromkeys(("force", "force_n"), "wrench: six numbers, force [N], then moment [N m]")

    at_s: float = param(..., unit="s", ge=0, help="Start of the push.")
    for_s: float = param(1.0, unit="s", gt=0, help="Duration of the push, ramps included.")
    ramp_s: float = param(0.05, unit="s", ge=0, help="Time over which it rises and falls.")
    wrench: Six = param(..., unit="N, N m", help="Force and moment at the tool, in the base frame.")


class SimConfig(Section):
    """The complete simulation."""

    seed: int = param(0, ge=0, le=2**31 - 1, help="Seed of all random numbers.")
    realism: Level = param(
        DEFAULT_REALISM, help="Preset of all effects that separate a real arm from an ideal one; see sim.effects."
    )
    effects: Effects = Effects()
    substep_s: float = param(
        0.0005, unit="s", ge=1e-5, le=0.001, help="Largest physics step; a period is divided into equal steps."
    )
    servo: Servo = Servo()
    sensor: Sensor = Sensor()
    tool: Tool | None = param(
        None, help="The tool actually mounted, if it differs from the task's tool, which the controller assumes."
    )
    surfaces: Annotated[tuple[Annotated[Surface, ANY_KIND], ...], Field(max_length=8)] = ()
    pushes: Annotated[tuple[Push, ...], Field(max_length=32)] = ()
