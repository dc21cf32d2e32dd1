"""Admittance: a wrench at the tool moves a virtual mass, and the robot follows that mass.

    M a + D v + K e = F            e = x - x_goal,   v relative to the moving goal

Solved implicitly, so every allowed (M, D, K, dt) is stable: (M + dt D + dt² K) v⁺ = M v + dt (F - K e).
The compliant frame is the tool pose at the *commanded* joints. A limit on the command therefore also limits the virtual
mass: there is no windup, and the robot's lag does not enter the law.

Changed gains take effect over `ramp_s`, or more slowly if the energy tank does not cover them (see `change`).
"""

from __future__ import annotations

from pliant.control.axes import turn
from pliant.control.laws.admittance_stability import STABILITY
from pliant.control.laws.gain_change import advance_change, blend, refill
from pliant.control.laws.gains import target
from pliant.control.laws.goal_checks import overstretched
from pliant.control.laws.law import TOOL_VELOCITY, Law
from pliant.control.laws.law_panel import spring_panel
from pliant.control.sense.external_wrench import felt
from pliant.kernel import kernel, put, record_in
from pliant.records import FAULT_POSE_ERROR, Field, Layout
from pliant.solve import factor, solve
from pliant.spatial import pose_error

# Below this speed [m/s, rad/s] a tool without a spring is at rest once nothing pushes it.
STILL = 1e-3

SCRATCH = Layout(
    "AdmittanceScratch",
    (
        Field("M", "", "mass now", (6, 6)),
        Field("D", "", "damping now", (6, 6)),
        Field("K", "", "stiffness now", (6, 6)),
        Field("A", "", "M + dt D + dt² K, then its factor", (6, 6)),
        Field("b", "", "right-hand side", (6,)),
        Field("v", "", "velocity relative to the goal", (6,)),
        Field("e", "", "pose error, in the law's axes", (6,)),
        Field("F", "", "wrench that acts on the virtual mass, in the law's axes", (6,)),
        Field("goal_twist", "", "velocity of the goal, in the law's axes", (6,)),
        Field("moved", "", "velocity that the frame really had, relative to the goal, in the law's axes", (6,)),
    ),
)
_SCRATCH = SCRATCH.dtype


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


@kernel
def comply(h, p, s, g, w, dt):
    """Admittance: the velocity `s.twist` of the compliant frame, before any limit; the handle is at that frame."""
    x = record_in(w.scratch, _SCRATCH)
    felt(p, s, g, x.F)
    if s.set != p.gains.number:
        s.set = p.gains.number
        s.ramp = 0.0
    pose_error(s.pose, g.pose, x.e)
    put(x.goal_twist, g.twist)
    for i in range(6):
        # the mass rides on the goal: a goal that speeds up takes it along instead of leaving it behind by M a / K
        s.twist[i] += g.twist[i] - s.goal_twist[i]
        x.moved[i] = s.moved[i] - s.goal_twist[i]
        s.goal_twist[i] = g.twist[i]
    if p.admittance.frame == 1:
        for six in (s.twist, x.e, x.F, x.goal_twist, x.moved):
            turn(h.X_tool, six, True)
    _trip(p, s, x.e)
    for i in range(6):
        if p.admittance.axes[i] == 0:  # an axis that is not compliant does not feel
            x.F[i] = 0.0
    step(p.admittance, p.gains, s, x.F, x.e, x.goal_twist, x.moved, STILL, dt, x)
    if p.admittance.frame == 1:
        turn(h.X_tool, s.twist, False)


@kernel
def _trip(p, s, e):
    """A virtual spring that is stretched too far (`e` in the law's axes) is a fault: something is not as planned."""
    far, turned = 0.0, 0.0
    for i in range(3):
        if p.gains.free[i] == 0:
            far += e[i] * e[i]
        if p.gains.free[3 + i] == 0:
            turned += e[3 + i] * e[3 + i]
    if s.fault == 0 and (far > p.limits.pose_error_m**2 or turned > p.limits.pose_error_rad**2):
        s.fault = FAULT_POSE_ERROR


@kernel(separate=True)
def _step(h, p, s, r, g, c, o, w, dt):
    comply(h, p, s, g, w, dt)


@kernel(separate=True)
def _begin(h, p, s, r, g, c, o, w, dt):
    if s.tank_j < 0.0:
        s.tank_j = p.admittance.tank_j
    s.set = p.gains.number


LAW = Law(
    "admittance", 2, _step, TOOL_VELOCITY, section="admittance", begin=_begin, uses_goal=True,
    takes_wrench=True, matrices=("gains", target), trips=True, check_goal=overstretched, scratch=SCRATCH,
    stability=STABILITY, panel=spring_panel("admittance"),
)  # fmt: skip
