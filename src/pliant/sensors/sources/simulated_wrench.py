"""A simulated sensor that samples at its own rate and is late: that of `sim.sensor`, as a box delivers it."""

from __future__ import annotations

from typing import Any

from pliant.params.declare import Section, param
from pliant.sensors.force_sensor import SensorKind


class SimulatedWrench(Section):
    """The sensor of a simulated robot (`sim.sensor`) with a rate and a delay of its own; its time stamps are true."""

    sample_hz: float = param(
        0.0, unit="Hz", ge=0, le=10000, help="Rate at which it samples, on its own clock (0: in every tick)."
    )
    delay_s: float = param(0.0, unit="s", ge=0, le=0.1, help="Time from a sample until the controller gets it.")


def _in_world(config: Any, world: Any) -> None:
    world.sample_s = 1.0 / config.sample_hz if config.sample_hz > 0.0 else 0.0
    world.sample_delay = config.delay_s


SENSOR = SensorKind("simulated", SimulatedWrench, in_world=_in_world)
