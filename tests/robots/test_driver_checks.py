"""The conformance checks find every defect of a driver, and nothing wrong with good ones. Time is pretended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pretend_arm import Clock, PretendArm, PretendDriver

import pliant
from pliant.errors import RejectedError
from pliant.testing import Report, check_robot, driven_robot, motion_checks

# What each defect makes fail, exactly: a check that is missing is a failed test.
DEFECTS = {
    "degrees": {"joint values"},
    "degrees per second": {"position commands", "velocity commands"},
    "joint order": {"position commands", "velocity commands"},
    "milliseconds": {"time stamps", "position commands", "velocity commands"},
    "frozen stamps": {"time stamps", "position commands", "velocity commands"},
    "stale wrench": {"time stamps"},
    "wrong sign": {"wrench"},
    "stop does not stop": {"stop"},
    "stop needs open": {"stop before open"},
    "no watchdog": {"watchdog"},
    "raises": {"lost connection"},
    "silent": {"lost connection"},
}


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """`checked(defect)`: the report of a driver with this defect."""

    def check(defect: str = "", **more: Any) -> Report:
        clock = Clock()
        monkeypatch.setattr(driven_robot, "time", clock)
        monkeypatch.setattr(motion_checks, "time", clock)
        arm = PretendArm(clock, 1e9 if defect == "no watchdog" else 0.4)

        def cut() -> None:
            arm.is_cut = True

        settings = {"push": arm.push, "cut": cut, "watchdog_s": 0.4, **more}
        return check_robot(lambda interface: PretendDriver(arm, defect), **settings)

    return check


def test_a_good_driver_passes_every_check(checked: Callable[..., Report]) -> None:
    report = checked()
    assert report.ok, str(report)
    assert [check.outcome for check in report.checks] == ["passed"] * 10


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found_by_its_check_and_by_no_other(checked: Callable[..., Report], defect: str) -> None:
    report = checked(defect)
    assert {check.name for check in report.failed} == DEFECTS[defect], str(report)
    assert not report.ok


def test_an_arm_whose_readings_are_wrong_is_not_moved(checked: Callable[..., Report]) -> None:
    outcomes = {check.name: check.outcome for check in checked("degrees").checks}
    assert {outcomes[name] for name in ("position commands", "velocity commands", "stop", "watchdog")} == {"skipped"}


def test_what_was_not_given_is_skipped_with_the_reason(checked: Callable[..., Report]) -> None:
    report = checked(push=None, cut=None)
    skipped = {check.name: check.sentence for check in report.checks if check.outcome == "skipped"}
    assert report.ok
    assert "push=" in skipped["wrench"]
    assert "cut=" in skipped["lost connection"]


def test_a_report_prints_one_line_per_check_with_what_is_wrong(checked: Callable[..., Report]) -> None:
    lines = str(checked("milliseconds")).splitlines()
    assert lines[0] == "pretend:arm: 7 passed, 3 failed"
    assert any("failed   time stamps: stamp_s advanced by" in line and "milliseconds" in line for line in lines)


def test_one_open_driver_is_checked_as_far_as_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(driven_robot, "time", clock)
    monkeypatch.setattr(motion_checks, "time", clock)
    arm = PretendArm(clock)
    report = check_robot(PretendDriver(arm), push=arm.push)
    outcomes = {check.name: check.outcome for check in report.checks}
    assert report.ok, str(report)
    assert outcomes["velocity commands"] == outcomes["stop"] == "passed"
    assert outcomes["watchdog"] == outcomes["lost connection"] == "skipped"


def test_the_weight_of_the_tool_shows_the_sign_where_nobody_pushes() -> None:
    tool = pliant.Tool(mass_kg=1.0, com_m=(0.0, 0.0, 0.05))
    assert "push up" in str(check_robot(pliant.Task(robot="sim:ur5e", tool=tool)))


def test_a_driver_that_cannot_be_opened_is_a_failed_check() -> None:
    class Absent(PretendDriver):
        def open(self) -> None:
            raise RejectedError("No arm answers.")

    report = check_robot(lambda interface: Absent(PretendArm(Clock())))
    assert [check.name for check in report.failed] == ["joint values"]
    assert "No arm answers." in report.failed[0].sentence


def test_the_simulated_robot_keeps_the_contract() -> None:
    report = check_robot("sim:ur5e")
    assert report.ok, str(report)
    assert {check.name for check in report.checks if check.outcome == "skipped"} == {
        "torque commands",
        "watchdog",
        "lost connection",
    }
