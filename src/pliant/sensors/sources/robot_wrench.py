"""The robot's own sensor: the wrench that the robot, real or simulated, reports with its joints."""

from __future__ import annotations

from pliant.params.declare import Section
from pliant.sensors.force_sensor import SensorKind


class RobotWrench(Section):
    """The wrench that the robot reports with its joints; that of a simulated robot is described by `sim.sensor`."""


SENSOR = SensorKind("robot", RobotWrench)
