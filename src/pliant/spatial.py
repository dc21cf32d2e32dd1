"""Rotations, poses, and the transport of twists and wrenches between frames.

Quaternions are wxyz and of unit norm. A pose X_AB, the pose of B in A, is [x, y, z, qw, qx, qy, qz]; adjacent letters
cancel: X_AC = X_AB X_BC. Six-vectors are [linear, angular]. Units are SI.

Every function writes its result into its last argument, which may be one of its inputs, and allocates nothing. NaN in
gives NaN out. The private functions work on scalars and return tuples, which compiled code keeps in registers.
"""

import math

from pliant.kernel import kernel

# Squared lengths below this lose digits to underflow; sin θ/θ is 1 there to the last bit.
_TINY = 1e-280
# Squared angles [rad²] below this take the limit of the coefficients of [φ]×² in V and V⁻¹. Above it their closed forms
# cancel, but only as 1/θ² grows: multiplied by θ², the error stays at the last bit on both sides.
_SMALL = 1e-8


# ---- scalars -------------------------------------------------------------------------------------------------------


@kernel
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def _mul(aw, ax, ay, az, bw, bx, by, bz):
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@kernel
def _normalized(w, x, y, z):
    # A quaternion without a direction is an error that must stay visible: it becomes NaN, never the identity.
    n = math.sqrt(w * w + x * x + y * y + z * z)
    k = math.nan if n == 0.0 else 1.0 / n
    return w * k, x * k, y * k, z * k


@kernel
def _rotated(w, x, y, z, a, b, c):
    # R v = v + w t + u × t,  t = 2 u × v,  u = (x, y, z)
    tx, ty, tz = _cross(2.0 * x, 2.0 * y, 2.0 * z, a, b, c)
    sx, sy, sz = _cross(x, y, z, tx, ty, tz)
    return a + w * tx + sx, b + w * ty + sy, c + w * tz + sz


@kernel
def _matrix(w, x, y, z):
    """The nine entries of R, row by row."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def _quaternion(r00, r01, r02, r10, r11, r12, r20, r21, r22):
    # 4 w² = 1 + tr R and 4 x² = 1 + 2 r00 - tr R (y, z alike) sum to 4: divide by the root of the largest, at least 1.
    t = r00 + r11 + r22
    if t >= r00 and t >= r11 and t >= r22:
        w, x, y, z = 1.0 + t, r21 - r12, r02 - r20, r10 - r01
    elif r00 >= r11 and r00 >= r22:
        w, x, y, z = r21 - r12, 1.0 + r00 - r11 - r22, r01 + r10, r02 + r20
    elif r11 >= r22:
        w, x, y, z = r02 - r20, r01 + r10, 1.0 - r00 + r11 - r22, r12 + r21
    else:
        w, x, y, z = r10 - r01, r02 + r20, r12 + r21, 1.0 - r00 - r11 + r22
    # Here (w, x, y, z) is 4 q times the chosen component: only its direction matters.
    w, x, y, z = _normalized(w, x, y, z)
    if w < 0.0:
        return -w, -x, -y, -z
    return w, x, y, z


@kernel
def _half_sinc(t2):
    """The value of sin(θ/2)/θ for θ² = t2."""
    if t2 < _TINY:
        return 0.5
    t = math.sqrt(t2)
    return math.sin(0.5 * t) / t


@kernel
def _exp(x, y, z):
    # q = (cos θ/2, φ sin(θ/2)/θ),  θ = |φ|
    t2 = x * x + y * y + z * z
    k = _half_sinc(t2)
    return math.cos(0.5 * math.sqrt(t2)), k * x, k * y, k * z


@kernel
def _log(w, x, y, z):
    # φ = 2 atan2(s, w) u/s,  s = |u|,  of q or -q, whichever has w ≥ 0
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s2 = x * x + y * y + z * z
    if s2 < _TINY:
        k = 2.0 * w  # w is 1, or NaN
    else:
        s = math.sqrt(s2)
        k = 2.0 * math.atan2(s, w) / s
    return k * x, k * y, k * z


# ---- vectors and quaternions ---------------------------------------------------------------------------------------


@kernel
def cross(a, b, out):
    """The vector product: out = a × b."""
    out[0], out[1], out[2] = _cross(a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def quat_mul(a, b, out):
    """The rotation b followed by a: out = a ⊗ b, so that R_out = R_a R_b."""
    out[0], out[1], out[2], out[3] = _mul(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])


@kernel
def quat_conj(q, out):
    """The inverse rotation: out = (w, -x, -y, -z)."""
    out[0], out[1], out[2], out[3] = q[0], -q[1], -q[2], -q[3]


@kernel
def quat_normalize(q):
    """Bring a quaternion back to unit norm in place: q = q / |q|; the zero quaternion becomes NaN."""
    q[0], q[1], q[2], q[3] = _normalized(q[0], q[1], q[2], q[3])


@kernel
def quat_rotate(q, v, out):
    """Rotate a vector: out = R v."""
    out[0], out[1], out[2] = _rotated(q[0], q[1], q[2], q[3], v[0], v[1], v[2])


@kernel
def quat_rotate_inv(q, v, out):
    """Rotate a vector by the inverse rotation: out = Rᵀ v."""
    out[0], out[1], out[2] = _rotated(q[0], -q[1], -q[2], -q[3], v[0], v[1], v[2])


@kernel
def quat_to_mat(q, R):
    """The 3x3 rotation matrix of a quaternion: R = I + 2 w [u]× + 2 [u]×²."""
    r = _matrix(q[0], q[1], q[2], q[3])
    for i in range(3):
        for j in range(3):
            R[i, j] = r[3 * i + j]


@kernel
def mat_to_quat(R, q):
    """The quaternion with w ≥ 0 of a 3x3 rotation matrix: 4 w² = 1 + tr R, or by the largest component."""
    q[0], q[1], q[2], q[3] = _quaternion(
        R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2]
    )


@kernel
def mat9_to_quat(R9, q):
    """The quaternion with w ≥ 0 of a rotation matrix stored row by row in nine numbers, as MuJoCo's site_xmat."""
    q[0], q[1], q[2], q[3] = _quaternion(R9[0], R9[1], R9[2], R9[3], R9[4], R9[5], R9[6], R9[7], R9[8])


@kernel
def so3_exp(w, q):
    """The quaternion of a rotation vector [rad]: q = (cos θ/2, w sin(θ/2)/θ), θ = |w|."""
    q[0], q[1], q[2], q[3] = _exp(w[0], w[1], w[2])


@kernel
def so3_log(q, w):
    """The shortest rotation vector [rad] of q or -q, which agree below π: w = 2 atan2(|u|, qw) u/|u|, |w| ≤ π."""
    w[0], w[1], w[2] = _log(q[0], q[1], q[2], q[3])


@kernel
def rotation_error(q_a, q_b, out):
    """The rotation vector [rad], in the common base axes, that turns b into a: out = log(R_a R_bᵀ)."""
    w, x, y, z = _mul(q_a[0], q_a[1], q_a[2], q_a[3], q_b[0], -q_b[1], -q_b[2], -q_b[3])
    out[0], out[1], out[2] = _log(w, x, y, z)


# ---- poses ---------------------------------------------------------------------------------------------------------


@kernel
def pose_mul(X_AB, X_BC, out):
    """Chain two poses: X_AC = X_AB X_BC, that is p_AC = p_AB + R_AB p_BC, q_AC = q_AB ⊗ q_BC."""
    w, x, y, z = X_AB[3], X_AB[4], X_AB[5], X_AB[6]
    a, b, c = _rotated(w, x, y, z, X_BC[0], X_BC[1], X_BC[2])
    a, b, c = X_AB[0] + a, X_AB[1] + b, X_AB[2] + c
    out[3], out[4], out[5], out[6] = _mul(w, x, y, z, X_BC[3], X_BC[4], X_BC[5], X_BC[6])
    out[0], out[1], out[2] = a, b, c


@kernel
def pose_inv(X_AB, out):
    """The inverse pose: X_BA = (-R_ABᵀ p_AB, conj q_AB)."""
    w, x, y, z = X_AB[3], -X_AB[4], -X_AB[5], -X_AB[6]
    a, b, c = _rotated(w, x, y, z, X_AB[0], X_AB[1], X_AB[2])
    out[0], out[1], out[2] = -a, -b, -c
    out[3], out[4], out[5], out[6] = w, x, y, z


@kernel
def pose_apply(X_AB, p_B, out):
    """Express a point of B in A: p_A = p_AB + R_AB p_B."""
    a, b, c = _rotated(X_AB[3], X_AB[4], X_AB[5], X_AB[6], p_B[0], p_B[1], p_B[2])
    out[0], out[1], out[2] = X_AB[0] + a, X_AB[1] + b, X_AB[2] + c


@kernel
def se3_exp(xi, out):
    """The pose that a constant body twist xi = [ρ, φ] reaches in unit time: out = (V ρ, exp φ).

    V = I + (1 - cos θ)/θ² [φ]× + (θ - sin θ)/θ³ [φ]×²,  θ = |φ|
    """
    rx, ry, rz, x, y, z = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    t2 = x * x + y * y + z * z
    k = _half_sinc(t2)
    b = 2.0 * k * k  # (1 - cos θ)/θ² without the cancellation
    if t2 < _SMALL:
        c = 1.0 / 6.0
    else:
        t = math.sqrt(t2)
        c = (t - math.sin(t)) / (t2 * t)
    ax, ay, az = _cross(x, y, z, rx, ry, rz)
    bx, by, bz = _cross(x, y, z, ax, ay, az)
    out[0], out[1], out[2] = rx + b * ax + c * bx, ry + b * ay + c * by, rz + b * az + c * bz
    out[3], out[4], out[5], out[6] = _exp(x, y, z)


@kernel
def se3_log(X, out):
    """The body twist xi = [ρ, φ] with |φ| ≤ π that reaches a pose in unit time: φ = log q, ρ = V⁻¹ p.

    V⁻¹ = I - 1/2 [φ]× + (1 - θ/2 cot(θ/2))/θ² [φ]×²,  θ = |φ|
    """
    px, py, pz = X[0], X[1], X[2]
    x, y, z = _log(X[3], X[4], X[5], X[6])
    t2 = x * x + y * y + z * z
    if t2 < _SMALL:
        d = 1.0 / 12.0
    else:
        h = 0.5 * math.sqrt(t2)
        d = (1.0 - h * math.cos(h) / math.sin(h)) / t2
    ax, ay, az = _cross(x, y, z, px, py, pz)
    bx, by, bz = _cross(x, y, z, ax, ay, az)
    out[0], out[1], out[2] = px - 0.5 * ax + d * bx, py - 0.5 * ay + d * by, pz - 0.5 * az + d * bz
    out[3], out[4], out[5] = x, y, z


@kernel
def pose_error(X_A, X_B, out):
    """The difference of pose A from pose B, in the base frame [m, rad]: out = [p_A - p_B, log(R_A R_Bᵀ)]."""
    w, x, y, z = _mul(X_A[3], X_A[4], X_A[5], X_A[6], X_B[3], -X_B[4], -X_B[5], -X_B[6])
    a, b, c = X_A[0] - X_B[0], X_A[1] - X_B[1], X_A[2] - X_B[2]
    out[3], out[4], out[5] = _log(w, x, y, z)
    out[0], out[1], out[2] = a, b, c


@kernel
def pose_integrate(X, V, dt, out):
    """Move a frame for dt [s] by its twist V (base frame, at its origin): out = (p + dt v, exp(dt ω) ⊗ q), |q| = 1."""
    ew, ex, ey, ez = _exp(dt * V[3], dt * V[4], dt * V[5])
    a, b, c = X[0] + dt * V[0], X[1] + dt * V[1], X[2] + dt * V[2]
    w, x, y, z = _mul(ew, ex, ey, ez, X[3], X[4], X[5], X[6])
    out[3], out[4], out[5], out[6] = _normalized(w, x, y, z)
    out[0], out[1], out[2] = a, b, c


# ---- twists and wrenches -------------------------------------------------------------------------------------------


@kernel
def adjoint(X_AB, Ad):
    """The 6x6 matrix that takes the twist of a rigid body from B to A: V_A = Ad V_B, Ad = [[R, [p]× R], [0, R]]."""
    r = _matrix(X_AB[3], X_AB[4], X_AB[5], X_AB[6])
    px, py, pz = X_AB[0], X_AB[1], X_AB[2]
    for j in range(3):
        x, y, z = r[j], r[3 + j], r[6 + j]
        Ad[0, j], Ad[1, j], Ad[2, j] = x, y, z
        Ad[3, j], Ad[4, j], Ad[5, j] = 0.0, 0.0, 0.0
        Ad[0, 3 + j], Ad[1, 3 + j], Ad[2, 3 + j] = _cross(px, py, pz, x, y, z)
        Ad[3, 3 + j], Ad[4, 3 + j], Ad[5, 3 + j] = x, y, z


@kernel
def transport_twist(X_AB, V_B, out):
    """The twist of the same rigid body at the origin and in the axes of A: ω_A = R ω_B, v_A = R v_B + p × ω_A."""
    w, x, y, z = X_AB[3], X_AB[4], X_AB[5], X_AB[6]
    ax, ay, az = _rotated(w, x, y, z, V_B[3], V_B[4], V_B[5])
    lx, ly, lz = _rotated(w, x, y, z, V_B[0], V_B[1], V_B[2])
    cx, cy, cz = _cross(X_AB[0], X_AB[1], X_AB[2], ax, ay, az)
    out[0], out[1], out[2], out[3], out[4], out[5] = lx + cx, ly + cy, lz + cz, ax, ay, az


@kernel
def transport_wrench(X_AB, w_B, out):
    """The same wrench at the origin and in the axes of A: f_A = R f_B, τ_A = R τ_B + p × f_A; power is unchanged.

    At a distant origin, such as the arm's base, a pure force gets the moment of its lever arm, and a compliance law
    there would turn the tool. Therefore the compliance point is the tool.
    """
    w, x, y, z = X_AB[3], X_AB[4], X_AB[5], X_AB[6]
    fx, fy, fz = _rotated(w, x, y, z, w_B[0], w_B[1], w_B[2])
    mx, my, mz = _rotated(w, x, y, z, w_B[3], w_B[4], w_B[5])
    cx, cy, cz = _cross(X_AB[0], X_AB[1], X_AB[2], fx, fy, fz)
    out[0], out[1], out[2], out[3], out[4], out[5] = fx, fy, fz, mx + cx, my + cy, mz + cz
