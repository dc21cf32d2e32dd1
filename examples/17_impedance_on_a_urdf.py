"""Impedance control of a seven-joint arm from a URDF: push it, stiffen the spring, and push again."""

from pathlib import Path

import pliant

URDF = Path(__file__).with_name("seven_joint_arm.urdf")
task = pliant.Task.model_validate(
    {
        "robot": f"sim:{URDF}",
        "law": "impedance",
        "interface": "torque",
        "rate_hz": 1000,
        "params": {"impedance": {"stiffness": [400, 400, 400, 20, 20, 20]}},
    }
)
arm = pliant.Simulation(task)
print(arm.arm.joint_names, "tool at", arm.pose[:3].round(3))
for stiffness in (400, 800):
    arm.set({"impedance.stiffness": [stiffness] * 3 + [20] * 3})
    arm.wait(1.0)
    start = arm.pose[:3].copy()
    arm.push([0, 10, 0], for_s=3.0)
    arm.wait(3.0)
    print(f"10 N on {stiffness} N/m: the tool moves by {1e3 * (arm.pose[:3] - start)[1]:.1f} mm")
    arm.wait(2.0)
