"""Mass, centre of mass and sensor offset from force readings at rest in several poses.

    f = m g_S + f_b              g_S: gravity in the sensor frame
    τ = (m c) × g_S + τ_b        linear in m, m c, f_b and τ_b: least squares with ten unknowns

With `find_mount`, the rotation of the sensor on the flange is found too: g_S = exp(φ) R g, where R starts from the
changes of force alone (Kabsch) and is refined by Gauss-Newton steps with forces and moments, each weighted by its own
noise. A result comes with its covariance. It is rejected when the poses are too similar or no real tool could fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.spatial import quat_to_mat, so3_exp

Array = np.ndarray[Any, Any]

# Bounds of a plausible tool: distance of its centre from the sensor, and mass.
MAX_COM_M = 0.6
LEAST_POSES = 4
MAX_CONDITION = 30.0
MAX_MASS_STD = 0.02
"""Largest relative standard deviation of the mass at which the mass counts as known."""
MAX_COM_STD_M = 0.005
# Largest number of Gauss-Newton steps; the variance used for no noise [N², (N m)²].
_STEPS, _DUST = 20, 1e-24
_NOTHING_KG = 1e-9
# Masses below this are shown as 0.000 kg.
_LEAST_KG = 0.0005


class PayloadError(PliantError):
    """An identification that is not reliable; the message gives the reason and what to do."""


@dataclass(frozen=True)
class Payload:
    """An identified payload. Vectors are in the sensor frame from the sensor's origin."""

    mass_kg: float
    """Mass."""
    com_m: Array
    """Centre of mass."""
    bias: Array
    """Offset of the six channels [N, N m]."""
    mount: Array
    """Rotation of the sensor relative to the model (3, 3); the identity unless `find_mount` is set."""
    mass_std_kg: float
    """Standard deviation of the mass."""
    com_std_m: Array
    """Standard deviation of the centre of mass."""
    bias_std: Array
    """Standard deviation of the offset."""
    mount_std_rad: Array
    """About the three sensor axes; zero unless `find_mount` is set."""
    covariance: Array
    """Of (m, m c, f_b, τ_b), 10×10; with `find_mount` also of the mount's rotation vector, 13×13."""
    com_covariance_m2: Array
    """Of the centre of mass in the sensor axes of the model, including the uncertainty of the mount."""
    condition: float
    """Condition number of the fit; large if the poses were too similar."""
    residual_n: float
    """RMS of the force residual [N]."""
    residual_nm: float
    """RMS of the torque residual."""
    poses: int
    """Number of poses."""


def identify(wrenches: Array, gravity: Array, *, find_mount: bool = False) -> Payload:
    """Fit a payload to mean wrenches (n, 6) at rest and gravity in the sensor frame (n, 3) [m/s²] in as many poses."""
    wrenches, gravity = np.asarray(wrenches, float), np.asarray(gravity, float)
    if len(wrenches) < LEAST_POSES:
        raise PayloadError(
            f"{len(wrenches)} poses are too few. At least {LEAST_POSES} with clearly different orientations are needed."
        )
    if not (np.isfinite(wrenches).all() and np.isfinite(gravity).all()):
        raise PayloadError("A reading is not finite. The sensor must deliver valid readings in every pose.")
    mount = _mount_by_forces(wrenches[:, :3], gravity) if find_mount else np.eye(3)
    condition = _condition(_regressor(gravity @ mount.T))
    if condition > MAX_CONDITION:
        raise PayloadError(
            f"The poses are too similar to separate weight from offset (condition number {condition:.0f}, at most "
            f"{MAX_CONDITION:.0f}). Turn the wrist further between them."
        )
    if find_mount:
        mount = _improved(wrenches, gravity, mount)
    theta, left, columns = _fit(wrenches, gravity @ mount.T)
    if abs(theta[0]) < _NOTHING_KG:
        raise PayloadError("The sensor measures no weight. Check that it is connected and that a tool is mounted.")
    covariance = _covariance(columns if find_mount else columns[:, :10], left)
    return _payload(theta, covariance, condition, left, mount)


def check(found: Payload, *, max_mass_kg: float, max_residual_n: float = 1.0) -> None:
    """Raise `PayloadError` if the payload is not plausible or too uncertain to be used."""
    distance = float(np.linalg.norm(found.com_m))
    if abs(found.mass_kg) < _LEAST_KG:
        raise PayloadError(
            f"The identified mass is {abs(found.mass_kg):.3f} kg, too small to be a tool. Mount the tool, or check the "
            "sign and axes of the sensor."
        )
    if found.mass_kg < 0.0:
        raise PayloadError(f"The identified mass is {found.mass_kg:.3f} kg. Check the sign and axes of the sensor.")
    if found.mass_kg > max_mass_kg:
        raise PayloadError(f"A mass of {found.mass_kg:.2f} kg is more than the arm can carry ({max_mass_kg:g} kg).")
    if found.residual_n > max_residual_n:
        raise PayloadError(
            f"The readings do not fit a rigid tool: the residual is {found.residual_n:.2f} N (at most "
            f"{max_residual_n:g} N). Check whether something touches or pulls the tool, or whether the sensor is "
            "rotated on the flange (--mount)."
        )
    if distance > MAX_COM_M:
        raise PayloadError(
            f"The identified centre of mass is {distance:.2f} m from the sensor (mass {found.mass_kg:.3f} kg); at most "
            f"{MAX_COM_M:g} m is plausible. The tool may be too light for this sensor, or a cable pulls on it."
        )
    if found.mass_std_kg > MAX_MASS_STD * found.mass_kg or found.com_std_m.max() > MAX_COM_STD_M:
        raise PayloadError(
            f"The result is too uncertain: mass {found.mass_kg:.4f} ± {found.mass_std_kg:.4f} kg, centre of mass ± "
            f"{found.com_std_m.max() * 1e3:.1f} mm. Take more poses or longer averages."
        )


def _regressor(g: Array) -> Array:
    """The (6 n, 10) matrix that maps (m, m c, f_b, τ_b) to the wrenches."""
    A = np.zeros((len(g), 6, 10))
    A[:, 0:3, 0] = g
    A[:, 0:3, 4:7] = np.eye(3)
    # (m c) × g = -[g]× (m c)
    A[:, 3, 2], A[:, 3, 3] = g[:, 2], -g[:, 1]
    A[:, 4, 1], A[:, 4, 3] = -g[:, 2], g[:, 0]
    A[:, 5, 1], A[:, 5, 2] = g[:, 1], -g[:, 0]
    A[:, 3:6, 7:10] = np.eye(3)
    return A.reshape(-1, 10)


def _condition(A: Array) -> float:
    """Condition number with every column scaled to unit length, so that units do not count."""
    lengths = np.linalg.norm(A, axis=0)
    return float(np.linalg.cond(A / np.where(lengths > 0, lengths, 1.0)))


def _fit(wrenches: Array, g: Array) -> tuple[Array, Array, Array]:
    """(m, m c, f_b, τ_b), the residual of the readings (n, 6), and their derivatives by these and the mount."""
    A, b = _regressor(g), wrenches.reshape(-1)
    # forces determine m and f_b, moments m c and τ_b: they are independent, so no weights are needed
    theta = np.linalg.lstsq(A, b, rcond=None)[0]
    left = (b - A @ theta).reshape(-1, 6)
    # exp(φ) g = g + φ × g:   δf = m φ × g   δτ = (m c) × (φ × g)
    turned = np.zeros((len(g), 6, 3))
    for k, axis in enumerate(np.eye(3)):
        swept = np.cross(axis, g)
        turned[:, :3, k], turned[:, 3:, k] = theta[0] * swept, np.cross(theta[1:4], swept)
    return theta, left, np.hstack([A, turned.reshape(-1, 3)])


def _improved(wrenches: Array, gravity: Array, mount: Array) -> Array:
    """The mount that fits forces and moments best."""
    for _ in range(_STEPS):
        _, left, columns = _fit(wrenches, gravity @ mount.T)
        weight = 1.0 / np.sqrt(_variances(columns, left))
        step = np.linalg.lstsq(columns * weight[:, None], left.reshape(-1) * weight, rcond=None)[0]
        mount = _rotation(step[10:]) @ mount
        if np.abs(step[10:]).max() < 1e-12:
            break
    return mount


def _rotation(vector: Array) -> Array:
    """The rotation matrix of a rotation vector."""
    quat, R = np.zeros(4), np.zeros((3, 3))
    so3_exp(np.ascontiguousarray(vector), quat)
    quat_to_mat(quat, R)
    return R


def _variances(columns: Array, left: Array) -> Array:
    """Variance of every number in the readings, from the residuals of forces and of moments."""
    sizes = np.array([(left[:, :3] ** 2).sum(), (left[:, 3:] ** 2).sum()]) + _DUST
    # Each unknown uses up degrees of freedom of forces and moments: the traces of the two parts of the hat matrix. They
    # depend on the weights, which depend on them.
    variances, forces = sizes / (3 * len(left)), np.tile([True] * 3 + [False] * 3, len(left))
    for _ in range(3):
        weighted = columns / np.sqrt(np.where(forces, *variances))[:, None]
        taken = (weighted * np.linalg.pinv(weighted).T).sum(axis=1)
        free = np.array([(1 - taken)[forces].sum(), (1 - taken)[~forces].sum()])
        variances = sizes / np.maximum(free, 1.0)
    return np.where(forces, *variances)


def _covariance(columns: Array, left: Array) -> Array:
    """Covariance of the estimate, with the noise of forces and moments from the residuals."""
    weighted = columns / np.sqrt(_variances(columns, left))[:, None]
    inverse = np.linalg.pinv(weighted)
    return inverse @ inverse.T


def _payload(theta: Array, covariance: Array, condition: float, left: Array, mount: Array) -> Payload:
    m, mc = float(theta[0]), theta[1:4]
    com = mc / m
    # δc = (δ(m c) - c δm) / m, and seen from the model's axes exp(-φ) c:   δc + c × φ
    J = np.zeros((3, len(covariance)))
    J[:, :4] = np.hstack([-com[:, None], np.eye(3)]) / m
    com_covariance = J @ covariance @ J.T
    com_std = np.sqrt(np.diag(com_covariance))
    if len(covariance) > 10:
        J[:, 10:] = np.cross(com, np.eye(3)).T
        com_covariance = mount.T @ J @ covariance @ J.T @ mount
    std = np.sqrt(np.diag(covariance))
    return Payload(
        mass_kg=m,
        com_m=com,
        bias=theta[4:10].copy(),
        mount=mount,
        mass_std_kg=float(std[0]),
        com_std_m=com_std,
        bias_std=std[4:10],
        mount_std_rad=std[10:] if len(std) > 10 else np.zeros(3),
        covariance=covariance,
        com_covariance_m2=com_covariance,
        condition=condition,
        residual_n=float(np.sqrt((left[:, :3] ** 2).mean())),
        residual_nm=float(np.sqrt((left[:, 3:] ** 2).mean())),
        poses=len(left),
    )


def _mount_by_forces(forces: Array, gravity: Array) -> Array:
    """The rotation R that best turns the changes of gravity into the changes of force (Kabsch)."""
    H = (gravity - gravity.mean(0)).T @ (forces - forces.mean(0))
    U, S, Vt = np.linalg.svd(H)
    if S[1] < 0.05 * S[0]:
        raise PayloadError(
            "The poses turn the wrist about one axis only. Finding the sensor rotation (--mount) needs two axes."
        )
    sign = np.sign(np.linalg.det(Vt.T @ U.T))
    return Vt.T @ np.diag([1.0, 1.0, sign]) @ U.T
