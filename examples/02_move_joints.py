"""Move the joints to a goal, and read the motion as NumPy arrays."""

import numpy as np

import pliant

with pliant.connect("sim:ur10e") as arm:
    goal = arm.q + np.array([0.3, -0.2, 0.2, 0.0, 0.1, 0.5])
    arm.move_joints(goal)
    while np.abs(arm.q - goal).max() > 1e-3:
        arm.wait(0.1)
    records = arm.read()
    print(f"{len(records)} ticks; fastest joint: {np.abs(records['reading']['qd']).max():.2f} rad/s")
    print(f"Joints are within {np.abs(arm.q - goal).max() * 1e3:.2f} mrad of the goal.")
