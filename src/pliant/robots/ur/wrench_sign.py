"""The only place where the wrench of a UR is converted to Pliant's.

A UR reports `actual_TCP_force`: the external wrench at the tool point, in the base frame, without the payload's weight.
A `Reading` holds what a bare sensor would measure: in the sensor frame at the sensor, weight included. So the weight is
added back with the same tool with which `control.sense.external_wrench` removes it, and the two cancel exactly: the law
gets what the controller reported, and a recording looks like that of any other robot.

    f_S = R_SB f + R_SB m g       τ_S = R_SB (τ + (p_T - p_S) × f) + c × (R_SB m g)

`sense.bias` is still the sensor's offset in its own axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.model.arm import Arm
from pliant.model.kinematics import forward_at

# The maker's documentation has forces that act on the tool as positive, as we do. This has not been checked on a robot:
# docs/universal-robots.md describes how to check it before a law uses it.
SIGN = 1.0

Three = tuple[float, float, float]


def cross(a: Any, b: Any) -> Three:
    """a × b: NumPy's own takes twenty times as long for three numbers."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _unturned(quat: Sequence[float], v: Sequence[float]) -> Three:
    """v in the axes that `quat` (wxyz) turns: Rᵀ v = v + 2 (w v × u + (v × u) × u)."""
    w, u = quat[0], quat[1:]
    vu = cross(v, u)
    vuu = cross(vu, u)
    return (
        v[0] + 2.0 * (w * vu[0] + vuu[0]),
        v[1] + 2.0 * (w * vu[1] + vuu[1]),
        v[2] + 2.0 * (w * vu[2] + vuu[2]),
    )


def to_sensor(arm: Arm, q: Any, tcp_force: Sequence[float], out: Any) -> None:
    """Write into `out` what the sensor of `arm` would read at joints `q` for a reported `tcp_force` [N, N m]."""
    forward_at(arm.handle, q)
    h = arm.handle[0]
    tool, sensor = h.X_tool.tolist(), h.X_sensor.tolist()
    f = [SIGN * value for value in tcp_force[:3]]
    lever = tool[0] - sensor[0], tool[1] - sensor[1], tool[2] - sensor[2]
    moved = cross(lever, f)
    turn = [SIGN * tcp_force[3 + i] + moved[i] for i in range(3)]
    weight = _unturned(sensor[3:], [arm.tool.mass_kg * g for g in arm.gravity.tolist()])
    hangs = cross(h.tool_com.tolist(), weight)
    f_s, turn_s = _unturned(sensor[3:], f), _unturned(sensor[3:], turn)
    for i in range(3):
        out[i] = f_s[i] + weight[i]
        out[3 + i] = turn_s[i] + hangs[i]
