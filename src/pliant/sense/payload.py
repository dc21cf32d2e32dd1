"""Mass, centre of mass and sensor bias from force readings at rest in several poses.

    f = m g_S + f_b              g_S: gravity in sensor axes
    τ = (m c) × g_S + τ_b        linear in m, m c, f_b and τ_b: one weighted least-squares problem of ten unknowns

With `find_mount`, the rotation of the sensor on the flange is found too: f - f_b = m R g_S is Procrustes' problem. A
result is returned with its covariance, and refused when the poses cannot tell or when no tool could be like that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import PliantError

Array = np.ndarray[Any, Any]

# What these do not fit is no tool: its centre farther from the sensor, or heavier, than anything a wrist carries.
MAX_COM_M = 0.6
MAX_CONDITION = 30.0
MAX_MASS_STD = 0.02
"""Largest relative standard deviation of the mass that still counts as knowing it."""
MAX_COM_STD_M = 0.005


class PayloadError(PliantError):
    """An identification that cannot be trusted: says why, and what to do."""


@dataclass(frozen=True)
class Payload:
    """What was identified. Vectors are in sensor axes from the sensor's origin."""

    mass_kg: float
    com_m: Array
    bias: Array
    """Offset of the six channels [N, N m]."""
    mount: Array
    """Rotation of the sensor against where the model says it is (3, 3); the identity unless it was asked for."""
    mass_std_kg: float
    com_std_m: Array
    bias_std: Array
    covariance: Array
    """Of (m, m c, f_b, τ_b): 10×10."""
    condition: float
    residual_n: float
    """Root mean square of what is left of the forces [N]."""
    residual_nm: float
    poses: int


def identify(wrenches: Array, gravity: Array, *, find_mount: bool = False) -> Payload:
    """Fit a payload to mean wrenches (n, 6) at rest and gravity in sensor axes (n, 3) [m/s²] in as many poses."""
    wrenches, gravity = np.asarray(wrenches, float), np.asarray(gravity, float)
    if len(wrenches) < 4:
        raise PayloadError(
            f"{len(wrenches)} poses are too few: at least 4 with clearly different orientation are needed."
        )
    if not (np.isfinite(wrenches).all() and np.isfinite(gravity).all()):
        raise PayloadError("A reading is not a finite number: the sensor must be good in every pose.")
    mount = _mount(wrenches[:, :3], gravity) if find_mount else np.eye(3)
    g = gravity @ mount.T
    A = _regressor(g)
    condition = _condition(A)
    if condition > MAX_CONDITION:
        raise PayloadError(
            f"The poses are too alike to tell weight from bias (condition number {condition:.0f}, at most "
            f"{MAX_CONDITION:.0f}): turn the wrist further between them."
        )
    b = wrenches.reshape(-1)
    theta, *_ = np.linalg.lstsq(A, b, rcond=None)
    left = (b - A @ theta).reshape(-1, 6)
    covariance = _covariance(A, left)
    return _payload(theta, covariance, condition, left, mount)


def check(found: Payload, *, max_mass_kg: float, max_residual_n: float = 1.0) -> None:
    """Raise `PayloadError` if no tool could be like that, or if it is not known well enough to be used."""
    distance = float(np.linalg.norm(found.com_m))
    if found.mass_kg <= 0.0:
        raise PayloadError(f"The mass came out as {found.mass_kg:.3f} kg: check the sign and the axes of the sensor.")
    if found.mass_kg > max_mass_kg:
        raise PayloadError(f"A mass of {found.mass_kg:.2f} kg is more than the arm can carry ({max_mass_kg:g} kg).")
    if found.residual_n > max_residual_n:
        raise PayloadError(
            f"The readings do not fit a rigid tool: {found.residual_n:.2f} N are left over (at most "
            f"{max_residual_n:g} N). Does something touch or pull the tool, or is the sensor turned on the flange "
            "(--mount)?"
        )
    if distance > MAX_COM_M:
        raise PayloadError(
            f"A centre of mass {distance:.2f} m away from the sensor (mass {found.mass_kg:.3f} kg) is no tool: at most "
            f"{MAX_COM_M:g} m is believed. The tool may be too light for this sensor, or a cable pulls at it."
        )
    if found.mass_std_kg > MAX_MASS_STD * found.mass_kg or found.com_std_m.max() > MAX_COM_STD_M:
        raise PayloadError(
            f"The result is too uncertain: mass {found.mass_kg:.3f} ± {found.mass_std_kg:.3f} kg, centre of mass ± "
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


def _covariance(A: Array, left: Array) -> Array:
    """Covariance of the estimate, with the noise of forces and moments taken from what is left over."""
    spare = max(1.0, left.size - 10.0) / left.size
    variance = np.repeat([(left[:, :3] ** 2).mean(), (left[:, 3:] ** 2).mean()], 3) / spare
    pinv = np.linalg.pinv(A)
    return pinv @ np.diag(np.tile(np.maximum(variance, 1e-30), len(left))) @ pinv.T


def _payload(theta: Array, covariance: Array, condition: float, left: Array, mount: Array) -> Payload:
    m, mc = float(theta[0]), theta[1:4]
    com = mc / m if m != 0.0 else np.full(3, np.inf)
    # δc = (δ(m c) - c δm) / m
    J = np.hstack([-com[:, None], np.eye(3)]) / m if m != 0.0 else np.full((3, 4), np.inf)
    com_variance = np.einsum("ij,jk,ik->i", J, covariance[:4, :4], J)
    return Payload(
        mass_kg=m,
        com_m=com,
        bias=theta[4:10].copy(),
        mount=mount,
        mass_std_kg=float(np.sqrt(covariance[0, 0])),
        com_std_m=np.sqrt(com_variance),
        bias_std=np.sqrt(np.diag(covariance)[4:10]),
        covariance=covariance,
        condition=condition,
        residual_n=float(np.sqrt((left[:, :3] ** 2).mean())),
        residual_nm=float(np.sqrt((left[:, 3:] ** 2).mean())),
        poses=len(left),
    )


def _mount(forces: Array, gravity: Array) -> Array:
    """The rotation R that best turns the changes of gravity into the changes of force (Kabsch)."""
    H = (gravity - gravity.mean(0)).T @ (forces - forces.mean(0))
    U, S, Vt = np.linalg.svd(H)
    if S[1] < 0.05 * S[0]:
        raise PayloadError("The poses turn the wrist about one axis only: the mount rotation needs two.")
    sign = np.sign(np.linalg.det(Vt.T @ U.T))
    return Vt.T @ np.diag([1.0, 1.0, sign]) @ U.T
