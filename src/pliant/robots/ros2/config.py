"""What Pliant is called in the graph of ROS 2, and on which topics it hears and drives an arm."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pliant.params.declare import Section, param

_WORDS = r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*"
_NAME = rf"^(~?/)?{_WORDS}$"


class Ros2Config(Section):
    """Node, topics and time limits of ROS 2: of an arm that is driven over it, and of what `--ros2` publishes.

    A topic that begins with / stands as it is, with ~/ below the node, any other below the namespace.
    """

    node: str = param("pliant", pattern=r"^[A-Za-z_]\w*$", help="Name of the node.")
    namespace: str = param("", pattern=rf"^(/?{_WORDS})?$", help="Namespace of the node and its topics, as in /left.")
    joint_names: Annotated[tuple[str, ...], Field(max_length=12)] = param(
        (), help="Names of the joints in messages, in the order of the arm (default: those of the model)."
    )
    base_frame: str = param("base", help="Frame in which poses and wrenches of goals must be given.")
    joint_states: str = param("joint_states", pattern=_NAME, help="Topic of the joint states (JointState).")
    wrench: str = param(
        "ft_sensor_readings",
        pattern=_NAME,
        help="Topic of the raw force sensor (WrenchStamped), in sensor axes.",
    )
    wrench_is: Literal["on_robot", "by_robot"] = param(
        "on_robot", help="Whether it is what the environment does to the robot, or what the robot does to it."
    )
    trajectory: str = param(
        "scaled_joint_trajectory_controller/joint_trajectory",
        pattern=_NAME,
        help="Topic of the joint command by position (JointTrajectory).",
    )
    velocity: str = param(
        "forward_velocity_controller/commands",
        pattern=_NAME,
        help="Topic of the joint command by velocity (Float64MultiArray).",
    )
    cmd_vel: str = param("cmd_vel", pattern=_NAME, help="Topic of the command to a mobile base (Twist).")
    command: bool = param(True, help="Whether --ros2 publishes the joint command: an arm that listens there follows.")
    ahead_s: float = param(
        0.01, unit="s", gt=0, le=1, help="In what time a commanded position is to be reached (time_from_start)."
    )
    stale_s: float = param(
        0.1, unit="s", gt=0, le=5,
        help="Joint states older than this stop the arm; so does, by velocity, a loop that hangs for as long.",
    )  # fmt: skip
    wait_s: float = param(5.0, unit="s", gt=0, le=120, help="How long to wait for the arm at the start.")
