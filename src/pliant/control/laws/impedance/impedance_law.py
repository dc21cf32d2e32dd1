"""Impedance: joint torques make the tool move like a mass on a spring and a damper.

    M a + D v + K e = F            e = x - x_goal,   v and a relative to the moving goal
    q̈ = J⁻¹ (ẍ - J̇ q̇)             ẍ = a + ẍ_goal

`step` computes the joint accelerations; the torques follow from the arm's dynamics. The forces of spring and damper are
evaluated at the middle of the next step, so that the energy of the law balances exactly over whole steps (docs/laws).

J⁻¹ is the inverse with the least kinetic energy, damped near singularities:

    J⁻¹ = M_q⁻¹ Jᵀ Λ         Λ = (J M_q⁻¹ Jᵀ + λ² S)⁻¹         M_q the arm's joint mass matrix

The remaining motion, of a redundant joint or a direction lost near a singularity, follows the posture and its damping:

    q̈ = q̈₀ + J⁻¹ (ẍ - J̇ q̇ - J q̈₀)             q̈₀ = -k (q - q_posture) - d q̇

The simple form has no virtual mass and no inverse: τ = Jᵀ (F - D v - K e) acts on the arm's own inertia, solved for
the same middle of the step in the joints: (M_q + Jᵀ G J) q̈ = Jᵀ (F - D v - K (e + v dt/2)) + τ_open, where
G = D dt/2 + K dt²/4 and τ_open are the external joint torques.

The part of the joint accelerations that F and the spring cause is kept separately, to detect a spring that pulls harder
than the joints can follow.
"""

from __future__ import annotations

from pliant.control.laws.gain_change import advance_change, blend, refill
from pliant.kernel import fill, kernel, put
from pliant.records import JOINTS, MAX_JOINTS, Field, Layout
from pliant.solve import factor, factor_n, solve, solve_lower, solve_upper

SHAPED, SIMPLE = 0, 1

# Damping [1/s], at a singularity, of the joint motion that it hides from the tool: an elbow that swings through it
# unbraked comes out on the other side with energy that no spring has put in.
BRAKE = 50.0

# Delay [s] of drives that the simple form allows for: 4 ms, and the period. On a joint that is lighter than the damper
# allows with this delay, the law moves an inertia that is large enough.
WAITS = 0.006

_J = (MAX_JOINTS,)

MEMORY = Layout(
    "Impedance",
    (
        Field("led", "m, -", "pose of the smoothed goal, with which the law follows a jump of the goal", (7,)),
        Field("led_twist", "m/s, rad/s", "velocity of the smoothed goal, in the base frame", (6,)),
        Field("accel", "m/s^2, rad/s^2", "acceleration of the smoothed goal one tick ago", (6,)),
        Field("asked", "N, N m", "virtual push minus wrench goal, one tick ago", (6,)),
        Field("load", "N m", "joint torques of pushes, from the motion; beyond the measured wrench if used", JOINTS),
        Field("revision", "", "number of the parameter set one tick ago", kind="i8"),
    ),
)
"""What the law remembers from tick to tick."""

SCRATCH = Layout(
    "ImpedanceScratch",
    (
        Field("q", "rad", "joints at the middle of the next step", _J),
        Field("qd", "rad/s", "their velocities there", _J),
        # in, all in the law's axes, zero in directions that are not controlled
        Field("J", "m, -", "Jacobian", (6, *_J)),
        Field("Jdot_qd", "m/s^2, rad/s^2", "acceleration of the tool at zero joint acceleration", (6,)),
        Field("e", "m, rad", "pose error", (6,)),
        Field("v", "m/s, rad/s", "velocity relative to the goal", (6,)),
        Field("accel", "m/s^2, rad/s^2", "acceleration of the goal", (6,)),
        Field("F", "N, N m", "wrench that acts on the virtual mass", (6,)),
        Field("open", "N m", "joint torques that act and are not compensated", _J),
        Field("top", "rad/s^2", "joint accelerations available to the posture", _J),
        # out
        Field("qdd", "rad/s^2", "expected joint accelerations", _J),
        Field("pushed", "rad/s^2", "part of them caused by torques that are not compensated", _J),
        Field("pull", "rad/s^2", "part of them caused by F and the spring", _J),
        # scratch
        Field("M", "", "mass now", (6, 6)),
        Field("D", "", "damping now", (6, 6)),
        Field("K", "", "stiffness now", (6, 6)),
        Field("B", "", "G, or M + G and then its factor", (6, 6)),
        Field("H", "", "M_q + Jᵀ G J, then its factor", (*_J, *_J)),
        Field("L", "", "factor of the joint mass matrix", (*_J, *_J)),
        Field("Y", "", "L⁻¹ Jᵀ, column by column as rows", (6, *_J)),
        Field("A", "", "J M_q⁻¹ Jᵀ + λ² S, then its factor", (6, 6)),
        Field("b", "", "right-hand side", (6,)),
        Field("c", "", "part of it caused by F and the spring", (6,)),
        Field("a", "", "acceleration", (6,)),
        Field("f", "", "wrench of the joints at the tool", (6,)),
        Field("known", "rad/s^2", "joint accelerations caused by pushes in directions that are not controlled", _J),
        Field("rest", "rad/s^2", "joint accelerations towards the posture", _J),
        Field("tau", "N m", "compensation torques", _J),
        Field("drive", "N m", "driving torques", _J),
        Field("goal", "", "goal pose within reach", (7,)),
        Field("goal_twist", "", "its velocity", (6,)),
        Field(
            "pace",
            "",
            "speed and acceleration that the joints can follow: translation at 0 and 1, rotation at 3 and 4",
            (6,),
        ),
    ),
)


@kernel
def weigh(Mq, n, axes, damping, x):
    """Compute the factors of M_q and of Λ⁻¹, with `damping` λ² near a singularity."""
    factor_n(Mq, n, x.L)
    for i in range(6):
        put(x.Y[i], x.J[i])
        solve_lower(x.L, n, x.Y[i])
    linear, angular = 0.0, 0.0
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += x.Y[i, k] * x.Y[j, k]
            x.A[i, j] = total
        if i < 3:
            linear += x.A[i, i]
        else:
            angular += x.A[i, i]
    # S: how light the arm is on average, for shifts and turns apart
    for i in range(6):
        if axes[i] == 0:
            x.A[i, i] = 1.0
        else:
            x.A[i, i] += damping * (
                linear / (axes[0] + axes[1] + axes[2]) if i < 3 else angular / (axes[3] + axes[4] + axes[5])
            )
    factor(x.A)


@kernel
def _middle(M, D, K, dt, x):
    """B = M + G, and b = F - D v - K (e + v dt/2): the middle of the step as far as it is known; c = F - K e."""
    for i in range(6):
        pull, damper = x.F[i], 0.0
        for j in range(6):
            x.B[i, j] = M[i, j] + 0.5 * dt * (D[i, j] + 0.5 * dt * K[i, j])
            pull -= K[i, j] * x.e[j]
            damper += (D[i, j] + 0.5 * dt * K[i, j]) * x.v[j]
        x.c[i] = pull
        x.b[i] = pull - damper


@kernel
def _shape(M, D, K, n, dt, x):
    """a of M a = F - D v̄ - K ē, with speed v̄ = v + a dt/2 and stretch ē = e + v̄ dt/2 of the middle of the step."""
    _middle(M, D, K, dt, x)
    for j in range(6):
        more = 0.0  # what is not compensated moves the tool beyond a
        for k in range(n):
            more += x.J[j, k] * x.pushed[k]
        for i in range(6):
            x.b[i] -= (x.B[i, j] - M[i, j]) * more
    factor(x.B)
    solve(x.B, x.b, x.a)
    solve(x.B, x.c, x.b)
    spread(n, x, x.pull)
    for k in range(n):  # a spring that carries what is not compensated does not pull
        x.pull[k] += x.pushed[k]


@kernel
def spread(n, x, out):
    """Joint accelerations `out` = J⁻¹ b."""
    solve(x.A, x.b, x.f)
    for k in range(n):
        out[k] = 0.0
        for i in range(6):
            out[k] += x.J[i, k] * x.f[i]
    solve_lower(x.L, n, out)
    solve_upper(x.L, n, out)


@kernel
def _pull(Mq, n, dt, x):
    """Joint accelerations of the simple form in x.qdd. B holds G, b the wrench as far as it is known, c the pull."""
    for k in range(n):
        x.qdd[k] = x.pull[k] = x.open[k]
        for i in range(6):
            x.qdd[k] += x.J[i, k] * x.b[i]
            x.pull[k] += x.J[i, k] * x.c[i]
            x.Y[i, k] = 0.0
            for j in range(6):
                x.Y[i, k] += x.B[i, j] * x.J[j, k]
    for k in range(n):
        for m in range(k + 1):
            total = Mq[k, m]
            for i in range(6):
                total += x.J[i, k] * x.Y[i, m]
            x.H[k, m] = total
        # d T ≤ m / 2,   d = (H - M_q) / (dt/2)
        x.H[k, k] += max(0.0, 4.0 * WAITS / dt * (x.H[k, k] - Mq[k, k]) - x.H[k, k])
    factor_n(x.H, n, x.H)
    for joints in (x.qdd, x.pull):
        solve_lower(x.H, n, joints)
        solve_upper(x.H, n, joints)


@kernel
def _posture(p, q, qd, posture, n, lost, x):
    """q̈₀; as a direction is lost near a singularity, the joints that swing through it there are braked."""
    d, share = p.posture_damping + BRAKE * lost, 1.0
    for k in range(n):
        far = p.posture_stiffness * abs(q[k] - posture[k])
        if far * share > x.top[k]:
            share = x.top[k] / far
    for k in range(n):
        x.rest[k] = -share * p.posture_stiffness * (q[k] - posture[k]) - d * qd[k]


@kernel
def _project(p, n, x):
    """Add to x.qdd what the inverse makes of the law's acceleration, and the posture where it leaves room."""
    for i in range(6):
        total = x.accel[i]
        if p.form == SHAPED:
            total += x.a[i] - (x.Jdot_qd[i] if p.use_jdot != 0 else 0.0)
        for k in range(n):
            total -= x.J[i, k] * (x.rest[k] + x.known[k])
        x.b[i] = total
    spread(n, x, x.drive)
    for k in range(n):
        x.qdd[k] += x.drive[k] + x.rest[k] + x.known[k]
        x.pushed[k] += x.known[k]


@kernel
def feel_others(J, F, axes, n, x):
    """The joint accelerations that a push `F` causes in directions that are not controlled, without moving the tool."""
    fill(x.known, 0.0)
    for i in range(6):
        if axes[i] == 0 and F[i] != 0.0:
            for k in range(n):
                x.known[k] += J[i, k] * F[i]
    solve_lower(x.L, n, x.known)
    solve_upper(x.L, n, x.known)


@kernel
def step(p, g, s, Mq, q, qd, posture, n, spare, lost, dt, x):
    """Joint accelerations `x.qdd` [rad/s²] for the next dt [s], from the inputs in `x`.

    `x.pushed` is the part caused by torques that are not compensated, `x.pull` the part caused by F and the spring.

    Call `weigh` first. `Mq` is the joint mass matrix; `spare` is whether the arm is redundant; `lost` (0 to 1) is how
    near a singularity is.
    """
    if s.ramp < 1.0:
        advance_change(p, g, s, x.v, x.e, dt)
    blend(g.D0, g.D1, s.ramp, x.D)
    blend(g.K0, g.K1, s.ramp, x.K)
    put(x.pushed, x.open)
    solve_lower(x.L, n, x.pushed)
    solve_upper(x.L, n, x.pushed)
    if p.form == SHAPED:
        blend(g.M0, g.M1, s.ramp, x.M)
        _shape(x.M, x.D, x.K, n, dt, x)
        put(x.qdd, x.pushed)
    else:
        for i in range(6):
            fill(x.M[i], 0.0)
        _middle(x.M, x.D, x.K, dt, x)
        _pull(Mq, n, dt, x)
    refill(p, s, x.D, x.v, dt)
    fill(x.rest, 0.0)
    if spare:
        _posture(p, q, qd, posture, n, lost, x)
    _project(p, n, x)
