"""The predicted border of stability beside that of the simulator: with rigid joints, and with elastic gears."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.analysis.checks.contact_loop import loop_matrix
from pliant.control.laws.contact.contact_states import DWELL
from pliant.control.laws.registry import LAWS
from pliant.session.in_process.compiled_steps import TRUTH
from pliant.session.in_process.simulation import Simulation
from pliant.stability.plant import plant_of
from pliant.stability.pressed_loop import border, is_stable
from pliant.stability.worst_case import Loops
from pliant.stability.worst_case import _Pressed as Pressed
from pliant.task.schema import Task, arm_of, load_task
from pliant.world.world_config import Surface

TICKS, WINDOW = 3000, 500
# What the linear model leaves out: friction of the joints, and what only moves the zero of the sensor.
LINEAR: dict[str, Any] = {
    "friction": {"level": "ideal"}, "geometry": {"level": "ideal"}, "encoders": {"level": "ideal"},
    "gears": {"hysteresis_rad": 0.0, "ripple_rad": 0.0}, "packets": {"late_share": 0.0},
    "sensor": {"noise_n": 0.02, "noise_nm": 5e-4, "wander_n": 0.0, "drift_n_min": 0.0, "thermal_n": 0.0,
               "pose_zero_n": 0.0, "scale_error": 0.0},
}  # fmt: skip


def pressing(realism: str, stiffness: float) -> Task:
    """The dome's task on a surface of known stiffness that hardly damps; it dwells without an end."""
    task = load_task("dome").replace({
        "sim.realism": realism, "sim.effects": LINEAR if realism == "typical" else {"sensor": LINEAR["sensor"]},
        # in a narrow range, so that learning of the stiffness, in series with the gears', leaves the gain as it is
        "contact.stiffness_max_n_m": stiffness, "contact.stiffness_min_n_m": 0.99 * stiffness,
        "contact.dwell_s": 100.0, "contact.settle_s": 100.0, "contact.force_limit_n": 400.0, "contact.leash_m": 0.5,
        "contact.noise_n": 0.02,
    })  # fmt: skip
    surface = task.sim.surfaces[0].model_copy(update={"stiffness_n_m": stiffness, "damping_n_s_m": 0.0})
    return task.model_copy(update={"sim": task.sim.model_copy(update={"surfaces": (surface,)})})


def settles(task: Task, gain: float, stiffness: float) -> bool:
    """Whether the force settles with this gain [m/(N s)]: what swings falls, or is small."""
    arm = Simulation(task, unchecked=True)
    # beyond what the parameter allows
    arm.runner.controller.parameters[0].contact.margin = gain * stiffness * task.params.contact.lag_s
    truth = np.zeros((TICKS, TRUTH))
    contact = arm.advance(TICKS, truth)["contact"]
    force = truth[: len(contact), 3]
    early, late = np.ptp(force[-3 * WINDOW : -2 * WINDOW]), np.ptp(force[-WINDOW:])
    return bool(contact["state"][-1] == DWELL and contact["losses"][-1] == 0 and (late < 0.5 or late < 0.8 * early))


@pytest.mark.parametrize("realism", ["ideal", "typical"])
@pytest.mark.parametrize("stiffness", [5e3, 2e4])
def test_the_simulator_is_stable_below_the_predicted_gain_and_unstable_above(realism: str, stiffness: float) -> None:
    task = pressing(realism, stiffness)
    p, plant = task.params.contact, plant_of(task, stiffness=stiffness)
    assert (plant.arm is None) == (realism == "ideal")
    # the least damping that the simulator gives a surface
    damping = 0.1 * stiffness * task.sim.substep_s
    most = border(lambda gain: is_stable(loop_matrix(p, plant, stiffness, damping, gain, stiffness)), 1e-6, 1.0)
    assert settles(task, 0.8 * most, stiffness)
    assert not settles(task, 1.3 * most, stiffness)


def test_gears_let_a_heavy_tool_swing_on_a_soft_surface_and_rigid_joints_do_not() -> None:
    soft = 1000.0
    task = pressing("typical", soft)
    p = task.params.contact
    most = [
        border(lambda gain, plant=plant: is_stable(loop_matrix(p, plant, soft, 0.0, gain, soft)), 1e-6, 1.0)
        for plant in (plant_of(task, stiffness=soft), plant_of(pressing("ideal", soft), stiffness=soft))
    ]
    assert most[0] < 0.01 * most[1]
    # the law learns the swinging as damping, and lowers its gain: far beyond the border it cannot
    assert not settles(task, 15.0 * most[0], soft)
    assert settles(pressing("ideal", soft), 15.0 * most[0], soft)


def test_realism_makes_the_loop_slower_by_its_delays_and_the_sensors_low_pass() -> None:
    ideal, real = (plant_of(pressing(level, 2e4), stiffness=2e4) for level in ("ideal", "typical"))
    assert real.lag_s - ideal.lag_s == pytest.approx(0.003 + 0.002 + 1.0 / (2.0 * np.pi * 100.0), abs=1e-4)


def on_surface(arm: str, realism: str, stiffness: float) -> Task:
    """A contact that expects 1 to 3 kN/m, on a surface of another stiffness that hardly damps."""
    task = pressing(realism, 2e3).replace({"robot": f"sim:{arm}"})
    lag = plant_of(task).lag_s
    task = task.replace({"contact.stiffness_max_n_m": 3e3, "contact.stiffness_min_n_m": 1e3, "contact.lag_s": lag})
    model = arm_of(task)
    x, y, z = (float(part) for part in model.pose(model.q_home)[:3])
    plane = Surface(kind="plane", position_m=(x, y, z - 0.003), stiffness_n_m=stiffness, damping_n_s_m=0.0)
    return task.model_copy(update={"sim": task.sim.model_copy(update={"surfaces": (plane,)})})


@pytest.mark.slow
@pytest.mark.parametrize(("arm", "realism"), [("ur10e", "ideal"), ("ur3e", "ideal"), ("ur3e", "typical")])
def test_the_predicted_stiffness_border_is_never_beyond_that_of_the_simulator(arm: str, realism: str) -> None:
    task = on_surface(arm, realism, 2e3)
    law = LAWS["contact"]
    loops = Loops(task, task.params, law)
    into = next(iter(loops.surfaces(assume=False))).into

    def predicted(stiffness: float) -> bool:
        return loops.place(Pressed(stiffness, (0.1 * stiffness * task.sim.substep_s,), into)).bears(1.0)

    most = border(predicted, 2e3, 1e6)

    def simulated(stiffness: float) -> bool:
        own = on_surface(arm, realism, stiffness)
        gain = own.params.contact.margin / (stiffness * own.params.contact.lag_s)
        return settles(own, gain, stiffness)

    assert 5e3 < most < 5e4
    assert simulated(0.8 * most)
    assert not simulated(6.0 * most)
