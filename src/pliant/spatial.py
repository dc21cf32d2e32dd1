"""Rotations, poses and the difference of two poses.

Quaternions are wxyz and of unit norm. A pose X_AB, the pose of B in A, is [x, y, z, qw, qx, qy, qz]; adjacent letters
cancel: X_AC = X_AB X_BC. Six-vectors are [linear, angular]. Units are SI.

Every function writes its result into its last argument, which may be one of its inputs, and allocates nothing. NaN in
gives NaN out. `product`, `rotated` and the private functions work on scalars and return tuples, which compiled code
keeps in registers.
"""

import math

from pliant.kernel import kernel

# Squared lengths below this lose digits to underflow; sin θ/θ is 1 there to the last bit.
_TINY = 1e-280


# ---- scalars -------------------------------------------------------------------------------------------------------


@kernel
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def product(aw, ax, ay, az, bw, bx, by, bz):
    """The quaternion a ⊗ b, from numbers: see `quat_mul`."""
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
def rotated(w, x, y, z, a, b, c):
    """The vector (a, b, c) turned by a quaternion, from numbers: see `quat_rotate`."""
    # R v = v + w t + u × t,  t = 2 u × v,  u = (x, y, z)
    tx, ty, tz = _cross(2.0 * x, 2.0 * y, 2.0 * z, a, b, c)
    sx, sy, sz = _cross(x, y, z, tx, ty, tz)
    return a + w * tx + sx, b + w * ty + sy, c + w * tz + sz


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
    out[0], out[1], out[2], out[3] = product(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])


@kernel
def quat_rotate(q, v, out):
    """Rotate a vector: out = R v."""
    out[0], out[1], out[2] = rotated(q[0], q[1], q[2], q[3], v[0], v[1], v[2])


@kernel
def quat_rotate_inv(q, v, out):
    """Rotate a vector by the inverse rotation: out = Rᵀ v."""
    out[0], out[1], out[2] = rotated(q[0], -q[1], -q[2], -q[3], v[0], v[1], v[2])


@kernel
def quat_to_mat(q, R):
    """The 3x3 rotation matrix of a quaternion: R = I + 2 w [u]× + 2 [u]×²."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def mat_to_quat(R, q):
    """The quaternion with w ≥ 0 of a 3x3 rotation matrix: 4 w² = 1 + tr R, or by the largest component."""
    # 4 w² = 1 + tr R and 4 x² = 1 + 2 r00 - tr R (y, z alike) sum to 4: divide by the root of the largest, at least 1.
    r00, r01, r02 = R[0, 0], R[0, 1], R[0, 2]
    r10, r11, r12 = R[1, 0], R[1, 1], R[1, 2]
    r20, r21, r22 = R[2, 0], R[2, 1], R[2, 2]
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
    sign = -1.0 if w < 0.0 else 1.0
    q[0], q[1], q[2], q[3] = sign * w, sign * x, sign * y, sign * z


@kernel
def so3_exp(w, q):
    """The quaternion of a rotation vector [rad]: q = (cos θ/2, w sin(θ/2)/θ), θ = |w|."""
    q[0], q[1], q[2], q[3] = _exp(w[0], w[1], w[2])


# ---- poses ---------------------------------------------------------------------------------------------------------


@kernel
def pose_error(X_A, X_B, out):
    """The difference of pose A from pose B, in the base frame [m, rad]: out = [p_A - p_B, log(R_A R_Bᵀ)]."""
    w, x, y, z = product(X_A[3], X_A[4], X_A[5], X_A[6], X_B[3], -X_B[4], -X_B[5], -X_B[6])
    a, b, c = X_A[0] - X_B[0], X_A[1] - X_B[1], X_A[2] - X_B[2]
    out[3], out[4], out[5] = _log(w, x, y, z)
    out[0], out[1], out[2] = a, b, c


@kernel
def pose_integrate(X, V, dt, out):
    """Move a frame for dt [s] by its twist V (base frame, at its origin): out = (p + dt v, exp(dt ω) ⊗ q), |q| = 1."""
    ew, ex, ey, ez = _exp(dt * V[3], dt * V[4], dt * V[5])
    a, b, c = X[0] + dt * V[0], X[1] + dt * V[1], X[2] + dt * V[2]
    w, x, y, z = product(ew, ex, ey, ez, X[3], X[4], X[5], X[6])
    out[3], out[4], out[5], out[6] = _normalized(w, x, y, z)
    out[0], out[1], out[2] = a, b, c
