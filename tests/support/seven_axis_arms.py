"""Two well-known arms of seven joints as MJCF files: an LBR iiwa 14 and a Panda, with published lengths and masses."""

from __future__ import annotations

from pathlib import Path

# Offset of each joint from the one before [m], its axis in the arm's stretched-out pose, and of the link that it moves:
# mass [kg], centre of mass [m], principal inertias [kg m²]; largest torque of the drive [N m].
_Z, _Y, _DOWN = (0, 0, 1), (0, 1, 0), (0, -1, 0)
IIWA = (
    ((0, 0, 0.1575), _Z, 5.76, (0, -0.03, 0.12), (0.033, 0.0333, 0.0123), 320),
    ((0, 0, 0.2025), _Y, 6.35, (0, 0.042, 0.059), (0.0305, 0.0304, 0.011), 320),
    ((0, 0, 0.2045), _Z, 3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076), 176),
    ((0, 0, 0.2155), _DOWN, 3.5, (0, 0.034, 0.067), (0.017, 0.0164, 0.006), 176),
    ((0, 0, 0.1845), _Z, 3.5, (0, -0.021, 0.076), (0.01, 0.0087, 0.00449), 110),
    ((0, 0, 0.2155), _Y, 1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036), 40),
    ((0, 0, 0.081), _Z, 1.2, (0, 0, 0.02), (0.001, 0.001, 0.001), 40),
)
IIWA_TIP = (0, 0, 0.045)
PANDA = (
    ((0, 0, 0.333), _Z, 4.97, (0, -0.002, -0.05), (0.07, 0.07, 0.009), 87),
    ((0, 0, 0), _Y, 0.65, (0, -0.028, 0.03), (0.008, 0.028, 0.026), 87),
    ((0, 0, 0.316), _Z, 3.23, (0.027, 0.039, -0.067), (0.037, 0.036, 0.011), 87),
    ((0.0825, 0, 0), _DOWN, 3.59, (-0.053, 0.104, 0.027), (0.026, 0.02, 0.028), 87),
    ((-0.0825, 0, 0.384), _Z, 1.23, (-0.012, 0.041, -0.038), (0.036, 0.029, 0.009), 12),
    ((0, 0, 0), _DOWN, 1.67, (0.06, -0.014, -0.01), (0.002, 0.0044, 0.0054), 12),
    ((0.088, 0, 0), _Z, 0.74, (0.01, -0.004, -0.062), (0.0125, 0.01, 0.0048), 12),
)
PANDA_TIP = (0, 0, -0.107)
BENT = {"iiwa": (0.0, 0.6, 0.0, 1.6, 0.0, 1.0, 0.0), "panda": (0.0, -0.3, 0.0, 1.9, 0.0, -1.6, 0.8)}
"""Joint positions in the middle of the workspace."""
_ARMS = {"iiwa": (IIWA, IIWA_TIP), "panda": (PANDA, PANDA_TIP)}


def seven_axis_arm(folder: Path, name: str) -> Path:
    """The MJCF file of `iiwa` or `panda`; `BENT` has a pose in the middle of its workspace."""
    links, tip = _ARMS[name]
    text = f'<site name="tool0" pos="{_words(tip)}"/>'
    for number, (offset, axis, mass, com, inertia, torque) in reversed(tuple(enumerate(links, 1))):
        text = (
            f'<body name="l{number}" pos="{_words(offset)}">'
            f'<joint name="j{number}" axis="{_words(axis)}" range="-2.9 2.9" limited="true" damping="0.1" '
            f'armature="0.02" actuatorfrcrange="{-torque} {torque}"/>'
            f'<inertial pos="{_words(com)}" mass="{mass}" diaginertia="{_words(inertia)}"/>{text}</body>'
        )
    path = folder / f"{name}.xml"
    path.write_text(f'<mujoco model="{name}"><compiler angle="radian"/><worldbody>{text}</worldbody></mujoco>')
    return path


def _words(numbers: tuple[float, ...]) -> str:
    return " ".join(f"{number:g}" for number in numbers)
