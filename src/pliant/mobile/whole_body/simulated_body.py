"""A simulated arm on a simulated base, planar or on wheels, behind one `command(v, omega)`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from pliant.errors import InputError
from pliant.mobile.whole_body.body_config import BodySimConfig
from pliant.mobile.whole_body.body_period import advance_body, read_base_pose, read_body
from pliant.mobile.whole_body.body_world import BodyWorld
from pliant.mobile.whole_body.mobile_arm import Chassis
from pliant.model.arm import Arm
from pliant.model.tool import TOOL, Tool
from pliant.records import COMMAND, POSITION

SETTLE_S = 0.5
"""Time for a base on wheels to settle on the floor before the start."""


class SimBody:
    """A mobile manipulator. `command` sets the motion of the base, `write` advances everything by one period."""

    def __init__(
        self,
        arm: str = "ur5e",
        base: Chassis | None = None,
        tool: Tool | None = None,
        config: BodySimConfig | None = None,
        dt: float = 0.002,
        start_q: Any = (),
    ) -> None:
        config, tool = config or BodySimConfig(), tool or Tool()
        self.name = f"sim:mobile_{arm}"
        """Name of the robot."""
        self.arm, self.base = Arm.load(arm, tool), base or Chassis()
        q = np.array(start_q if len(start_q) else (0.0, 0.0, 0.0, *self.arm.q_home), float)
        inside = q.shape == (3 + self.arm.n,) and np.isfinite(q).all()
        if not inside or not np.all((q[3:] >= self.arm.q_min) & (q[3:] <= self.arm.q_max)):
            allowed = f"x, y, heading and {self.arm.n} angles within the joint ranges of {arm}"
            raise InputError("start_q", tuple(q.tolist()), allowed)
        self.world = BodyWorld(self.arm, self.base, config.tool or tool, config, dt, q)
        """The physics: true state, surfaces and sensors."""
        if config.wheels:
            self._settle(q[3:], round(SETTLE_S / dt))

    def command(self, v: float, omega: float) -> None:
        """Drive forward at v [m/s] and turn at omega [rad/s]. A value that is not finite stops the base."""
        asked = np.array((v, omega), float)
        self.world.carrier[0].command[:] = asked if np.isfinite(asked).all() else 0.0

    def read(self, reading: Any, base: Any) -> None:
        """Fill a reading record of the arm and a base record with pose and wheels."""
        read_body(self.world.record, self.world.carrier, reading, base)

    def write(self, command: Any) -> None:
        """Carry out the arm's command and the last base command for one period."""
        advance_body(self.world.record, self.world.carrier, command)

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the tool with `wrench` [N, N m] in world axes, for `for_s` seconds from now."""
        w = self.world.record[0]
        w.live_push[:], w.live_until = wrench, w.time + for_s

    def stop(self) -> None:
        """Brake and hold, arm and base."""
        self.world.record[0].halted = 1

    def close(self) -> None:
        """Nothing to close."""

    def base_pose(self) -> np.ndarray[Any, Any]:
        """True pose of the base: x [m], y [m], heading [rad]."""
        pose = np.zeros(3)
        read_base_pose(self.world.carrier, pose)
        return pose

    def tool_pose(self) -> np.ndarray[Any, Any]:
        """True X_WT, including what the controller's model does not contain: tilt, sinking, lag."""
        model, data = self.world.model, self.world.data
        pose, site, quat = np.zeros(7), model.site(TOOL).id, np.zeros(4)
        mujoco.mj_kinematics(model, data)  # after a step MuJoCo's positions are those of the step before
        mujoco.mju_mat2Quat(quat, data.site_xmat[site])
        pose[:3], pose[3:] = data.site_xpos[site], quat
        return pose

    def _settle(self, q: Any, periods: int) -> None:
        """Let the base settle, then begin at time zero; no push acts meanwhile, and no surface moves."""
        w, command = self.world.record[0], COMMAND.new()
        command[0].mode, command[0].q[: self.arm.n] = POSITION, q
        pushes, w.n_pushes = int(w.n_pushes), 0
        for _ in range(periods):
            self.write(command)
        w.n_pushes, w.count, w.time = pushes, 0, 0.0
        w.last_stamp = 0.0
        w.last_wrench[:] = -self.world.data.sensordata[:6]
