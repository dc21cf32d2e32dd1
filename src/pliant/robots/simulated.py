"""`sim:<model>`: a simulated robot with the interface of a real one."""

from __future__ import annotations

from typing import Any

from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.robots.interface import Robot
from pliant.sensors.sensor_link import SensorLink
from pliant.world.build_world import World
from pliant.world.period import advance_sim, read_sim
from pliant.world.realism.robot_controller import stop_words
from pliant.world.world_config import SimConfig


class SimRobot(Robot):
    """A simulated arm with servo, force sensor and surfaces. `write` advances it by one period."""

    interfaces = ("position", "velocity", "torque")
    sensor: SensorLink | None = None

    def __init__(
        self, source: str, tool: Tool, config: SimConfig, dt: float, start_q: Any = (), interface: str = "position"
    ) -> None:
        self.name = f"sim:{source}"
        self.arm = Arm.load(source, tool)
        q = self.arm.within("start_q", start_q if len(start_q) else self.arm.q_home)
        self.world = World(self.arm, source, config.tool or tool, config, dt, q, interface)

    @property
    def fault(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Why the simulated robot made a protective stop; "" if it did not."""
        return stop_words(self.world.record[0].stop, self.arm.joint_names)

    def use(self, sensor: SensorLink) -> None:
        """Take the wrench of every reading from `sensor`, or calibrate it as that declares."""
        self.sensor, self.world.record[0].source = sensor, sensor.address

    def open(self) -> None:
        """Connect to the sensor, if it is one of its own; there is nothing else to connect to."""
        if self.sensor is not None:
            self.sensor.open()

    def read(self, reading: Any) -> None:
        """The present state, with the force sensor's next sample."""
        read_sim(self.world.record, reading)

    def write(self, command: Any) -> None:
        """Advance by one period."""
        advance_sim(self.world.record, command)

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the tool with `wrench` [N, N m] in the base frame, for `for_s` seconds from now."""
        w = self.world.record[0]
        w.live_push[:], w.live_until = wrench, w.time + for_s

    def stop(self) -> None:
        """Brake and hold."""
        self.world.record[0].halted = 1

    def close(self) -> None:
        """Disconnect from the sensor."""
        if self.sensor is not None:
            self.sensor.close()
