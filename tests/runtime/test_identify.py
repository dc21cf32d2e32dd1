"""The arm weighs its own tool: by real moves of the simulated arm, and what was found makes the next run right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.identify.payload_fit import PayloadError, identify
from pliant.identify.payload_motion import (
    choose_poses,
    com_in_flange,
    gravity_in_sensor,
    identify_payload,
    most_kg,
    payload_settings,
    slowed,
    take_readings,
)
from pliant.model import Arm, Tool
from pliant.params.declare import validated
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task

BIAS = (4.0, -6.0, 9.0, 0.3, -0.2, 0.1)
REAL: dict[str, Any] = {"mass_kg": 1.2, "com_m": (0.02, -0.03, 0.07), "tcp_m": (0.0, 0.0, 0.15)}
TURNED = (np.cos(0.25), 0.0, 0.0, np.sin(0.25))


def task(**sim: Any) -> Task:
    """An arm that carries a tool of which it knows nothing."""
    return validated(Task, {"tool": {"tcp_m": (0.0, 0.0, 0.15)},
                            "sim": {"seed": 3, "tool": REAL, "sensor": {"bias": BIAS}, **sim}})  # fmt: skip


def with_settings(before: Task, settings: dict[str, Any], **more: Any) -> Task:
    data = before.model_dump()
    for dotted, value in settings.items():
        *path, last = dotted.split(".")
        node = data
        for part in path:
            node = node[part]
        node[last] = value
    return validated(Task, {**data, **more})


def wrench_left(checked: Task) -> float:
    """Largest mean force or moment [N, N m] that the arm believes in, at rest at home and with a turned wrist."""
    goal = Arm.load("ur5e").q_home + np.array([0, 0, 0, 1.2, -0.8, 1.0])
    moved = with_settings(checked, {}, duration_s=6.0, events=({"at_s": 1.0, "goal_q": tuple(goal.tolist())},))
    wrench = simulate(moved).records["observed"]["wrench"]
    return float(max(np.abs(part.mean(axis=0)).max() for part in (wrench[:500], wrench[-500:])))


def test_mass_centre_and_bias_are_found_within_one_percent_and_two_millimetres() -> None:
    found = identify_payload(task(), fast=True)
    assert found.mass_kg == pytest.approx(1.2, rel=0.01)
    assert np.linalg.norm(com_in_flange(Tool(), found) - REAL["com_m"]) < 2e-3
    np.testing.assert_allclose(found.bias, BIAS, atol=0.05)
    assert found.condition < 5


def test_what_was_found_leaves_next_to_nothing_of_weight_and_bias_in_the_next_run() -> None:
    unknown = task()
    assert wrench_left(unknown) > 10.0
    assert (
        wrench_left(with_settings(unknown, payload_settings(unknown.tool, identify_payload(unknown, fast=True)))) < 0.05
    )


def test_a_mount_that_was_found_is_used_by_the_next_run() -> None:
    turned = task(tool={**REAL, "sensor_quat": TURNED})
    with pytest.raises(PayloadError, match="--mount"):
        identify_payload(turned, fast=True)
    settings = payload_settings(turned.tool, identify_payload(turned, find_mount=True, fast=True))
    assert abs(np.dot(settings["tool.sensor_quat"], TURNED)) == pytest.approx(1.0, abs=1e-5)
    assert wrench_left(with_settings(turned, settings)) < 0.05
    del settings["tool.sensor_quat"]
    assert wrench_left(with_settings(turned, settings)) > 1.0


def test_events_pushes_and_failures_of_the_task_are_left_out() -> None:
    script = {
        "sensor": {"bias": BIAS, "failures": [{"kind": "nan", "at_s": 0.2}]},
        "pushes": [{"at_s": 0.1, "for_s": 100.0, "wrench": [30, 0, 0, 0, 0, 0]}],
    }
    busy = with_settings(task(**script), {}, law="admittance", duration_s=0.5, events=({"at_s": 0.3, "stop": True},))
    assert identify_payload(busy, fast=True).mass_kg == pytest.approx(1.2, rel=0.01)
    assert slowed(busy).params.limits.speed_scale == 0.2
    assert slowed(busy).tool == busy.tool


def test_lost_readings_are_left_out_and_too_many_are_refused() -> None:
    sensor = {"bias": BIAS, "dropout": 0.02}
    assert identify_payload(task(sensor=sensor), 6, fast=True).mass_kg == pytest.approx(1.2, rel=0.01)
    often = with_settings(task(sensor=sensor | {"dropout": 0.3}), {"params.sense.hold_s": 0.5})
    with pytest.raises(InputError, match="of the force sensor's readings in pose"):
        identify_payload(often, 6, fast=True)


def test_heavier_than_the_arm_carries_is_refused() -> None:
    assert most_kg(Arm.load("ur5e")) == 5.0
    with pytest.raises(PayloadError, match=r"more than the arm can carry \(5 kg\)"):
        identify_payload(task(tool={"mass_kg": 6.0, "com_m": (0.0, 0.0, 0.05)}), 6, fast=True)


def test_a_wrist_that_hardly_turns_cannot_tell() -> None:
    readings = take_readings(task(), 6, fast=True, reach=0.01, average_s=0.1)
    with pytest.raises(PayloadError, match="too similar"):
        identify(readings.wrenches, readings.gravity)


@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur10e", "ur16e", "two_link"])
def test_the_poses_are_within_the_joint_ranges_and_turn_gravity_far(name: str) -> None:
    arm = Arm.load(name)
    poses = choose_poses(arm, np.array(arm.q_home), 6)
    assert poses.shape == (6, arm.n)
    assert np.all((poses > arm.q_min) & (poses < arm.q_max))
    down = np.array([gravity_in_sensor(arm, q) for q in poses]) / 9.81
    assert min(np.linalg.norm(a - b) for i, a in enumerate(down) for b in down[:i]) > 0.2


def test_more_poses_than_the_joints_allow_are_refused() -> None:
    arm = Arm.load("two_link")
    with pytest.raises(InputError, match="poses is 60, but it must be at most"):
        choose_poses(arm, np.array(arm.q_home), 60)


@pytest.mark.slow
def test_the_paced_loop_weighs_as_well_as_the_fast_one() -> None:
    readings = take_readings(task(), 4, reach=0.5, average_s=0.2)
    assert identify(readings.wrenches, readings.gravity).mass_kg == pytest.approx(1.2, rel=0.03)
