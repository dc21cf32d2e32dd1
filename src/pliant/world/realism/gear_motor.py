"""Motors with friction, and elastic gears between motors and links.

θ is the angle of a motor, seen at the joint, q that of the link, φ = θ + ε sin(N θ + ψ) - q the deflection of the gear:

    J θ'' = τ_motor - τ_friction(θ') - τ_gear             M(q) q'' + bias = τ_gear + external
    τ_gear = (1 - r) K φ + s + D φ'                       s: a spring of stiffness r K that yields at ±τ_y

One physics step of length h uses the mean acceleration method (Newmark, β = ¼), which has no numerical damping and is
stable at any stiffness. With positions half a step ahead of speeds it reads

    τ_gear = τ_0 + c (Δθ' - Δq'),         τ_0 = (1 - r) K φ + s + D φ',         c = h K / 4 + D / 2

Solving the motor's equation for Δθ' leaves -g Δq' in the link's, with g = c (J/h) / (J/h + c). That is an inertia h g
at the joint, given to MuJoCo as armature. So its own factorisation of M solves motors and links together, and a step
costs no more than that of a rigid arm. Servo and friction are solved implicitly for each motor. A motor that friction
holds has a speed of exactly 0, and its gear then adds h c.
"""

from __future__ import annotations

import math

from pliant.kernel import floats, kernel


@kernel
def brace(w):
    """Before MuJoCo's step: the inertia with which the gears act on the links in this step."""
    d, armature = w.drive, floats(w.armature, w.n)
    for i in range(w.n):
        felt = w.h * d.implicit[i]
        armature[i] = felt if d.held[i] != 0 else felt * d.rotor[i] / (d.rotor[i] + felt)


@kernel
def motors(w, by_torque):
    """Move the motors under the torques in qfrc_applied, and the servo; replace the torques by those of the gears."""
    d, tau = w.drive, floats(w.qfrc_applied, w.n)
    q, qd = floats(w.qpos, w.n), floats(w.qvel, w.n)
    for i in range(w.n):
        turn = d.per_turn * d.motor[i] + d.phase[i]
        d.wind[i] = d.motor[i] + d.ripple * math.sin(turn) - q[i]
        rate = d.speed[i] * (1.0 + d.per_turn * d.ripple * math.cos(turn)) - qd[i]
        spring = (1.0 - d.yielding) * d.stiffness[i] * d.wind[i] + d.slip[i] + d.damping[i] * rate
        speed, share = d.speed[i], 1.0
        k_p, k_d = d.k_p[i], d.k_d[i]
        if by_torque:
            k_p, k_d, share = 0.0, 0.0, d.torque_share
        inertia = d.rotor[i] / w.h + d.implicit[i]
        off = w.ref[i] - d.motor[i]
        pushed = inertia * speed + tau[i] + k_d * w.ref_d[i] + k_p * off - spring
        new = _with_friction(d, i, share, inertia + k_d + w.h * k_p, pushed)
        drives = tau[i] + k_d * (w.ref_d[i] - new) + k_p * (off - w.h * new)
        if abs(drives) > w.tau_max[i]:
            drives = math.copysign(w.tau_max[i], drives)
            new = _with_friction(d, i, share, inertia, inertia * speed + drives - spring)
        w.tau[i] = drives
        d.held[i] = 1 if new == 0.0 and d.coulomb[i] > 0.0 else 0
        d.change[i], d.before[i] = new - speed, qd[i]
        d.friction[i] = drives - spring - inertia * d.change[i]
        tau[i] = d.torque[i] = spring + d.implicit[i] * d.change[i]


@kernel
def _with_friction(d, i, share, inertia, pushed):
    """The motor's next speed v: inertia v + friction(v) = pushed, where friction holds what it can."""
    level = d.coulomb[i]
    if d.static_ratio > 1.0:
        level *= 1.0 + (d.static_ratio - 1.0) * math.exp(-((d.speed[i] / d.stribeck) ** 2))
    level *= share
    if abs(pushed) <= level:
        return 0.0
    return (pushed - math.copysign(level, pushed)) / (inertia + share * d.viscous[i])


@kernel
def turn(w):
    """After MuJoCo's step: the links' part of the motors' change of speed, the new angles, the yielding spring."""
    d, qd, q = w.drive, floats(w.qvel, w.n), floats(w.qpos, w.n)
    for i in range(w.n):
        link = d.implicit[i] * (qd[i] - d.before[i])
        inertia = d.rotor[i] / w.h + d.implicit[i]
        d.speed[i] = 0.0 if d.held[i] != 0 else d.speed[i] + d.change[i] + link / inertia
        d.motor[i] += w.h * d.speed[i]
        d.torque[i] -= link if d.held[i] != 0 else link * (1.0 - d.implicit[i] / inertia)
        wind = d.motor[i] + d.ripple * math.sin(d.per_turn * d.motor[i] + d.phase[i]) - q[i]
        if d.yielding > 0.0:
            slip = d.slip[i] + d.yielding * d.stiffness[i] * (wind - d.wind[i])
            d.slip[i] = max(-d.yield_nm[i], min(d.yield_nm[i], slip))
        d.wind[i] = wind
