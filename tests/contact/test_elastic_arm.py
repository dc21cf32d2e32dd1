"""An arm that swings on its gears, and a sensor whose zero moves: what the law does about them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from point_robot import PointRobot

from pliant.analysis.checks.contact_loop import gain_margin
from pliant.control.laws.contact.contact_states import DONE, DWELL, FAULT, SLIDE, STILL
from pliant.model.arm import Arm
from pliant.stability.plant import plant_of
from pliant.stability.worst_case import DAMPINGS, LEAST_MARGIN
from pliant.task.schema import Task
from pliant.world.realism.effects_config import Effects
from pliant.world.realism.presets import sizes_for
from pliant.world.realism.specimen import resonance_hz
from pliant_experiments.scenes.contact_trial import QUICK, TOOL, contact_of, plane, run_contact, task

SOFT = 2e3


def soft_task(declared: float = 1.0, **contact: float) -> Task:
    """Press on something soft with an elastic arm, of whose natural frequency this share is declared."""
    what = task((plane(SOFT),), QUICK, 1, 6.0, stiffness_min_n_m=0.5 * SOFT, stiffness_max_n_m=2.0 * SOFT, **contact)
    arm = Arm.load("ur5e", TOOL)
    frequency = resonance_hz(arm, arm.q_home, sizes_for(arm, Effects(), "typical"))
    lag_s = what.params.contact.lag_s + 0.007  # packets and sensor
    return what.replace(
        {"sim.realism": "typical", "contact.resonance_hz": declared * frequency, "contact.lag_s": lag_s}
    )


def is_calm(what: Task) -> bool:
    """Whether the gain margin is large enough over the declared stiffnesses, on surfaces that hardly damp or do."""
    p, cases = what.params.contact, itertools.product((0.5 * SOFT, SOFT, 2.0 * SOFT), DAMPINGS)
    return all(gain_margin(p, plant_of(what, stiffness=k), k, d) >= LEAST_MARGIN for k, d in cases)


def test_the_lowest_natural_frequency_of_an_arm_is_that_published_for_such_arms_and_0_for_rigid_joints() -> None:
    arm = Arm.load("ur5e", TOOL)
    assert 9.0 < resonance_hz(arm, arm.q_home, sizes_for(arm, Effects(), "typical")) < 21.0
    assert resonance_hz(arm, arm.q_home, sizes_for(arm, Effects(), "ideal")) == 0.0


def test_an_arm_that_swings_is_stable_on_a_soft_surface_if_its_frequency_is_declared() -> None:
    assert not is_calm(soft_task(0.0))
    assert is_calm(soft_task(1.0))
    assert is_calm(soft_task(0.8))


@pytest.mark.parametrize("realism", ["ideal", "typical"])
def test_smoothing_the_force_does_not_change_what_is_learned_of_the_surface(realism: str) -> None:
    trace = run_contact(soft_task(dwell_s=60.0, settle_s=60.0).replace({"sim.realism": realism}))
    contact = contact_of(trace)
    assert contact["soft_s"][-1] > 0.02
    assert contact["stiffness"][-1] == pytest.approx(SOFT, rel=0.1)
    assert contact["force_n"][-500:] == pytest.approx(5.0, abs=0.25)


def lifted_with(offset_n: float, **contact: float) -> PointRobot:
    """A contact whose sensor's zero moves by `offset_n` while it presses, after its lift-off."""
    robot = PointRobot(2e4, dwell_s=60.0, settle_s=60.0, **contact).begin()
    robot.until(DWELL)
    robot.tick(300)
    robot.push[0] = offset_n
    robot.tick(100)
    robot.command("stop")
    robot.until(DONE, FAULT)
    return robot


def test_a_zero_that_moves_as_far_as_declared_is_no_force_after_the_lift_off() -> None:
    assert lifted_with(1.5, zero_n=2.0).contact.state == DONE
    robot = lifted_with(1.5)
    assert (robot.contact.state, robot.contact.reason) == (FAULT, STILL)


def test_static_errors_of_the_sensor_are_told_from_those_of_the_law() -> None:
    what = task((plane(2e4),), QUICK, 1, 8.0).replace({"sim.effects": {"sensor": {"scale_error": 0.06}}})
    trace = run_contact(what)
    assert trace.records is not None
    assert trace.static_n is not None
    pressed = trace.records["contact"]["state"] == SLIDE
    error = trace.normal_n[pressed] - 5.0
    added = trace.static_n[pressed]
    assert abs(float(np.mean(added))) > 0.05  # the sensor shows a share too much or too little
    assert float(np.mean(error + added)) == pytest.approx(0.0, abs=0.05)
