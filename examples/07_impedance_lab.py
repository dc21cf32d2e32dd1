"""Push the lab's two-link arm on a virtual spring, move its equilibrium, and set one that is out of reach."""

import pliant

with pliant.Session(pliant.load_task("lab")) as arm:
    start = arm.wait(0.5).observed.pose[:2].copy()
    arm.virtual_push([10, 0, 0])
    print("10 N on 250 N/m:", 1e3 * (arm.wait(3.0).observed.pose[:2] - start), "mm")
    arm.virtual_push([0, 0, 0])

    arm.goal_position([1.1, 0.9])
    print("at the new equilibrium:", arm.wait(3.0).observed.pose[:2], "m")

    arm.goal_position([1.5, 1.5])
    print("as close as it gets to (1.5, 1.5):", arm.wait(3.0).observed.pose[:2], "m")
