"""Admittance: a wrench at the tool moves a virtual mass, and the robot follows that mass.

    M a + D v + K e = F            e = x - x_goal,   v relative to the moving goal

Solved implicitly, so every admissible (M, D, K, dt) is stable: (M + dt D + dt² K) v⁺ = M v + dt (F - K e).
The compliant frame is the pose of the *commanded* joints: what the limits cut from the command is cut from the virtual
mass too, so nothing winds up behind a limit, and nothing depends on how far the robot lags behind its command.
"""

from __future__ import annotations

from pliant.kernel import kernel
from pliant.spatial import pose_error


@kernel
def step(p, s, F, goal_pose, goal_twist, dt, e):
    """Advance the velocity `s.twist` of the compliant frame by dt [s] under the wrench F [N, N m]; `e` is scratch."""
    pose_error(s.pose, goal_pose, e)
    for i in range(6):
        M, D, K = p.mass[i], p.damping[i], p.stiffness[i]
        v = s.twist[i] - goal_twist[i]
        # (M + dt D + dt² K) v⁺ = M v + dt (F - K e)
        v = (M * v + dt * (F[i] - K * e[i])) / (M + dt * D + dt * dt * K)
        s.twist[i] = v + goal_twist[i]
