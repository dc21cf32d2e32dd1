"""Forward kinematics of the e-Series against KDL (Debian's python3-pykdl, run by the system's Python)."""

from __future__ import annotations

import json
import math
import subprocess

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.model import Arm
from pliant.model.ur import ur_facts
from support.needs import SYSTEM_PYTHON, needs

PROGRAM = """
import json, sys
import PyKDL as kdl
task = json.load(sys.stdin)
chain = kdl.Chain()
for a, alpha, d in task["rows"]:
    chain.addSegment(kdl.Segment(kdl.Joint(kdl.Joint.RotZ), kdl.Frame.DH(a, alpha, d, 0.0)))
solver, result = kdl.ChainFkSolverPos_recursive(chain), []
for state in task["states"]:
    q, frame = kdl.JntArray(len(state)), kdl.Frame()
    for i, value in enumerate(state):
        q[i] = value
    solver.JntToCart(q, frame)
    result.append([[frame[i, j] for j in range(4)] for i in range(3)])
json.dump(result, sys.stdout)
"""


def kdl_poses(rows: list[tuple[float, float, float]], states: np.ndarray) -> np.ndarray:
    task = json.dumps({"rows": rows, "states": states.tolist()})
    run = subprocess.run([SYSTEM_PYTHON, "-c", PROGRAM], input=task, capture_output=True, text=True, check=True)
    return np.array(json.loads(run.stdout))


@needs("kdl")
@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur10e", "ur16e"])
def test_forward_kinematics_agrees(name: str) -> None:
    arm, f, quarter = Arm.load(name), ur_facts(name), math.pi / 2
    rows = [
        (0, quarter, f.d1),
        (f.a2, 0, 0),
        (f.a3, 0, 0),
        (0, quarter, f.d4),
        (0, -quarter, f.d5),
        (0, 0, f.d6),
    ]
    states = np.random.default_rng(3).uniform(arm.q_min, arm.q_max, (1000, 6))
    for q, expected in zip(states, kdl_poses(rows, states), strict=True):
        pose = arm.pose(q)
        np.testing.assert_allclose(pose[:3], expected[:, 3], rtol=0, atol=1e-9)
        R = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
        np.testing.assert_allclose(R, expected[:, :3], rtol=0, atol=1e-9)
