"""Find a surface, hold 5 N on it and slide along it; then read the force from the records."""

import numpy as np

import pliant
from pliant.contact.states import STATES
from pliant.runtime.task import find_task

task = find_task("plane")
run = pliant.simulate(task)
contact = run.records["state"]["contact"]
sliding = contact["state"] == STATES.index("slide")
force = contact["force_n"][sliding]
print(f"Target {task.params.contact.target_n:g} N; {sliding.sum() * task.dt:.1f} s of sliding")
print(f"Mean {force.mean():.2f} N, RMS error {np.sqrt(np.mean((force - task.params.contact.target_n) ** 2)):.2f} N")
print("Ended as:", STATES[int(contact["state"][-1])], "with fault:" if run.fault else "without a fault", run.fault)
