"""Plan a path around a wall for a mobile base, and follow it."""

import math

import numpy as np

from pliant.mobile import HybridAStar, KinematicBase, PathFollower, grid_of

walls = np.zeros((60, 100), bool)  # 10 × 6 m, cells of 0.1 m
walls[20:, 50:52] = True
start, goal = (2.0, 4.0, 0.0), (8.0, 4.0, math.pi / 2)

path = HybridAStar(grid_of(walls, resolution_m=0.1)).plan(start, goal).path
print(f"{path.length_m:.2f} m, {path.cusps} changes of direction")

follower, base = PathFollower(path), KinematicBase(start)
while not follower.done:
    pose, v, omega, age_s = base.odometry()
    twist = follower.update(pose, v, omega, age_s=age_s, dt=0.02)
    base.command(twist.v, twist.omega)
    base.advance(0.02)
print(f"{1e3 * math.dist(base.pose[:2], goal[:2]):.1f} mm from the goal")
