"""Identify mass, centre of mass and sensor offset of a tool: the arm rotates its wrist and measures at rest."""

import pliant
from pliant.identify import identify_payload, payload_settings

# the controller assumes a bare flange; the simulated arm carries a gripper, and its sensor has an offset
gripper = {"mass_kg": 1.2, "com_m": [0.02, -0.03, 0.07]}
task = pliant.Task.model_validate({"sim": {"tool": gripper, "sensor": {"bias": [4, -6, 9, 0.3, -0.2, 0.1]}}})
found = identify_payload(task, fast=True)
print(f"Mass {found.mass_kg:.4f} ± {found.mass_std_kg:.4f} kg, {found.residual_n:.3f} N residual per pose")
for name, value in payload_settings(task.tool, found).items():
    print(f"{name}: {value}")
