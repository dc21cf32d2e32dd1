"""What a controller says of itself, in words."""

from __future__ import annotations

import pytest

from pliant.errors import RejectedError
from pliant.robots.ur.connecting import check_version
from pliant.robots.ur.controller_status import RUNNING, fault_of, is_same_model, takes_torque, trouble


def test_a_robot_that_runs_in_normal_or_reduced_mode_is_well() -> None:
    assert trouble(0b01, 7) == ""
    assert trouble(0b10, 7) == ""


@pytest.mark.parametrize(
    ("bit", "words"),
    [(2, "protective stop"), (3, "recovery"), (4, "safeguard"), (5, "emergency"), (6, "emergency"), (7, "emergency"),
     (8, "violation"), (9, "fault"), (10, "stopped by its safety system")],
)  # fmt: skip
def test_every_safety_stop_is_told_with_what_to_do(bit: int, words: str) -> None:
    assert words in trouble(1 << bit, 7)
    assert ". " in trouble(1 << bit, 7)


def test_an_emergency_stop_is_told_before_the_protective_stop_and_the_mode_that_come_with_it() -> None:
    assert "emergency" in trouble(1 << 2 | 1 << 7, 3)
    assert "protective" in trouble(1 << 2 | 1 << 10, 7)


@pytest.mark.parametrize(("mode", "words"), [(5, "idle"), (3, "power off"), (-1, "no controller"), (99, "99")])
def test_a_mode_that_is_not_running_is_named(mode: int, words: str) -> None:
    assert words in trouble(1, mode)


@pytest.mark.parametrize(
    ("version", "takes"),
    [
        ((5, 9, 4, 0), False),
        ((5, 25, 9, 0), False),
        ((5, 26, 0, 0), True),
        ((10, 11, 9, 0), False),
        ((10, 12, 0, 0), True),
    ],
)
def test_torque_needs_5_26_or_10_12_of_polyscope_x(version: tuple[int, int, int, int], takes: bool) -> None:
    assert takes_torque(version) is takes
    check_version(version, "position")
    if takes:
        check_version(version, "torque")
    else:
        with pytest.raises(RejectedError, match=r"joint torques need 5\.26 or 10\.12 \(PolyScope X\) or newer"):
            check_version(version, "torque")


def test_a_cb3_is_refused_because_it_has_no_force_sensor() -> None:
    with pytest.raises(RejectedError, match="no force sensor"):
        check_version((3, 15, 8, 0), "position")


@pytest.mark.parametrize(
    ("reported", "model", "same"),
    [("UR5", "ur5e", True), ("UR5e", "ur5e", True), ("UR10", "ur5e", False), ("", "ur3e", True)],
)  # fmt: skip
def test_the_model_is_told_apart_by_its_number(reported: str, model: str, same: bool) -> None:
    assert is_same_model(reported, model) is same


@pytest.mark.parametrize(
    ("bit", "said"),
    [(7, "the robot at cell is in an emergency stop. "), (10, "the robot at cell was stopped by its safety system. "),
     (9, "the robot at cell cannot move: its safety system has a fault. ")],
)  # fmt: skip
def test_a_fault_of_the_loop_names_the_robot_once(bit: int, said: str) -> None:
    assert fault_of("cell", trouble(1 << bit, RUNNING)).startswith(said)
