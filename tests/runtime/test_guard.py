"""A set that is not stable on the declared surfaces is refused: with the reason, before anything changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from pliant.errors import RejectedError
from pliant.params.declare import changed
from pliant.session.in_process.fast_run import simulate
from pliant.stability.guard import guard_change, guard_law, guard_start, objection
from pliant.stability.plant import plants_of
from pliant.stability.worst_case import places
from pliant.task.schema import Event, Task, is_mission, load_task
from pliant_experiments.scenes.contact_trial import SLOW, TOOL, judge, plane, run_contact
from pliant_experiments.scenes.contact_trial import task as contact_task

FILES = [Path(str(entry)) for entry in (resources.files("pliant") / "tasks").iterdir() if entry.is_file()]
SHIPPED = sorted(path.stem for path in FILES if not is_mission(path))


def dome(**values: Any) -> Task:
    task = load_task("dome")
    return task.model_copy(update={"params": changed(task.params, values)})


@pytest.mark.parametrize("name", SHIPPED)
def test_every_task_that_comes_with_pliant_may_start(name: str) -> None:
    guard_start(load_task(name))


def test_a_lag_declared_too_short_is_refused_with_the_reason_and_the_actual_lag() -> None:
    task = dome()
    after = changed(task.params, {"contact.lag_s": 0.005})
    with pytest.raises(
        RejectedError, match=r"nothing has changed.*set it to the actual total lag, \S+ s\.$"
    ) as refused:
        guard_change(task, "contact", task.params, after)
    actual = float(str(refused.value).rsplit(", ", 1)[1].removesuffix(" s."))
    assert actual == pytest.approx(plants_of(task)(0.0).lag_s, rel=1e-2)
    guard_change(task, "contact", task.params, changed(task.params, {"contact.lag_s": actual}))


def test_a_change_that_goes_too_far_is_told_how_far_it_may_go() -> None:
    task = dome()
    after = changed(task.params, {"sense.cutoff_hz": 1.0})
    with pytest.raises(
        RejectedError, match=r"nothing has changed.*The lowest value accepted now is sense\.cutoff_hz = "
    ) as refused:
        guard_change(task, "contact", task.params, after)
    border = float(str(refused.value).rsplit("= ", 1)[1].rstrip("."))
    guard_change(task, "contact", task.params, changed(task.params, {"sense.cutoff_hz": 1.01 * border}))
    with pytest.raises(RejectedError):
        guard_change(task, "contact", task.params, changed(task.params, {"sense.cutoff_hz": 0.95 * border}))


def test_a_task_that_does_not_start_for_its_declared_lag_is_told_the_actual_one() -> None:
    with pytest.raises(RejectedError, match=r"gain margin of .*set it to the actual total lag, .*unchecked=True"):
        guard_start(dome(**{"contact.lag_s": 0.01}))


def test_what_the_law_does_not_hang_on_is_not_looked_at() -> None:
    task = dome(**{"contact.lag_s": 0.005})
    assert objection(task, task.params, "contact") is not None
    guard_change(task, "contact", task.params, changed(task.params, {"limits.linear_speed_m_s": 0.1}))
    guard_change(task, "hold", task.params, changed(task.params, {"contact.lag_s": 0.004}))


def test_a_bad_set_may_be_made_better_but_not_worse() -> None:
    bad = dome(**{"contact.lag_s": 0.005})
    guard_change(bad, "contact", bad.params, changed(bad.params, {"contact.lag_s": 0.008}))
    with pytest.raises(RejectedError):
        guard_change(bad, "contact", bad.params, changed(bad.params, {"contact.lag_s": 0.004}))


def test_a_slow_filter_that_nobody_declared_is_refused() -> None:
    # 145 ms of filter that contact.lag_s does not say: the first touch is far too hard
    task = dome()
    with pytest.raises(
        RejectedError, match=r"first touch of the stiffest surface .* speed × stiffness × lag: .* mm/s and 195 ms\.\)"
    ):
        guard_change(task, "contact", task.params, changed(task.params, {"sense.cutoff_hz": 1.0}))


def test_a_script_is_judged_before_it_starts() -> None:
    late = dome().model_copy(update={"events": (Event(at_s=2.5, set={"contact.lag_s": 0.004}),)})
    with pytest.raises(RejectedError, match=r"rejected from 2\.5 s on: .*To run it anyway: --unchecked"):
        guard_start(late)


def test_a_simulated_surface_stiffer_than_declared_is_judged_too() -> None:
    task = dome()
    stiff = task.sim.surfaces[0].model_copy(update={"stiffness_n_m": 3e6})
    on_it = task.model_copy(update={"sim": task.sim.model_copy(update={"surfaces": (stiff,)})})
    guard_start(task)
    with pytest.raises(RejectedError, match=r"3e\+06 N/m"):
        guard_start(on_it)


def test_driven_by_torque_the_lag_is_that_of_the_drive_loop() -> None:
    def lag(frequency_hz: float, interface: str) -> float:
        task = load_task("dome").model_copy(update={"interface": interface})
        return plants_of(task, changed(task.params, {"joint_loop.frequency_hz": frequency_hz}))(0.0).lag_s

    assert lag(5.0, "torque") - lag(10.0, "torque") == pytest.approx(1 / (math.pi * 5.0) - 1 / (math.pi * 10.0))
    assert lag(5.0, "position") == lag(10.0, "position")


def test_driven_by_torque_a_slower_drive_loop_is_judged() -> None:
    short = dome(**{"contact.lag_s": 0.05}).model_copy(update={"interface": "torque"})
    with pytest.raises(RejectedError, match=r"set it to the actual total lag, 0\.0577 s"):
        guard_start(short)
    task = dome(**{"contact.lag_s": 0.058}).model_copy(update={"interface": "torque"})
    guard_start(task)
    with pytest.raises(RejectedError, match=r"joint_loop\.frequency_hz = 1"):
        guard_change(task, "contact", task.params, changed(task.params, {"joint_loop.frequency_hz": 1.0}))


# ---- the admittance on a surface -----------------------------------------------------------------------------------


def following(stiffness: float) -> Task:
    """The preset that presses on a soft mat, on something else; nothing pushes it."""
    task = load_task("surface_following")
    surface = task.sim.surfaces[0].model_copy(update={"stiffness_n_m": stiffness})
    sim = task.sim.model_copy(update={"surfaces": (surface,), "pushes": ()})
    return task.model_copy(update={"sim": sim, "duration_s": 6.0})


def test_a_light_admittance_is_refused_on_a_stiff_surface_and_not_in_free_space() -> None:
    with pytest.raises(RejectedError, match=r"2e\+04 N/m, the admittance has a gain margin of 0\.0"):
        guard_start(following(2e4))
    guard_start(following(2e4).model_copy(update={"sim": load_task("push").sim}))


def test_a_surface_may_be_declared_for_a_robot_that_is_not_simulated() -> None:
    task = load_task("hand_guiding")
    guard_start(task)
    with pytest.raises(RejectedError, match=r"5e\+04 N/m"):
        guard_start(task.model_copy(update={"surface_n_m": 5e4}))


def test_a_direction_that_does_not_give_way_is_stable_on_everything() -> None:
    task = following(1e6)
    still = changed(task.params, {"admittance.axes": [True, True, False, False, False, False]})
    assert objection(task, task.params, "admittance") is not None
    assert objection(task.model_copy(update={"sim": flat_surface(task)}), still, "admittance") is None


def flat_surface(task: Task) -> Any:
    surface = task.sim.surfaces[0].model_copy(update={"rpy_deg": (0.0, 0.0, 0.0)})
    return task.sim.model_copy(update={"surfaces": (surface,)})


def test_changing_to_a_law_that_is_not_stable_is_refused() -> None:
    task = following(2e4)
    with pytest.raises(RejectedError, match="The law admittance is rejected"):
        guard_law(task, "admittance", task.params)
    guard_law(task, "hold", task.params)


# ---- the border that is predicted is the border that the simulator shows -------------------------------------------


def border(stands: Callable[[float], bool], low: float, high: float) -> float:
    """Where `stands` changes between two numbers."""
    for _ in range(20):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if stands(middle) == stands(low) else (low, middle)
    return low


def bears(task: Task, law: str) -> bool:
    return all(place.bears(1.0) for place in places(task, task.params, law))


def test_an_admittance_rests_just_inside_the_border_and_swings_outside() -> None:
    most = border(lambda stiffness: bears(following(stiffness), "admittance"), 1e2, 1e5)
    inside, outside = (
        simulate(following(share * most), unchecked=True).records["observed"]["pose"][-500:, 2].std()
        for share in (0.8, 1.5)
    )
    assert inside < 2e-4
    assert outside > 1e-3


def leaning(stiffness: float, damping: float, servo: float, mass: float, resists: float) -> Task:
    """A hand leans an admittance on a surface, more and more, and taps it once."""
    law = {
        "mass": [mass] * 3 + [0.5] * 3, "stiffness": [0.0] * 6, "damping_by": "value",
        "damping": [resists] * 3 + [40.0] * 3, "axes": [False, False, True, False, False, False],
    }  # fmt: skip
    surface = plane(stiffness, damping_n_s_m=damping)
    x, y, z = surface.position_m
    push = {"at_s": 0.2, "for_s": 10.0, "ramp_s": 1.5, "wrench": [0.0, 0.0, -25.0, 0.0, 0.0, 0.0]}
    tap = {"at_s": 2.5, "for_s": 0.05, "ramp_s": 0.0, "wrench": [0.0, 0.0, -15.0, 0.0, 0.0, 0.0]}
    return Task.model_validate(
        {
            "law": "admittance", "duration_s": 8.0, "tool": TOOL, "params": {"admittance": law},
            "sim": {"servo": {"bandwidth_hz": servo}, "sensor": {"noise_n": 0.02}, "pushes": [push, tap],
                    "surfaces": [surface.model_copy(update={"position_m": (x, y, z + 0.003), "friction": 0.0})]},
        }
    )  # fmt: skip


def swing(task: Task) -> float:
    """By how much the force on the surface swings at the end [N]; endless if the run ended in a fault."""
    run = simulate(task, unchecked=True)
    return math.inf if run.fault else float(run.records["state"]["wrench_lp"][-500:, 2].std())


def check_limit(damping: float, servo: float, mass: float, resists: float) -> None:
    """The simulated limit is between 0.85 and 1.3 times the predicted one."""

    def at(stiffness: float) -> Task:
        return leaning(stiffness, damping, servo, mass, resists)

    most = border(lambda stiffness: bears(at(stiffness), "admittance"), 1e2, 2e5)
    assert swing(at(0.85 * most)) < 1.0
    assert swing(at(1.3 * most)) > 3.0


@pytest.mark.parametrize(("damping", "servo", "mass", "resists"), [(0.0, 6.8, 2.0, 60.0)])
def test_the_predicted_limit_is_that_of_the_simulator(
    damping: float, servo: float, mass: float, resists: float
) -> None:
    check_limit(damping, servo, mass, resists)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.0, 20.0])
@pytest.mark.parametrize("servo", [6.8, 13.0])
@pytest.mark.parametrize("mass", [2.0, 10.0])
@pytest.mark.parametrize("resists", [60.0, 400.0])
def test_the_predicted_limit_is_that_of_the_simulator_over_damping_lag_and_mass(
    damping: float, servo: float, mass: float, resists: float
) -> None:
    check_limit(damping, servo, mass, resists)


def pressing(lag_s: float) -> Task:
    """A careful approach to 10⁵ N/m with a total lag of 50 ms, of which `lag_s` is declared."""
    values = {"dwell_s": 60.0, "approach_m_s": 5e-4, "height_m": 0.0025, "stiffness_min_n_m": 9e4, "lag_s": lag_s}
    task = contact_task((plane(1e5),), SLOW, 0, 4.0)
    params = changed(task.params, {f"contact.{name}": value for name, value in values.items()})
    return task.model_copy(update={"params": params})


@pytest.mark.slow
def test_a_contact_settles_just_inside_the_border_swings_outside_and_bounces_further_out() -> None:
    least = border(lambda lag: bears(pressing(lag), "contact"), 0.003, 0.05)
    inside, outside, further = (run_contact(pressing(share * least)) for share in (1.3, 0.75, 0.5))
    assert judge(inside).losses == 0
    assert inside.normal_n[-500:].std() < 0.2
    assert outside.normal_n[-500:].std() > 1.0
    assert judge(further).losses > 0
    assert judge(further).peak_n > judge(outside).peak_n
