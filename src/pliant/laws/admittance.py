"""Admittance: a wrench at the tool moves a virtual mass, and the robot follows that mass.

    M a + D v + K e = F            e = x - x_goal,   v relative to the moving goal

Solved implicitly, so every allowed (M, D, K, dt) is stable: (M + dt D + dt² K) v⁺ = M v + dt (F - K e).
The compliant frame is the tool pose at the *commanded* joints. A limit on the command therefore also limits the virtual
mass: there is no windup, and the robot's lag does not enter the law.

Changed gains take effect over `ramp_s`, or more slowly if the energy tank does not cover them (see `change`).
"""

from __future__ import annotations

from pliant.kernel import kernel, put
from pliant.laws.change import advance_change, blend, refill
from pliant.records import Field, Layout
from pliant.solve import factor, solve

SCRATCH = Layout(
    "Admittance",
    (
        Field("M", "", "mass now", (6, 6)),
        Field("D", "", "damping now", (6, 6)),
        Field("K", "", "stiffness now", (6, 6)),
        Field("A", "", "M + dt D + dt² K, then its factor", (6, 6)),
        Field("b", "", "right-hand side", (6,)),
        Field("v", "", "velocity relative to the goal", (6,)),
    ),
)


@kernel
def _solve_step(M, D, K, F, e, dt, w):
    """v⁺ in w.v, from the equation above."""
    for i in range(6):
        total = dt * F[i]
        for j in range(6):
            w.A[i, j] = M[i, j] + dt * (D[i, j] + dt * K[i, j])
            total += M[i, j] * w.v[j] - dt * K[i, j] * e[j]
        w.b[i] = total
    factor(w.A)
    solve(w.A, w.b, w.v)


@kernel
def _settled_step(g, F, e, w):
    """The same for gains that are not changing: the inverse was worked out when they came into force."""
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += g.of_v[i, j] * w.v[j] + g.of_F[i, j] * F[j] - g.of_e[i, j] * e[j]
        w.b[i] = total
    put(w.v, w.b)


@kernel
def step(p, g, s, F, e, goal_twist, moved, still, dt, w):
    """Advance the velocity `s.twist` of the compliant frame by dt [s] under the wrench F [N, N m].

    `e` is the pose error; `moved` is the velocity relative to the goal after the limits of the last step, and only that
    refills the tank. All vectors are in the axes of the gains `g`. `still` is a speed [m/s, rad/s] below which a
    direction without a spring stops when nothing pushes.
    """
    for i in range(6):
        w.v[i] = s.twist[i] - goal_twist[i]
    if s.ramp < 1.0:
        blend(g.D0, g.D1, s.ramp, w.D)
        refill(p, s, w.D, moved, dt)  # by the damper that was there
        advance_change(p, g, s, w.v, e, dt)
    else:
        refill(p, s, g.D1, moved, dt)
    if s.ramp < 1.0:
        blend(g.M0, g.M1, s.ramp, w.M)
        blend(g.D0, g.D1, s.ramp, w.D)
        blend(g.K0, g.K1, s.ramp, w.K)
        _solve_step(w.M, w.D, w.K, F, e, dt, w)
    elif g.dt == dt:
        _settled_step(g, F, e, w)
    else:
        _solve_step(g.M1, g.D1, g.K1, F, e, dt, w)
    pushed, fast = False, False
    for i in range(6):
        pushed = pushed or F[i] != 0.0
        fast = fast or (g.free[i] != 0 and abs(w.v[i]) > still)
    for i in range(6):
        # no drift: without a spring and without a push, a crawl is rest. A push, however small, moves it again.
        if not pushed and not fast and g.free[i] != 0:
            w.v[i] = 0.0
        s.twist[i] = w.v[i] + goal_twist[i]
