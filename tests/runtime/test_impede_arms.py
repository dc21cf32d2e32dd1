"""The torque law on well-known arms: dry friction, light wrists, errors of the force sensor, faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.analysis.doctor import examine
from pliant.session.in_process.fast_run import Run, simulate
from pliant.task.schema import Task
from support.seven_axis_arms import BENT, seven_axis_arm

Array = np.ndarray[Any, Any]
TOOL = {"mass_kg": 0.8, "com_m": [0, 0, 0.06], "tcp_m": [0, 0, 0.15]}
STIFF = 200.0
# Dry friction of a joint, as a share of its largest torque, that the robot's own compensation has left.
FRICTION = 0.01


def task(folder: Path, arm: str, law: dict[str, Any], *, friction: float = 0.0, **more: Any) -> Task:
    robot: dict[str, Any] = {"robot": f"sim:{arm}"}
    if arm in BENT:
        robot = {"robot": f"sim:{seven_axis_arm(folder, arm, friction)}", "start_q": BENT[arm]}
    sense = more.pop("sense", {})
    return Task.model_validate(
        {
            "law": "impedance", "interface": "torque", "tool": TOOL, "params": {"impedance": law, "sense": sense},
            **robot, **more,
        }
    )  # fmt: skip


def speeds(run: Run) -> Array:
    return np.linalg.norm(run.records["observed"]["twist"][:, :3], axis=1)


# ---- friction ------------------------------------------------------------------------------------------------------


def deflection(folder: Path, arm: str, axis: int, **law: Any) -> float:
    """By how much 20 N move the tool along an axis, as a share of F/K."""
    push = {"at_s": 0.5, "for_s": 99.0, "wrench": [20.0 * (i == axis) for i in range(6)]}
    run = simulate(
        task(
            folder, arm, {"stiffness": [STIFF] * 3 + [20.0] * 3, **law}, friction=FRICTION, duration_s=6.0,
            sense={"deadband_n": 0.0, "deadband_nm": 0.0}, sim={"pushes": [push]},
        )
    )  # fmt: skip
    assert run.fault == ""
    place = run.records["observed"]["pose"][:, axis]
    return float((place[-500:].mean() - place[0]) / (20.0 / STIFF))


def test_the_observer_takes_dry_friction_off_the_spring(tmp_path: Path) -> None:
    assert deflection(tmp_path, "panda", 1) < 0.9
    assert deflection(tmp_path, "panda", 1, friction_observer=True) == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("form", ["shaped", "simple"])
@pytest.mark.parametrize("arm", ["panda", "iiwa"])
def test_the_deflection_is_force_over_stiffness_with_friction(tmp_path: Path, arm: str, form: str, axis: int) -> None:
    found = deflection(tmp_path, arm, axis, form=form, friction_observer=True)
    assert found == pytest.approx(1.0, abs=0.02)


# ---- light wrists --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["iiwa", "panda"])
def test_the_simple_form_does_not_quiver_on_a_light_wrist(tmp_path: Path, arm: str) -> None:
    law = {"form": "simple", "stiffness": [2000.0] * 3 + [200.0] * 3}
    hand = {"at_s": 0.3, "for_s": 0.2, "wrench": [10.0, 0.0, 5.0, 0.0, 0.5, 0.0]}
    run = simulate(task(tmp_path, arm, law, duration_s=3.0, sim={"pushes": [hand]}))
    assert run.fault == ""
    assert run.records["reading"]["qd"][-500:].std(axis=0).max() < 1e-3


# ---- errors of the force sensor ------------------------------------------------------------------------------------

BIASES = {"20 N along x": 0, "20 N along z": 2, "1 N m about y": 4, "1 N m about z": 5}


@pytest.mark.parametrize("observer", [False, True])
@pytest.mark.parametrize("which", BIASES)
def test_the_tool_keeps_its_speed_limit_under_a_sensor_offset(tmp_path: Path, which: str, observer: bool) -> None:
    axis = BIASES[which]
    bias = [0.0] * 6
    bias[axis] = 20.0 if axis < 3 else 1.0
    law = {"friction_observer": observer}
    run = simulate(task(tmp_path, "ur5e", law, duration_s=3.0, sim={"sensor": {"bias": bias}}))
    assert speeds(run).max() < 1.1 * run.task.params.limits.linear_speed_m_s


# ---- a change of stiffness under load ------------------------------------------------------------------------------


def test_a_gain_change_that_waits_for_energy_is_found_with_what_helps(tmp_path: Path) -> None:
    hand = {"at_s": 0.2, "for_s": 99.0, "wrench": [40.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    stiffer = {"at_s": 2.5, "set": {"impedance.stiffness": [2000.0] * 3 + [20.0] * 3}}
    law = {"stiffness": [STIFF] * 3 + [20.0] * 3}
    run = simulate(task(tmp_path, "ur5e", law, duration_s=6.0, events=[stiffer], sim={"pushes": [hand]}))
    path = tmp_path / "run.mcap"
    run.save(path)
    found = examine(path).named("gain change")
    assert found.severity == "warning"
    assert found.figure("completed") < 99.0
    assert "Take the load off" in found.remedy
    unloaded = task(tmp_path, "ur5e", law, duration_s=6.0, events=[stiffer])
    simulate(unloaded).save(path)
    assert examine(path).named("gain change").severity == "fine"
