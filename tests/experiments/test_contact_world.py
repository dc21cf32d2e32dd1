"""Random contact scenes: each is the same for its seed and index, and is judged by the true force."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.analysis.targets import Outcome
from pliant.model.arm import Arm
from pliant.world.surface_kind import measured
from pliant_experiments.contact import contact_world
from pliant_experiments.contact.world_scenes import GAP_M, scene


def test_a_scene_follows_from_seed_and_index_alone() -> None:
    assert scene(3, 7) == scene(3, 7)
    assert scene(3, 7) != scene(4, 7)


def test_a_task_declares_ranges_around_the_truth() -> None:
    for index in range(40):
        one = scene(1, index)
        p, surface = one.task.params.contact, one.task.sim.surfaces[0]
        assert p.stiffness_min_n_m < surface.stiffness_n_m < p.stiffness_max_n_m
        assert p.slope_deg > one.tilt_deg
        assert p.lag_s >= one.lag_s
        filter_s = 1.0 / (2.0 * math.pi * one.task.params.sense.cutoff_hz)
        assert filter_s + one.task.dt + one.task.sim.servo.lag_s == pytest.approx(one.lag_s, abs=2e-3)


def test_the_surface_is_below_the_tip_with_the_tilt_of_the_scene() -> None:
    for index in range(40):
        one = scene(2, index)
        surface = one.task.sim.surfaces[0]
        arm = Arm.load(one.arm, one.task.tool)
        pose = arm.pose(np.array(one.task.start_q))
        w, x, y, z = pose[3:]
        axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        frame = Rotation.from_euler("xyz", surface.rpy_deg, degrees=True).as_matrix()
        where = frame.T @ (pose[:3] + GAP_M * axis - np.array(surface.position_m))
        distance, normal = measured(surface, where[None, :])
        assert distance[0] == pytest.approx(0.0, abs=1e-9)
        assert math.degrees(math.acos(-(frame @ normal[0]) @ axis)) == pytest.approx(one.tilt_deg, abs=1e-4)


@pytest.mark.slow
def test_scenes_are_judged_and_one_is_run_again_by_its_index() -> None:
    outcome = contact_world.run(0, lambda share: None, scenes=3)
    assert [row["index"] for row in outcome.table] == [0, 1, 2]
    assert json.loads(json.dumps(outcome.as_dict()))["table"][0]["peak_ratio"] > 0.9
    alone: Outcome = contact_world.run(0, lambda share: None, only=2)
    again = alone.table[0] | {"cpu_s": 0.0}
    assert again == outcome.table[2] | {"cpu_s": 0.0}
