"""RTDE inputs and outputs of the emulated controller: names and types."""

from __future__ import annotations

_JOINTS = ("target_q", "target_qd", "target_qdd", "target_current", "target_moment", "actual_q", "actual_qd",
           "actual_current", "joint_control_output", "joint_temperatures", "actual_joint_voltage", "actual_TCP_pose",
           "actual_TCP_speed", "actual_TCP_force", "target_TCP_pose", "target_TCP_speed", "ft_raw_wrench",
           "payload_inertia", "actual_current_as_torque")  # fmt: skip
_NUMBERS = ("timestamp", "actual_execution_time", "target_speed_fraction", "speed_scaling", "speed_scaling_combined",
            "actual_momentum", "actual_main_voltage", "actual_robot_voltage", "actual_robot_current", "payload",
            "standard_analog_input0", "standard_analog_input1", "standard_analog_output0",
            "standard_analog_output1", "tcp_force_scalar")  # fmt: skip
_REGISTERS = range(48)

OUTPUTS: dict[str, str] = {
    **dict.fromkeys(_JOINTS, "VECTOR6D"),
    **dict.fromkeys(_NUMBERS, "DOUBLE"),
    **dict.fromkeys(("actual_tool_accelerometer", "elbow_position", "elbow_velocity", "payload_cog"), "VECTOR3D"),
    **dict.fromkeys(("actual_digital_input_bits", "actual_digital_output_bits"), "UINT64"),
    **dict.fromkeys(("robot_mode", "safety_mode"), "INT32"),
    **dict.fromkeys(("runtime_state", "robot_status_bits", "safety_status_bits"), "UINT32"),
    "joint_mode": "VECTOR6INT32",
    **{f"output_int_register_{i}": "INT32" for i in _REGISTERS},
    **{f"output_double_register_{i}": "DOUBLE" for i in _REGISTERS},
    **dict.fromkeys(("output_bit_registers0_to_31", "output_bit_registers32_to_63"), "UINT32"),
}

INPUTS: dict[str, str] = {
    **{f"input_int_register_{i}": "INT32" for i in _REGISTERS},
    **{f"input_double_register_{i}": "DOUBLE" for i in _REGISTERS},
    **dict.fromkeys(("input_bit_registers0_to_31", "input_bit_registers32_to_63", "speed_slider_mask"), "UINT32"),
    **dict.fromkeys(("speed_slider_fraction", "standard_analog_output_0", "standard_analog_output_1"), "DOUBLE"),
    **dict.fromkeys(
        ("standard_digital_output_mask", "standard_digital_output", "configurable_digital_output_mask",
         "configurable_digital_output", "tool_digital_output_mask", "tool_digital_output",
         "standard_analog_output_mask", "standard_analog_output_type"), "UINT8"
    ),
    "external_force_torque": "VECTOR6D",
}  # fmt: skip

_SIZES = {"VECTOR6D": 6, "VECTOR3D": 3, "VECTOR6INT32": 6}


def blank() -> dict[str, object]:
    """Every output at zero, as before the first measurement."""
    values: dict[str, object] = {}
    for name, kind in OUTPUTS.items():
        zero = 0.0 if kind in ("DOUBLE", "VECTOR6D", "VECTOR3D") else 0
        values[name] = (zero,) * _SIZES[kind] if kind in _SIZES else zero
    values.update(
        joint_mode=(253,) * 6, speed_scaling=1.0, speed_scaling_combined=1.0, target_speed_fraction=1.0,
        actual_main_voltage=48.0, actual_robot_voltage=48.0, joint_temperatures=(25.0,) * 6,
    )  # fmt: skip
    return values
