"""Connect to a simulated arm, push it, and print how far it moves."""

import pliant

with pliant.connect("sim:ur5e", law="admittance") as arm:
    start = arm.pose
    arm.push([20, 0, 0], for_s=1.0)
    moved = (arm.wait(1.0).observed.pose - start)[:3] * 1000
    print(f"Under 20 N the tool moved by {moved.round(1)} mm.")
    print(f"Three seconds later it is {(arm.wait(3.0).observed.pose - start)[:3].round(4) * 1000} mm from its start.")
