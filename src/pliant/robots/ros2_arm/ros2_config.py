"""Node name and topics of Pliant in ROS 2."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pliant.params.declare import Section, param

_WORDS = r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*"
_NAME = rf"^(~?/)?{_WORDS}$"


class Ros2Config(Section):
    """Node, topics and time limits of ROS 2, for an arm driven over it and for what `--ros2` publishes.

    A topic that begins with / is absolute, with ~/ is private to the node, any other is relative to the namespace.
    """

    node: str = param("pliant", pattern=r"^[A-Za-z_]\w*$", help="Name of the node.")
    namespace: str = param(
        "", pattern=rf"^(/?{_WORDS})?$", help="Namespace of the node and its topics, for example /left."
    )
    joint_names: Annotated[tuple[str, ...], Field(max_length=12)] = param(
        (), help="Joint names in messages, in the order of the arm (default: those of the model)."
    )
    base_frame: str = param("base", help="Frame of the poses and wrenches in goals.")
    joint_states: str = param("joint_states", pattern=_NAME, help="Topic of the joint states (JointState).")
    wrench: str = param(
        "ft_sensor_readings",
        pattern=_NAME,
        help="Topic of the raw force sensor (WrenchStamped), in the sensor frame.",
    )
    wrench_is: Literal["on_robot", "by_robot"] = param(
        "on_robot", help="Sign of the wrench: environment on robot (on_robot) or robot on environment (by_robot)."
    )
    trajectory: str = param(
        "scaled_joint_trajectory_controller/joint_trajectory",
        pattern=_NAME,
        help="Topic of the joint position command (JointTrajectory).",
    )
    velocity: str = param(
        "forward_velocity_controller/commands",
        pattern=_NAME,
        help="Topic of the joint velocity command (Float64MultiArray).",
    )
    cmd_vel: str = param("cmd_vel", pattern=_NAME, help="Topic of the command to a mobile base (Twist).")
    command: bool = param(
        True, help="Whether --ros2 publishes the joint command; an arm that subscribes to it follows."
    )
    ahead_s: float = param(
        0.01, unit="s", gt=0, le=1, help="Time in which a commanded position is to be reached (time_from_start)."
    )
    stale_s: float = param(
        0.1, unit="s", gt=0, le=5,
        help="Age of joint states at which the arm stops. With the velocity interface, also the time a loop may hang.",
    )  # fmt: skip
    wait_s: float = param(5.0, unit="s", gt=0, le=120, help="How long to wait for the arm at the start.")
