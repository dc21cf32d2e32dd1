"""1000 rollouts: random goals and gains from one snapshot, and how fast the tool arrives."""

import time

import numpy as np

import pliant

ROLLOUTS, STEPS, EVERY = 1000, 150, 30
random = np.random.default_rng(0)
arm = pliant.Simulation(pliant.Task(law="admittance", duration_s=1.0))
arm.step(50)
start = arm.snapshot()
home = arm.state.goal.pose.copy()
stiffness, share = np.zeros(ROLLOUTS), np.zeros(ROLLOUTS)

began = time.perf_counter()
for i in range(ROLLOUTS):
    arm.restore(start)
    stiffness[i] = 10 ** random.uniform(2.0, 3.3)
    arm.set({"admittance.stiffness": stiffness[i], "admittance.ramp_s": 0.01})
    goal = home.copy()
    goal[:3] += random.uniform(-0.05, 0.05, 3)
    arm.goal_pose(goal)
    for _ in range(STEPS // EVERY):
        arm.step(EVERY)  # a policy would look at arm.state here
    moved = arm.state.observed.pose[:3] - home[:3]
    share[i] = np.linalg.norm(moved) / np.linalg.norm(goal[:3] - home[:3])
taken = time.perf_counter() - began

print(f"{ROLLOUTS} rollouts of {STEPS} steps in {taken:.1f} s: {ROLLOUTS * STEPS / taken:.0f} steps per second")
for name, chosen in (("soft", stiffness < 450), ("stiff", stiffness >= 450)):
    covered = 100 * np.median(share[chosen])
    print(f"{name:5} springs: {covered:.0f} % of the path covered after {STEPS * arm.task.dt:.1f} s (median)")
