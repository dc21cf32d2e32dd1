"""A robot whose wrench comes from the sensor that the task declares, instead of from the robot itself."""

from __future__ import annotations

from typing import Any

from pliant.errors import RejectedError
from pliant.robots.interface import Robot
from pliant.robots.simulated import SimRobot
from pliant.sensors.force_sensor import SensorConfig
from pliant.sensors.sensor_link import SensorLink, link_of


class SensedRobot:
    """A real robot with a sensor of its own: its readings have the wrench of that sensor. The rest is the robot's."""

    def __init__(self, robot: Robot, sensor: SensorLink) -> None:
        self._robot, self._sensor = robot, sensor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def open(self) -> None:
        """Connect to the sensor, then to the robot."""
        self._sensor.open()
        self._robot.open()

    def read(self, reading: Any) -> None:
        """The robot's reading with the sensor's wrench."""
        self._robot.read(reading)
        self._sensor.read(reading)

    def close(self) -> None:
        """Disconnect from both."""
        self._robot.close()
        self._sensor.close()


def with_sensor(robot: Any, config: SensorConfig) -> tuple[Any, SensorLink | None]:
    """The robot with the sensor that a task declares, and the link to that sensor (None: the robot's own, as it is)."""
    simulated, kind = isinstance(robot, SimRobot), type(config).its_kind
    if kind.in_world is not None:
        if not isinstance(robot, SimRobot):
            raise RejectedError(
                f"sensor.kind is {config.kind!r}, but {robot.name} is not simulated. Use robot, or the kind of the "
                "real sensor.",
                field="sensor.kind",
                value=config.kind,
            )
        kind.in_world(config, robot.world.record[0])
    link = link_of(config)
    if link is None:
        return robot, None
    if simulated:
        robot.use(link)
        return robot, link
    return SensedRobot(robot, link), link
