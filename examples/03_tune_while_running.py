"""Change parameters of a running loop. A change that is not allowed is rejected with a reason."""

import pliant

with pliant.connect("sim:ur5e", law="admittance") as arm:
    start = arm.pose
    for stiffness in (200, 400, 800):
        arm.set({"admittance.stiffness": [stiffness] * 3 + [20] * 3})
        arm.push([0, 0, -15], for_s=2.0)
        down = (arm.wait(1.9).observed.pose - start)[2] * 1000
        print(f"K = {stiffness} N/m: 15 N pushes the tool down by {-down:.1f} mm")
        arm.wait(1.5)
    try:
        arm.set({"admittance.mass": -1})
    except pliant.InputError as error:
        print("Rejected:", error)
