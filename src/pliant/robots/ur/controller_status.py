"""The state of a UR controller in words: why the robot cannot move or has stopped."""

from __future__ import annotations

# Bits of safety_status_bits that mean that the robot does not move, worst first.
_SAFETY = (
    (9, "its safety system has a fault", "Restart the safety system on the pendant"),
    (8, "its safety system reports a violation", "Read the details on the pendant and confirm them there"),
    (7, "it is in an emergency stop", "Release the button, confirm on the pendant and switch the arm on again"),
    (6, "it is in an emergency stop", "Release the button, confirm on the pendant and switch the arm on again"),
    (5, "it is in an emergency stop", "Release the button, confirm on the pendant and switch the arm on again"),
    (4, "it is in a safeguard stop", "Close the gate or clear the safeguard device, then reset it"),
    (2, "it is in a protective stop", "Find out why, then unlock it on the pendant"),
    (3, "it is in recovery mode", "Move it back within its limits on the pendant"),
    (10, "it was stopped by its safety system", "Read the reason on the pendant and clear it first"),
)
# Bits of safety_status_bits of which one is set while the safety system lets the robot move: normal and reduced mode.
_MOVES = 1 << 0 | 1 << 1
_MODES = {
    -1: "no controller", 0: "disconnected", 1: "confirm safety", 2: "booting", 3: "power off", 4: "power on",
    5: "idle", 6: "backdrive", 8: "updating firmware",
}  # fmt: skip
RUNNING = 7

# From these versions on, a controller accepts joint torques as ur_rtde sends them, with friction scales: PolyScope 5,
# and PolyScope X with its own version numbers.
TORQUE_FROM = {5: (5, 26), 10: (10, 12)}
# Older versions are CB3 controllers, whose arms have no force sensor.
E_SERIES = 5


def trouble(safety_bits: int, robot_mode: int) -> str:
    """Why the robot cannot move, and what to do; "" if it can."""
    for bit, words, remedy in _SAFETY:
        if safety_bits >> bit & 1:
            return f"{words}. {remedy}"
    if not safety_bits & _MOVES:
        return (
            f"its safety system reports neither normal nor reduced mode (safety status bits {safety_bits:#x}). Read "
            "the details on the pendant"
        )
    if robot_mode != RUNNING:
        mode = _MODES.get(robot_mode, str(robot_mode))
        return f"it is in mode '{mode}', not 'running'. Switch the arm on and release its brakes on the pendant"
    return ""


def fault_of(host: str, words: str) -> str:
    """The reason of `trouble` as one about the robot at `host`, for a fault of the loop."""
    if words.startswith("its "):
        return words.replace("its ", f"the robot at {host} cannot move: its ", 1)
    return words.replace("it ", f"the robot at {host} ", 1)


def takes_torque(version: tuple[int, ...]) -> bool:
    """Whether a controller of this version supports joint torques; older ones accept the command but do nothing."""
    return tuple(version[:2]) >= TORQUE_FROM[10 if version[0] >= 10 else 5]


def is_same_model(reported: str, model: str) -> bool:
    """Whether the model that the dashboard reports ("UR5", "UR5e") can be this one; an empty report matches any."""
    digits = "".join(c for c in reported if c.isdigit())
    return not digits or digits == "".join(c for c in model if c.isdigit())
