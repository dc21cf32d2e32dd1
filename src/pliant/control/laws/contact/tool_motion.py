"""How the tool moves: from the commanded motion and the robot's lag, slowly corrected by the measured positions.

    y'' = ω² (x_cmd - y) - 2 ω y'        ω = 2 / T_r        what a servo with the lag T_r makes of the command
    v   = y' + ḃ,                        T_c ḃ = x - y - b  what the measured position x says beyond it

Measured joint speeds are not used: their noise (0.3 to 5 mrad/s) and the steps of an encoder are as large as what the
law looks for. A slow correction is enough, because what a servo leaves over (friction, lag that differs from the
declared one) changes slowly; what the arm yields to the force adds to the yield of the surface, as for the loop's gain.
"""

from __future__ import annotations

from pliant.kernel import kernel, put

# Time over which the measured position corrects the observed one [s]: a step of an encoder (40 µm at the tool) then
# looks like 0.1 mm/s, less than what the slope is learned from.
CORRECT_S = 0.4
# Of the total lag, so many periods pass between the command of one tick and the reading of the next; the lag of the
# servo is at least one.
BETWEEN_TICKS, LEAST_TICKS = 2.0, 1.0


@kernel
def begin(c, commanded, measured):
    """Start at rest at the `commanded` position; the `measured` one may be off."""
    put(c.model, commanded[0:3])
    for i in range(3):
        c.model_v[i], c.tool_v[i] = 0.0, 0.0
        c.model_off[i] = measured[i] - commanded[i]


@kernel
def robot_lag(p, alpha, dt):
    """The part of the total lag [s] that delays the motion: all but the filter of the wrench (weight `alpha`)."""
    return max(LEAST_TICKS * dt, p.lag_s - (1.0 - alpha) / alpha * dt)


@kernel
def _servo_lag(p, alpha, dt):
    """By how much [s] the measured position is behind the commanded one of the same tick."""
    return max(LEAST_TICKS * dt, robot_lag(p, alpha, dt) - BETWEEN_TICKS * dt)


@kernel
def observe(p, c, commanded, measured, alpha, dt):
    """Advance the observer by one tick: `c.tool_v` [m/s]."""
    omega = 2.0 / _servo_lag(p, alpha, dt)
    share = dt / CORRECT_S
    for i in range(3):
        # implicit, so stable for any ω dt:  v⁺ = (v + dt ω² (x_cmd - y)) / (1 + 2 ω dt + ω² dt²)
        v = (c.model_v[i] + dt * omega * omega * (commanded[i] - c.model[i])) / (1.0 + omega * dt) ** 2
        c.model_v[i] = v
        c.model[i] += dt * v
        step = share * (measured[i] - c.model[i] - c.model_off[i])
        c.model_off[i] += step
        c.tool_v[i] = v + step / dt
