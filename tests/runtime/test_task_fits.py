"""What cannot be carried out on the task's arm is rejected before the start, with the reason and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from pliant.errors import InputError, PliantError, RejectedError
from pliant.mobile.mission.mission_task import begun, find_mission
from pliant.params.declare import validated
from pliant.task.schema import Task, arm_of, check_fits

TORQUE = {"law": "impedance", "interface": "torque"}
PLANAR = {
    **TORQUE,
    "robot": "sim:two_link",
    "params": {"impedance": {"axes": [True, True, False, False, False, False]}},
}


def fit(where: str = "", **data: Any) -> None:
    task = validated(Task, data, where)
    check_fits(task, arm_of(task), where=where)


def moved(*offset: float, at_s: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"at_s": at_s, "goal_offset_m": list(offset), **more}


# ---- goals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["sim:ur5e", "ur:192.168.0.3"])
def test_a_scripted_goal_that_would_stop_the_robot_at_once_is_rejected(robot: str) -> None:
    words = r"^events\[0\]: the goal is rejected.*8\.66 m apart.*0\.5 m \(limits\.pose_error_m\)"
    with pytest.raises(RejectedError, match=words):
        fit(robot=robot, law="admittance", events=[moved(5, 5, 5)])
    fit(robot=robot, law="admittance", events=[moved(0.3, 0.3, 0.2)])


def test_a_scripted_goal_counts_from_the_one_before_in_order_of_time() -> None:
    near, far = moved(0, 0, 0.4, at_s=1.0), moved(0, 0, 0.8, at_s=2.0)
    fit(law="admittance", events=[far, near])
    with pytest.raises(RejectedError, match=r"events\[1\]: the goal is rejected.*0\.80 m apart"):
        fit(law="admittance", events=[near, moved(0, 0, -0.4, at_s=3.0)])


@pytest.mark.parametrize("frame", ["base", "tool"])
def test_where_no_spring_pulls_a_scripted_goal_may_be_far(frame: str) -> None:
    def params(*stiffness: float) -> dict[str, Any]:
        return {"admittance": {"frame": frame, "stiffness": [*stiffness, 20, 20, 20]}}

    fit(law="admittance", params=params(0, 0, 0), events=[moved(0, 0, 9)])
    fit(law="admittance", params=params(200, 200, 0), events=[moved(0, 0, 9)])  # the tool points straight down
    with pytest.raises(RejectedError, match=r"9\.00 m apart"):
        fit(law="admittance", params=params(0, 0, 200), events=[moved(0, 0, 9)])


def test_a_scripted_goal_after_a_joint_goal_or_a_contact_is_not_judged_by_where_the_tool_was() -> None:
    joints = {"at_s": 0.5, "goal_q": [0.4, -1.4, 1.7, -1.9, -1.5, 0.3]}
    fit(law="hold", events=[joints, moved(0.6, 0, 0, law="admittance")])
    fit(law="contact", events=[moved(0.6, 0, 0, law="admittance")])


@pytest.mark.parametrize("law", ["hold", "contact"])
def test_a_scripted_goal_that_the_law_ignores_is_rejected(law: str) -> None:
    with pytest.raises(RejectedError, match=rf"events\[0\]: the goal is rejected: the law {law} does not use a goal"):
        fit(law=law, events=[moved(0, 0, 0.1)])
    fit(law=law, events=[moved(0, 0, 0.1, law="admittance")])


def test_a_torque_law_brings_a_goal_into_reach_but_does_not_move_where_it_does_not_control() -> None:
    fit(**TORQUE, events=[moved(5, 5, 5)])
    fit(**PLANAR, events=[moved(0.1, 0.1, 0)])
    with pytest.raises(RejectedError, match=r"it moves along z, which impedance\.axes does not control"):
        fit(**PLANAR, events=[moved(0.1, 0.1, 0.2)])


# ---- commands, pushes, tool, parameters ----------------------------------------------------------------------------


def test_a_scripted_command_under_a_law_that_takes_none_is_rejected() -> None:
    start = {"at_s": 1.0, "command": "start"}
    with pytest.raises(RejectedError, match=r"^events\[0\]: `start` is rejected: the law is admittance, and only cont"):
        fit(law="admittance", events=[start])
    with pytest.raises(RejectedError, match=r"^events\[1\]: `start` is rejected: the law is hold"):
        fit(law="contact", events=[{"at_s": 0.5, "law": "hold"}, start])
    fit(law="hold", events=[{"at_s": 0.5, "law": "contact"}, start])


def test_a_push_beyond_the_sensor_is_rejected_as_one_by_hand() -> None:
    def push(force: float) -> dict[str, Any]:
        return {"pushes": [{"at_s": 1.0, "wrench": [force, 0, 0, 0, 0, 0]}]}

    fit(sim=push(500.0))
    with pytest.raises(InputError, match=r"^sim\.pushes\[0\]\.wrench has a force of 1e\+06 N; .*sense\.range_n"):
        fit(sim=push(1e6))


@pytest.mark.parametrize(("robot", "most"), [("sim:ur5e", 5.0), ("ur:192.168.0.3#ur10e", 12.5), ("ros2:ur16e", 16.0)])
def test_a_tool_above_the_payload_of_the_arm_is_rejected(robot: str, most: float) -> None:
    fit(robot=robot, tool={"mass_kg": most})
    words = rf"tool\.mass_kg = {most + 0.5:g} kg exceeds the payload of the ur\d+e, {most:g} kg\. Correct the mass, or"
    with pytest.raises(RejectedError, match=words):
        fit(robot=robot, tool={"mass_kg": most + 0.5})


def test_an_arm_without_a_declared_payload_carries_any_tool() -> None:
    fit(robot="sim:two_link", tool={"mass_kg": 20.0})


def test_a_mission_with_a_tool_above_the_payload_is_rejected() -> None:
    mission = find_mission("fetch")
    assert mission is not None
    heavy = mission.model_copy(update={"tool": validated(Task, {"tool": {"mass_kg": 5.5}}).tool})
    with pytest.raises(RejectedError, match=r"exceeds the payload of the mobile_ur5e, 5 kg"):
        begun(heavy)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"events": [{"at_s": 1.0}]}, "events[0] does nothing."),
        ({"start_q": [0.0, 0.0, 0.0]}, "start_q has 3 values, but ur5e has 6 joints."),
        ({"law": "impedance"}, "the law impedance needs torque commands"),
        ({"events": [{"at_s": 1.0, "set": {"sense.cutof_hz": 9}}]}, "events[0].set: unknown parameter"),
        (
            {"events": [{"at_s": 1.0, "set": {"sense.cutoff_hz": 9e9}}]},
            "events[0].set: sense.cutoff_hz is 9e+09 Hz, but it must be 0.1 to 400 Hz.",
        ),
        ({"law": "hold", "events": [moved(0, 0, 0.1)]}, "events[0]: the goal is rejected"),
    ],
)
def test_a_file_that_does_not_fit_is_named(data: dict[str, Any], words: str) -> None:
    with pytest.raises(PliantError) as rejected:
        fit("x.yaml", **data)
    assert str(rejected.value).startswith(f"x.yaml: {words}")
    with pytest.raises(PliantError) as plain:
        fit(**data)
    assert str(plain.value).lower().startswith(words.lower())
