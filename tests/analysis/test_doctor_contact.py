"""What the doctor finds about contact, sensor, robot and delay, and the picture that it draws."""

from __future__ import annotations

import math
import re
from io import StringIO
from typing import Any

import numpy as np
import pytest
from doctor_runs import (
    DT,
    ROBOT_S,
    TICKS,
    contact_run,
    found,
    late,
    moved_by,
    of,
    swinging,
)
from rich.console import Console

from pliant.analysis import signals
from pliant.analysis.doctor import CHECKS, Case, examine
from pliant.analysis.doctor.diagnosis_picture import save_diagnosis
from pliant.cli.running import run_task
from pliant.control.laws.contact.contact_states import (
    ABORT,
    EVENTS,
    FAULT,
    IDLE,
    PRELOAD,
    READY,
    SEEK,
    TIMEOUT,
    TOO_FAR,
)
from pliant.records import FAULT_SENSOR, WRENCH_FROZEN, WRENCH_MISSING, WRENCH_STALE
from pliant.task.schema import Task

# ---- contact -------------------------------------------------------------------------------------------------------


def test_contacts_that_are_lost_are_counted_and_timed() -> None:
    force = swinging(0.0, 1.0)
    for start in (1000, 1500, 2000, 2500):
        force[start : start + 40] = 0.0
    finding = found(contact_run(force), "contact losses")
    assert finding.severity == "alarm"
    assert finding.figure("contacts lost") == 4
    assert finding.figure("time without contact") == pytest.approx(4 * 40 * DT, abs=0.03)
    assert finding.figure("longest") == pytest.approx(40 * DT, abs=0.01)


def test_lifting_off_on_purpose_is_no_loss() -> None:
    records = contact_run(np.where(np.arange(TICKS) < 3000, swinging(0.0, 1.0), 0.0))
    records["contact"]["state"][2990:] = 7
    assert not found(records, "contact losses").wrong


def test_a_surface_that_ends_is_told_apart_from_bouncing() -> None:
    finding = found(contact_run(np.where(np.arange(TICKS) < 3000, swinging(0.0, 1.0), 0.0)), "contact losses")
    assert finding.severity == "warning"
    assert "until the end" in finding.cause
    assert finding.spans[0].start_s == pytest.approx(6.0, abs=0.02)


def test_a_preload_at_the_start_is_told_in_newtons() -> None:
    finding = found(contact_run(np.full(TICKS, 60.0)), "preload at start")
    assert finding.severity == "alarm"
    assert finding.figure("force before the start") == pytest.approx(60.0, abs=0.2)
    assert finding.figure("start") == pytest.approx(0.1, abs=DT)


def test_a_start_that_was_refused_because_of_a_preload_is_a_warning() -> None:
    records = contact_run(np.full(TICKS, 4.0))
    records["contact"]["state"] = READY
    records["contact"]["rejected"][2000:] = PRELOAD
    finding = found(records, "preload at start")
    assert finding.severity == "warning"
    assert "rejected" in finding.cause


def test_a_force_limit_that_nobody_answers_is_an_alarm_and_one_that_is_answered_a_warning() -> None:
    force = swinging(0.0, 1.0)
    force[2000:2100] = 35.0
    records = contact_run(force)
    finding = found(records, "force above its limit", contact__force_limit_n=20.0)
    assert finding.severity == "alarm"
    assert finding.figure("largest force") == pytest.approx(35.0, abs=1.5)
    records["contact"]["state"][2003:] = FAULT
    finding = found(records, "force above its limit", contact__force_limit_n=20.0)
    assert finding.severity == "warning"
    assert "The law stopped." in finding.cause


def test_a_force_limit_that_is_exceeded_before_any_start_is_a_warning() -> None:
    force = np.zeros(TICKS)
    force[2000:2100] = 35.0
    records = contact_run(force)
    records["contact"]["state"] = np.where(np.arange(TICKS) < 2001, IDLE, FAULT)
    assert found(records, "force above its limit", contact__force_limit_n=20.0).severity == "warning"


def test_every_time_beyond_the_force_limit_is_judged_and_not_the_first_only() -> None:
    force = swinging(0.0, 1.0)
    force[1500:1550] = force[3000:3050] = 35.0
    records = contact_run(force)
    records["contact"]["state"][1503:1700] = FAULT
    finding = found(records, "force above its limit", contact__force_limit_n=20.0)
    assert finding.severity == "alarm"
    assert finding.figure("times above it") == 2
    assert finding.figure("times the law did not react") == 1
    assert [span.start_s for span in finding.spans] == [pytest.approx(6.0)]


def test_a_fault_that_does_not_free_the_tool_is_an_alarm() -> None:
    force = swinging(0.0, 1.0)
    force[2000:2600] = 35.0
    records = contact_run(force)
    records["contact"]["state"][2003:] = FAULT
    finding = found(records, "force above its limit", contact__force_limit_n=20.0)
    assert finding.severity == "alarm"
    assert "stayed above the limit" in finding.cause


@pytest.mark.parametrize("declared", [True, False], ids=["with its parameters", "without parameters"])
def test_a_tool_that_never_touched_has_lost_no_contact(declared: bool) -> None:
    """The target that is recorded begins with the touch: here it is 0, and noise is more than a fifth of that."""
    records = contact_run(np.zeros(TICKS))
    contact = records["contact"]
    contact["state"], contact["target_n"] = SEEK, 0.0
    case = of(records) if declared else Case(records, DT, 1)
    finding = CHECKS["contact losses"](case)
    assert finding.severity == "fine"
    assert finding.figure("contacts lost") == 0
    assert not CHECKS["limit cycle"](case).wrong
    assert not CHECKS["late sensor"](case).wrong


def test_a_fault_of_the_contact_is_told_with_its_time_its_state_and_its_reason() -> None:
    records = contact_run()
    contact = records["contact"]
    assert found(records, "contact fault").severity == "fine"
    contact["state"][3000:], contact["reason"][3000:] = FAULT, TIMEOUT
    finding = found(records, "contact fault")
    assert finding.severity == "alarm"
    assert f"at 6.00 s in the state dwell: {EVENTS[TIMEOUT]}" in finding.cause
    assert "contact.settle_s" in finding.remedy
    assert [tuple(span) for span in finding.spans] == [(pytest.approx(6.0), pytest.approx(TICKS * DT))]


def test_each_fault_is_told_and_one_that_was_asked_for_is_a_warning() -> None:
    records = contact_run()
    contact = records["contact"]
    contact["state"][3000:], contact["reason"][3000:] = FAULT, ABORT
    assert found(records, "contact fault").severity == "warning"
    contact["state"][:], contact["reason"][:] = IDLE, 0
    contact["state"][0:500], contact["reason"][0:500] = FAULT, TOO_FAR
    contact["state"][1000:], contact["reason"][1000:] = FAULT, ABORT
    finding = found(records, "contact fault")
    assert finding.severity == "alarm"
    assert finding.figure("faults") == 2
    assert EVENTS[TOO_FAR] in finding.cause
    assert EVENTS[ABORT] in finding.cause


# ---- the sensor ----------------------------------------------------------------------------------------------------


def test_a_frozen_sensor_is_found_by_values_that_never_change() -> None:
    records = contact_run()
    records["reading"]["wrench"][1000:1020] = records["reading"]["wrench"][999]
    assert not found(records, "frozen sensor").wrong
    records["reading"]["wrench"][2000:2300] = records["reading"]["wrench"][1999]
    finding = found(records, "frozen sensor")
    assert finding.severity == "alarm"
    assert finding.figure("time frozen") == pytest.approx(0.6)
    assert [tuple(span) for span in finding.spans] == [(pytest.approx(4.0), pytest.approx(4.6))]
    assert finding.remedy.endswith("Set sense.frozen_s so that the robot stops when it freezes.")


def test_a_run_that_stopped_because_its_sensor_froze_is_told_that_it_stopped_as_configured() -> None:
    records = contact_run()
    records["reading"]["wrench"][2000:2300] = records["reading"]["wrench"][1999]
    records["state"]["fault"][2299:] = FAULT_SENSOR + WRENCH_FROZEN
    finding = found(records, "frozen sensor")
    assert finding.severity == "alarm"
    assert finding.remedy.endswith("The robot stopped as configured (sense.frozen_s = 0.05 s).")


def test_a_sensor_that_may_stand_still_for_ever_is_never_called_frozen() -> None:
    records = contact_run()
    records["reading"]["wrench"][2000:2300] = records["reading"]["wrench"][1999]
    finding = found(records, "frozen sensor", sense__frozen_s=0.0)
    assert finding.severity == "not checked"
    assert "sense.frozen_s is 0" in finding.cause
    assert finding.figure("longest constant reading") == pytest.approx(0.6)


def test_a_late_sensor_is_found_by_its_stamps() -> None:
    records = contact_run(behind_s=0.03)
    records["reading"]["wrench_stamp_s"] -= 0.03
    finding = found(records, "late sensor")
    assert finding.severity == "warning"
    assert finding.figure("median age by time stamp") == pytest.approx(30.0)
    assert "by their time stamps" in finding.cause


@pytest.mark.parametrize(("behind_s", "severity"), [(0.0, "fine"), (0.03, "warning"), (0.06, "warning")])
def test_a_sensor_that_hides_its_lateness_is_found_by_the_force_behind_the_motion(
    behind_s: float, severity: str
) -> None:
    finding = found(contact_run(behind_s=behind_s), "late sensor")
    assert finding.severity == severity
    off = abs(finding.figure("force lag behind motion") - 1e3 * behind_s)
    assert off <= finding.figure("uncertainty of the force's lag") + 1.0


def test_a_short_silence_is_ridden_out_and_a_long_one_is_an_alarm() -> None:
    records = contact_run()
    records["reading"]["wrench_state"][1000:1007] = 1
    assert not found(records, "failing sensor").wrong
    records["reading"]["wrench_state"][2000:2100] = 1
    finding = found(records, "failing sensor")
    assert finding.severity == "alarm"
    assert "missing" in finding.cause


def test_the_doctor_and_the_summary_of_a_run_count_the_same_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    records, printed = contact_run(), StringIO()
    records["reading"]["wrench_state"][1000:1007] = records["state"]["trouble"][1000:1007] = WRENCH_MISSING
    records["state"]["trouble"][2000:2004] = WRENCH_STALE
    finding = found(records, "failing sensor")
    assert finding.figure("missing, saturated or out-of-range readings") == 7
    assert finding.figure("stale or frozen readings") == 4
    assert finding.cause.endswith("Stale or frozen readings: see frozen sensor and late sensor.")
    assert finding.figure("longest failure") == pytest.approx(7 * DT)
    monkeypatch.setattr(run_task, "out", Console(file=printed, width=120))
    run_task._summary(Task(), records)
    assert re.search(rf"{signals.BAD_READINGS}\s+│\s+{7 + 4} │", printed.getvalue())
    assert "peak measured force (all axes, unfiltered, valid readings only)" in printed.getvalue()
    assert "contact: peak along the normal, measured" in printed.getvalue()
    assert "contact: RMS error while sliding, measured" in printed.getvalue()
    records["observed"]["wrench"][1000:1007, 2] = 1e3  # in a bad reading: it does not count
    monkeypatch.setattr(run_task, "out", Console(file=(again := StringIO()), width=120))
    run_task._summary(Task(), records)
    peak = re.compile(r"valid readings only\)\s+│\s+([\d.]+) │")
    assert [float(found[1]) < 50 for found in peak.finditer(again.getvalue())] == [True]


# ---- robot and delay -----------------------------------------------------------------------------------------------


def test_the_lag_of_robot_and_filter_is_measured() -> None:
    finding = found(contact_run(), "effective delay")
    assert finding.severity == "fine"
    assert finding.figure("robot lag incl. one period") == pytest.approx(1e3 * ROBOT_S, abs=1.0)
    assert finding.figure("filter of the wrench") == pytest.approx(1e3 / (2 * math.pi * 50.0))


def test_a_lag_beyond_the_declared_one_is_a_warning_with_the_value_to_set() -> None:
    finding = found(contact_run(), "effective delay", contact__lag_s=0.012)
    assert finding.severity == "warning"
    assert "contact.lag_s" in finding.remedy


def test_where_nothing_moves_the_delay_cannot_be_told() -> None:
    records = contact_run()
    records["command"]["q"] = records["reading"]["q"] = 0.0
    assert found(records, "effective delay").severity == "unknown"


def test_joints_that_do_not_follow_are_found_once_the_delay_is_taken_off() -> None:
    records = contact_run()
    t = records["time_s"]
    told = 0.3 * np.sin(2 * np.pi * 0.5 * t)
    records["command"]["q"][:, 0] = told
    records["reading"]["q"][:, 0] = late(told, 0.05)
    assert not found(records, "command not followed").wrong
    done = late(told, 0.05)
    done[2500:3500] = done[2500]
    records["reading"]["q"][:, 0] = done
    finding = found(records, "command not followed")
    assert finding.severity == "alarm"
    assert finding.spans[0].start_s == pytest.approx(5.0, abs=0.2)
    assert finding.figure("compared after shifting by") == pytest.approx(50.0, abs=1.0)
    assert finding.figure("share of the command followed") < 40


def test_a_robot_that_never_moves_is_found() -> None:
    records = contact_run()
    records["reading"]["q"] = 0.0
    finding = found(records, "command not followed")
    assert finding.severity == "alarm"
    assert "did not move" in finding.cause


# ---- the picture ---------------------------------------------------------------------------------------------------


def test_a_diagnosis_can_be_drawn_with_and_without_findings(tmp_path: Any) -> None:
    for i, records in enumerate(
        (contact_run(), contact_run(swinging(3.0, 5.0)), moved_by(np.zeros(TICKS), np.zeros(TICKS)))
    ):
        case = of(records)
        path = save_diagnosis(case, examine(case), "a run", tmp_path / f"{i}.png")
        assert path.read_bytes().startswith(b"\x89PNG")
