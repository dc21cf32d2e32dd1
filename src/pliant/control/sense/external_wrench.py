"""The external wrench at the tool: remove the tool's weight, move it to the tool, low-pass, deadband.

    f_S = f_raw - f_bias - R_SB m g   τ_S = τ_raw - τ_bias - c × (R_SB m g)
    f   = R_BS f_S                    τ   = R_BS τ_S + (p_S - p_T) × f

The moment is taken at the tool, the compliance point, never at the base origin: a pure push at the tool must not turn
it. The pose is that of this tick. A failed sensor is not a sensor that reads zero: its last good value is held for
`hold_s`, then the robot stops.
"""

from __future__ import annotations

import math

from pliant.kernel import fill, kernel, put
from pliant.records import FAULT_SENSOR, WRENCH_FROZEN, WRENCH_NAN, WRENCH_OK, WRENCH_RANGE, WRENCH_STALE
from pliant.spatial import quat_rotate, quat_rotate_inv


@kernel
def external(h, p, raw, work, out):
    """The wrench of the environment on the tool, in the base frame at the tool, for the pose in the handle `h`."""
    # weight of the tool in the sensor frame
    quat_rotate_inv(h.X_sensor[3:7], h.gravity, work)
    wx, wy, wz = h.tool_mass * work[0], h.tool_mass * work[1], h.tool_mass * work[2]
    cx, cy, cz = h.tool_com[0], h.tool_com[1], h.tool_com[2]
    for i in range(6):
        out[i] = raw[i] - p.bias[i]
    out[0] -= wx
    out[1] -= wy
    out[2] -= wz
    out[3] -= cy * wz - cz * wy
    out[4] -= cz * wx - cx * wz
    out[5] -= cx * wy - cy * wx
    # to base axes
    quat_rotate(h.X_sensor[3:7], out[0:3], out[0:3])
    quat_rotate(h.X_sensor[3:7], out[3:6], out[3:6])
    # to the tool
    rx, ry, rz = h.X_sensor[0] - h.X_tool[0], h.X_sensor[1] - h.X_tool[1], h.X_sensor[2] - h.X_tool[2]
    out[3] += ry * out[2] - rz * out[1]
    out[4] += rz * out[0] - rx * out[2]
    out[5] += rx * out[1] - ry * out[0]


@kernel
def trouble(p, s, r, dt):
    """The problem with the raw reading: 0, or a number of TROUBLES. Remembers the reading to detect a frozen sensor."""
    same, finite, inside = True, True, True
    for i in range(6):
        same = same and r.wrench[i] == s.wrench_last[i]
        finite = finite and math.isfinite(r.wrench[i])
        inside = inside and abs(r.wrench[i]) <= (p.range_n if i < 3 else p.range_nm)
    put(s.wrench_last, r.wrench)
    s.same_s = s.same_s + dt if same else 0.0
    if r.wrench_state != WRENCH_OK:
        return r.wrench_state
    if not finite:
        return WRENCH_NAN
    if not inside:
        return WRENCH_RANGE
    if not r.stamp_s - r.wrench_stamp_s <= p.stale_s:  # a stamp that is not finite is no proof either
        return WRENCH_STALE
    if p.frozen_s > 0.0 and s.same_s > p.frozen_s:
        return WRENCH_FROZEN
    return WRENCH_OK


@kernel
def supervise(p, s, r, needed, dt):
    """Whether this reading can be used. If readings stay unusable for longer than `hold_s`, it is a fault.

    If the running law does not need the sensor (`needed`), a failed sensor counts as zero force.
    """
    s.trouble = trouble(p, s, r, dt)
    if s.trouble == WRENCH_OK:
        s.wrench_age_s = 0.0
        return True
    s.wrench_age_s += dt
    if not needed:
        fill(s.wrench, 0.0)
    elif s.wrench_age_s > p.hold_s and s.fault == 0:
        s.fault = FAULT_SENSOR + s.trouble
    return False


@kernel
def smoothing(cutoff_hz, dt):
    """Weight of a new sample in a first-order low-pass with a gain of exactly -3 dB at `cutoff_hz`.

    |H|² = α² / (1 - 2 (1 - α) cos ω + (1 - α)²) = 1/2   gives   α = √(c² + 2 c) - c   with   c = 1 - cos ω
    """
    c = 1.0 - math.cos(2.0 * math.pi * min(cutoff_hz * dt, 0.5))
    return math.sqrt(c * c + 2.0 * c) - c


@kernel
def low_pass(p, s, wrench, dt):
    """First-order low-pass with the cut-off given in hertz."""
    # y⁺ = y + α (u - y)
    gain = smoothing(p.cutoff_hz, dt)
    for i in range(6):
        s.wrench_lp[i] += gain * (wrench[i] - s.wrench_lp[i])


@kernel
def felt(p, s, g, out):
    """What a law feels: the filtered wrench at the tool minus its goal, beyond the deadband, plus the virtual push."""
    for i in range(6):
        out[i] = s.wrench_lp[i] - g.wrench[i]
    deadband(p.sense, out, out)
    for i in range(6):
        out[i] += g.push[i]


@kernel
def deadband(p, wrench, out):
    """Shrink force and moment towards zero by the deadband: continuous at its edge. Only for the law's input."""
    force = math.sqrt(wrench[0] ** 2 + wrench[1] ** 2 + wrench[2] ** 2)
    moment = math.sqrt(wrench[3] ** 2 + wrench[4] ** 2 + wrench[5] ** 2)
    f = max(0.0, force - p.deadband_n) / force if force > 0.0 else 0.0
    t = max(0.0, moment - p.deadband_nm) / moment if moment > 0.0 else 0.0
    for i in range(3):
        out[i] = f * wrench[i]
        out[3 + i] = t * wrench[3 + i]
