"""Random contact scenes: each is the same for its seed and index, and is judged by the true force."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console
from scipy.spatial.transform import Rotation

from pliant.analysis.contact_figures import ContactFigures
from pliant.analysis.targets import Outcome
from pliant.cli.show import figures_table, verdict
from pliant.model.arm import Arm
from pliant.world.surface_kind import measured
from pliant_experiments.contact import contact_world
from pliant_experiments.contact.contact_world import AIMS, Result
from pliant_experiments.contact.world_scenes import GAP_M, scene

FINISHED = "finished within tolerance, or rejected for a reason"


def row(
    rms: float = 0.01, peak: float = 1.1, *, rejected: str = "", diagnosed: tuple[str, ...] = (), losses: int = 0
) -> Result:
    """A finished contact with these figures, relative to the target."""
    one = scene(1, 0)
    found = ContactFigures(peak * one.target_n, 0.2, losses, rms * one.target_n, 3.0, 0.04, ended=True)
    return Result(one, rejected, found, rms, 0.0, 0.0, diagnosed, "", 0.1)


def counted(rows: list[Result]) -> dict[str, float]:
    return {figure.name: figure.value for figure in contact_world.figures(rows, AIMS["ideal"])}


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


def test_a_run_off_its_tolerance_is_unfinished_and_a_lie_unless_the_check_and_the_doctor_said_so() -> None:
    sound, rough = row(), row(rms=0.2)
    foreseen = row(rms=0.2, rejected="too fast", diagnosed=("force error",))
    unexplained, needless = row(rms=0.2, rejected="too fast"), row(rejected="too fast")
    assert [one.lie for one in (sound, rough, foreseen, unexplained, needless)] == [False, True, False, True, False]
    found = counted([sound, rough, foreseen, unexplained, needless])
    assert found[FINISHED] == 60.0  # sound, and two that were rejected for a reason
    assert found["rejected"] == 60.0
    assert found["rejected unnecessarily"] == 20.0
    assert found["check predicted wrongly, or doctor found no cause"] == 40.0


def test_a_hard_touch_and_a_lost_contact_are_counted_among_accepted_runs_only() -> None:
    hard, lost = row(peak=5.0), row(losses=1)
    assert (hard.sound, lost.sound, hard.complete, lost.complete) == (False, False, True, True)
    found = counted([row(), hard, lost, row(losses=1, rejected="too fast", diagnosed=("lost contact",))])
    assert found["runs that lost contact, dived, or were left pressed"] == 1.0
    assert found["peak ≤ 1.5× target, of those finished"] == pytest.approx(200.0 / 3.0)
    assert found[FINISHED] == 100.0


def test_the_error_is_that_of_accepted_and_finished_runs() -> None:
    found = counted([row(rms=0.01), row(rms=0.02), row(rms=0.03), row(rms=0.9), row(rms=0.1, rejected="too fast")])
    assert found["control error while sliding, RMS / target, median"] == pytest.approx(2.0)
    assert found["control error while sliding, RMS / target, 95 %"] == pytest.approx(2.9)


def test_missed_targets_are_marked_in_the_table_and_named_below_it() -> None:
    figures = contact_world.figures([row(), row(rms=0.2)], AIMS["ideal"])
    text = io.StringIO()
    Console(file=text, width=160).print(figures_table(figures, "contact-world"))
    lines = {
        name: next(line for line in text.getvalue().splitlines() if name in line)
        for name in (FINISHED, "check predicted")
    }
    for line, value, target in ((lines[FINISHED], "50", "≥ 99.5"), (lines["check predicted"], "50", "≤ 0")):
        assert all(part in line for part in (value, target, "no"))
    assert verdict(figures).startswith(
        f"2 targets missed: {FINISHED}; check predicted wrongly, or doctor found no cause"
    )
    assert not Outcome("contact-world", 0, 0.0, figures).passed


@pytest.mark.slow
def test_scenes_are_judged_and_one_is_run_again_by_its_index() -> None:
    outcome = contact_world.run(0, lambda share: None, scenes=3)
    assert [row["index"] for row in outcome.table] == [0, 1, 2]
    assert json.loads(json.dumps(outcome.as_dict()))["table"][0]["peak_ratio"] > 0.9
    alone: Outcome = contact_world.run(0, lambda share: None, only=2)
    again = alone.table[0] | {"cpu_s": 0.0}
    assert again == outcome.table[2] | {"cpu_s": 0.0}
