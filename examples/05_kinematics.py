"""Compute pose, Jacobian, mass matrix and gravity torques of an arm with a tool attached."""

import numpy as np

import pliant

np.set_printoptions(precision=3, suppress=True)
arm = pliant.Arm.load("ur5e", pliant.Tool(mass_kg=1.0, com_m=(0, 0, 0.05), tcp_m=(0, 0, 0.15)))
q = arm.q_home
print("tool at", arm.pose(q))
print("smallest singular value of J:", np.linalg.svd(arm.jacobian(q))[1].min().round(3))
print("gravity torques [N m]:", arm.bias(q, np.zeros(arm.n)))
print("diagonal of the mass matrix [kg m²]:", np.diag(arm.mass_matrix(q)))
