"""Find a surface, hold 5 N on it and slide along it; then read the force from the records."""

import numpy as np

import pliant

task = pliant.load_task("plane")
run = pliant.simulate(task)
contact = run.records["contact"]
sliding = contact["state"] == pliant.CONTACT_STATES.index("slide")
force, target = contact["force_n"][sliding], task.params.contact.target_n
rms = np.sqrt(np.mean((force - target) ** 2))
print(f"Target {target:g} N; {sliding.sum() * task.dt:.1f} s of sliding")
print(f"Mean {force.mean():.2f} N, RMS error {rms:.2f} N")
print("Ended as:", pliant.CONTACT_STATES[int(contact["state"][-1])])
print("Fault:", run.fault or "none")
