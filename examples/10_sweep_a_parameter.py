"""Sweep a parameter: many simulations in threads, one compiled call each. The calls release Python's lock."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pliant

base = pliant.load_task("push")


def deflection_mm(stiffness_n_m: float) -> float:
    """Deflection of the tool under the task's push, on a spring of this stiffness."""
    run = pliant.simulate(base.replace({"admittance.stiffness": [stiffness_n_m] * 3 + [20] * 3}))
    pose = run.records["observed"]["pose"][:, :3]
    return float(np.linalg.norm(pose - pose[0], axis=1).max() * 1000)


stiffnesses = [100.0, 200.0, 400.0, 800.0]
with ThreadPoolExecutor() as pool:
    for stiffness, found in zip(stiffnesses, pool.map(deflection_mm, stiffnesses), strict=True):
        print(f"K = {stiffness:4.0f} N/m: the tool moves by {found:.1f} mm")
