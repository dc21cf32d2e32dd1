"""The doctor finds what is there, tells how much of it, and nothing else: on runs in which every number is known."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from pliant.analysis.doctor import CHECKS, Case, Diagnosis, examine
from pliant.analysis.doctor.draw import save_diagnosis
from pliant.analysis.doctor.finding import Finding
from pliant.contact.states import ABORT, DWELL, EVENTS, FAULT, IDLE, PRELOAD, READY, SEEK, TIMEOUT, TOO_FAR
from pliant.errors import RecordingError
from pliant.laws import ADMITTANCE
from pliant.laws.gains import prepare
from pliant.params.control import Parameters, record_of
from pliant.params.declare import changed
from pliant.record import Recording
from pliant.record.reader import ParameterSet
from pliant.records import LIMIT_TOOL_SPEED, POSITION, TELEMETRY

Array = np.ndarray[Any, Any]

DT, TICKS = 0.002, 4000
TARGET, STIFFNESS, ROBOT_S = 5.0, 2e4, 0.02
TOUCH = 500
"""The tick in which the tool of `contact_run` touches."""


def late(values: Array, seconds: float) -> Array:
    ticks = round(seconds / DT)
    return np.concatenate((np.full(ticks, values[0]), values[: len(values) - ticks]))


def put_on(records: Array, force: Array) -> None:
    """A force along z, as the sensor saw it, with its noise."""
    noise = np.random.default_rng(5).normal(0.0, 0.2, (len(records), 6))
    for part in (records["reading"], records["observed"]):
        part["wrench"][:] = noise
        part["wrench"][:, 2] += force


def contact_run(force: Array | None = None, behind_s: float = 0.0) -> Array:
    """A contact of one joint that lifts the tool: down to a plane at depth 0 within a second, then held at 5 N.

    At 3 s it presses by half as much again for a moment: an exponential alone looks the same however late it is. The
    robot follows `ROBOT_S` late; the force comes `behind_s` behind the motion, unless it is given.
    """
    records = TELEMETRY.new(TICKS)
    t = np.arange(TICKS) * DT
    records["tick"], records["time_s"] = np.arange(TICKS), t
    records["reading"]["stamp_s"] = records["reading"]["wrench_stamp_s"] = t
    gap, rest = 0.01, TARGET / STIFFNESS
    told = np.where(t < 1.0, gap * (t - 1.0), rest * (1 - np.exp(-(t - 1.0) / 0.1)))
    told = told + np.where(np.abs(t - 3.0) < 0.2, 0.25 * rest * (1 + np.cos(np.pi * (t - 3.0) / 0.2)), 0.0)
    depth = late(told, ROBOT_S)
    records["observed"]["pose"][:, 2:4] = np.column_stack((-depth, np.ones(TICKS)))
    records["observed"]["twist"][:, 2] = -np.gradient(depth, DT)
    records["observed"]["scale"] = 1.0
    # a joint of 10 rad per metre: its speed is well above what counts as rest
    records["command"]["mode"] = POSITION
    records["command"]["q"][:, 0], records["reading"]["q"][:, 0] = 10 * told, 10 * depth
    contact = records["state"]["contact"]
    contact["normal"][:] = (0.0, 0.0, 1.0)
    contact["state"] = np.where(t < 0.1, READY, np.where(t < 1.0, SEEK, DWELL))
    contact["target_n"], contact["gain"] = TARGET, 5e-4
    contact["asked"] = contact["wanted"] = np.gradient(told, DT)
    pressed = STIFFNESS * np.maximum(0.0, late(depth, behind_s))
    put_on(records, pressed if force is None else force)
    contact["force_n"] = records["observed"]["wrench"][:, 2]
    return records


def of(records: Array, **settings: Any) -> Case:
    """The case with these parameters; the declared lag is what the run has."""
    named = {"contact.lag_s": 0.025, "sense.cutoff_hz": 50.0}
    named |= {name.replace("__", "."): value for name, value in settings.items()}
    values = record_of(changed(Parameters(), named))
    prepare(values[0], None, 1.0, 0, DT)
    return Case(records, DT, 1, (ParameterSet(0, 0.0, values[0]),))


def found(records: Array, name: str, **settings: Any) -> Finding:
    return CHECKS[name](of(records, **settings))


def names(diagnosis: Diagnosis) -> set[str]:
    return {finding.name for finding in diagnosis.wrong}


# ---- nothing wrong -------------------------------------------------------------------------------------------------


def test_a_sound_contact_raises_no_alarm_and_tells_what_was_checked() -> None:
    diagnosis = examine(of(contact_run()))
    assert names(diagnosis) == set()
    assert {finding.name for finding in diagnosis.findings} == set(CHECKS)
    assert all(finding.figures or finding.cause for finding in diagnosis.findings)


def test_the_worst_comes_first() -> None:
    records = contact_run()
    records["reading"]["wrench"][2000:2500] = records["reading"]["wrench"][2000]
    records["reading"]["wrench_stamp_s"] -= 0.03
    severities = [finding.severity for finding in examine(of(records)).findings]
    assert severities[0] == "alarm"
    assert severities == sorted(severities, key=["alarm", "warning", "unknown", "fine"].index)


def test_readings_that_are_no_numbers_break_nothing() -> None:
    records = contact_run()
    records["reading"]["q"][100:110] = np.nan
    records["observed"]["wrench"][1000:1100] = np.nan
    records["reading"]["wrench"][1000:1100] = np.inf
    assert "failing sensor" in names(examine(of(records)))


def test_a_run_of_a_few_ticks_is_refused_in_one_sentence(make: Callable[..., Recording]) -> None:
    with pytest.raises(RecordingError, match="at least 50 are needed"):
        Case.of(make(n=20))


def test_a_recording_of_other_parameters_is_examined_all_the_same(make: Callable[..., Recording]) -> None:
    assert {finding.name for finding in examine(Case.of(make())).findings} == set(CHECKS)


# ---- saturation ----------------------------------------------------------------------------------------------------


def test_the_share_of_the_time_at_the_laws_own_limit_is_told() -> None:
    records = contact_run()
    contact = records["state"]["contact"]
    contact["asked"][1000:2950], contact["wanted"][1000:2950] = 0.01, 0.02
    contact["asked"][2000:3450], contact["wanted"][2000:3450] = -0.01, -0.05
    finding = found(records, "saturation")
    assert finding.severity == "alarm"
    work = TICKS - 50
    assert finding.figure("share of the time, the law's own speed limit") == pytest.approx(100 * 2450 / work)
    assert finding.figure("share of the time at the limit, inward") == pytest.approx(100 * 1000 / work)
    assert finding.figure("force error beyond which it saturates") == pytest.approx(20.0)
    assert [tuple(span) for span in finding.spans] == [(2.0, pytest.approx(6.9))]


@pytest.mark.parametrize("gain", [1e-4, 5e-4, 2e-3, 1e-2])
def test_the_gain_that_is_advised_is_never_above_the_present_one(gain: float) -> None:
    records = contact_run()
    contact = records["state"]["contact"]
    contact["gain"] = gain
    contact["asked"][1000:3000], contact["wanted"][1000:3000] = 0.01, 0.02
    remedy = found(records, "saturation").remedy
    advised = re.search(r"Lower the gain to (\S+) mm", remedy)
    largest = np.abs(contact["target_n"] - contact["force_n"])[of(records).at_work].max()
    assert (advised is not None) == bool(gain * largest > 0.01)
    if advised is None:
        assert remedy.startswith("Leave the gain")
    else:
        assert 1e-3 * float(advised.group(1)) < gain


def test_a_limit_of_the_tick_counts_by_what_it_cuts_and_not_by_its_bit() -> None:
    records = contact_run()
    records["state"]["contact"]["state"] = 0
    records["goal"]["law"] = ADMITTANCE
    observed = records["observed"]
    observed["limits"][:] = LIMIT_TOOL_SPEED
    observed["asked"][:, 5], observed["allowed"][:, 5] = 1.0, 0.99
    assert not found(records, "saturation").wrong
    observed["allowed"][:1000, 5] = 0.4
    finding = found(records, "saturation")
    assert finding.severity == "warning"
    assert finding.figure("share of the time, tool speed") == pytest.approx(25.0)
    assert "tool speed" in finding.cause


# ---- limit cycles --------------------------------------------------------------------------------------------------


def swinging(amplitude: float, frequency: float, decay: float = 0.0) -> Array:
    t = np.arange(TICKS) * DT - TOUCH * DT
    force = TARGET + amplitude * np.sin(2 * np.pi * frequency * t) * np.exp(-decay * t)
    return np.where(t < 0, 0.0, force)


@pytest.mark.parametrize("frequency", [1.2, 3.7, 11.0, 25.0])
def test_frequency_and_amplitude_of_a_limit_cycle_are_told(frequency: float) -> None:
    finding = found(contact_run(swinging(2.0, frequency)), "limit cycle")
    assert finding.severity == "alarm"
    assert finding.figure("frequency") == pytest.approx(frequency, rel=0.03)
    assert finding.figure("amplitude") == pytest.approx(2.0, rel=0.1)


def test_bounces_are_a_limit_cycle_too() -> None:
    finding = found(contact_run(np.maximum(0.0, swinging(60.0, 4.0) - TARGET)), "limit cycle")
    assert finding.severity == "alarm"
    assert finding.figure("frequency") == pytest.approx(4.0, rel=0.03)


@pytest.mark.parametrize(
    "force",
    [swinging(2.0, 0.2), swinging(0.2, 5.0), swinging(3.0, 5.0, decay=1.5), swinging(0.0, 1.0)],
    ids=["a slow motion", "a small ripple", "a ringing that dies out", "a step"],
)
def test_what_is_no_limit_cycle_is_not_called_one(force: Array) -> None:
    assert not found(contact_run(force), "limit cycle").wrong


@pytest.mark.parametrize("cutoff_hz", [3.0, 11.0, 50.0, 250.0])
def test_noise_of_any_colour_is_no_limit_cycle(cutoff_hz: float) -> None:
    share = 1.0 - math.exp(-2 * math.pi * cutoff_hz * DT)
    for seed in range(25):
        white = np.random.default_rng(seed).normal(size=TICKS)
        noise = np.asarray(lfilter([share], [1.0, share - 1.0], white))
        force = np.where(np.arange(TICKS) < TOUCH, 0.0, TARGET + noise / noise.std())
        assert not found(contact_run(force), "limit cycle").wrong, seed


def moved_by(force: Array, speed: Array) -> Array:
    """A run of the admittance along y."""
    records = contact_run(np.zeros(TICKS))
    records["state"]["contact"]["state"] = 0
    records["goal"]["law"] = ADMITTANCE
    records["observed"]["twist"][:] = 0.0
    records["observed"]["twist"][:, 1] = speed
    records["observed"]["wrench"][:, 1] += force
    return records


def test_a_hand_that_shakes_the_tool_is_no_limit_cycle_and_a_tool_that_shakes_by_itself_is() -> None:
    t = np.arange(TICKS) * DT
    speed = 0.1 * np.sin(2 * np.pi * 3.0 * t)
    assert found(moved_by(20.0 * speed / 0.1, speed), "limit cycle").severity == "fine"
    assert found(moved_by(np.zeros(TICKS), speed), "limit cycle").severity == "alarm"
    held = -20.0 * np.cos(2 * np.pi * 3.0 * t - 0.3)  # pushes and pulls a quarter of a period off: who knows
    assert found(moved_by(held, speed), "limit cycle").severity == "unknown"


def test_a_goal_that_goes_to_and_fro_is_no_limit_cycle() -> None:
    t = np.arange(TICKS) * DT
    records = moved_by(np.zeros(TICKS), 0.1 * np.sin(2 * np.pi * 2.0 * t))
    records["goal"]["pose"][:, 1] = -0.1 * np.cos(2 * np.pi * 2.0 * (t + 0.03)) / (2 * np.pi * 2.0)
    assert found(records, "limit cycle").severity == "fine"


# ---- anti-damping --------------------------------------------------------------------------------------------------


def test_a_damper_with_the_wrong_sign_puts_energy_in_and_the_right_one_takes_it_out() -> None:
    records, D = contact_run(swinging(2.0, 4.0)), 50.0
    into = of(records).into
    energy = D * np.sum(into[of(records).at_work] ** 2) * DT
    records["state"]["contact"]["damper_n"] = D * into
    wrong = found(records, "anti-damping")
    assert wrong.severity == "alarm"
    assert wrong.figure("energy that damping put in") == pytest.approx(1e3 * energy)
    assert "50 N s/m with the wrong sign" in wrong.cause
    records["state"]["contact"]["damper_n"] = -D * into
    right = found(records, "anti-damping")
    assert right.severity == "fine"
    assert right.figure("energy that damping took out") == pytest.approx(1e3 * energy)


@pytest.mark.parametrize(("behind", "severity"), [(0.0, "fine"), (0.25, "fine"), (0.5, "alarm")])
def test_the_damping_of_our_own_law_is_judged_by_what_the_tool_really_does(behind: float, severity: str) -> None:
    """Half a period late a damper drives: the motion of the tool is that of the virtual mass, so much later."""
    t, f = np.arange(TICKS) * DT, 2.0
    records = moved_by(np.zeros(TICKS), 0.1 * np.sin(2 * np.pi * (f * t - behind)))
    records["state"]["started"] = 1
    records["state"]["ramp"] = 1.0
    records["state"]["twist"][:, 1] = 0.1 * np.sin(2 * np.pi * f * t)
    case = of(records, admittance__damping_by="value", admittance__damping=[40, 40, 40, 4, 4, 4])
    finding = CHECKS["anti-damping"](case)
    assert finding.severity == severity
    # the mean of 40 N s/m (0.1 m/s)² sin²
    work = 1e3 * 40 * 0.01 * 0.5 * math.cos(2 * math.pi * behind) * TICKS * DT
    balance = finding.figure("energy that damping took out") - finding.figure("energy that damping put in")
    assert balance == pytest.approx(work, abs=1.0)


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
    records["state"]["contact"]["state"][2990:] = 7
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
    records["state"]["contact"]["state"] = READY
    records["state"]["contact"]["refused"][2000:] = PRELOAD
    finding = found(records, "preload at start")
    assert finding.severity == "warning"
    assert "refused" in finding.cause


def test_a_force_limit_that_nobody_answers_is_an_alarm_and_one_that_is_answered_a_warning() -> None:
    force = swinging(0.0, 1.0)
    force[2000:2100] = 35.0
    records = contact_run(force)
    finding = found(records, "force beyond its limit", contact__force_limit_n=20.0)
    assert finding.severity == "alarm"
    assert finding.figure("largest force") == pytest.approx(35.0, abs=1.5)
    records["state"]["contact"]["state"][2003:] = FAULT
    finding = found(records, "force beyond its limit", contact__force_limit_n=20.0)
    assert finding.severity == "warning"
    assert "The law stopped." in finding.cause


def test_a_force_limit_that_is_exceeded_before_any_start_is_a_warning() -> None:
    force = np.zeros(TICKS)
    force[2000:2100] = 35.0
    records = contact_run(force)
    records["state"]["contact"]["state"] = np.where(np.arange(TICKS) < 2001, IDLE, FAULT)
    assert found(records, "force beyond its limit", contact__force_limit_n=20.0).severity == "warning"


def test_every_time_beyond_the_force_limit_is_judged_and_not_the_first_only() -> None:
    force = swinging(0.0, 1.0)
    force[1500:1550] = force[3000:3050] = 35.0
    records = contact_run(force)
    records["state"]["contact"]["state"][1503:1700] = FAULT
    finding = found(records, "force beyond its limit", contact__force_limit_n=20.0)
    assert finding.severity == "alarm"
    assert finding.figure("times beyond it") == 2
    assert finding.figure("of which the law did not answer") == 1
    assert [span.start_s for span in finding.spans] == [pytest.approx(6.0)]


def test_a_fault_that_does_not_free_the_tool_is_an_alarm() -> None:
    force = swinging(0.0, 1.0)
    force[2000:2600] = 35.0
    records = contact_run(force)
    records["state"]["contact"]["state"][2003:] = FAULT
    finding = found(records, "force beyond its limit", contact__force_limit_n=20.0)
    assert finding.severity == "alarm"
    assert "stayed beyond the limit" in finding.cause


@pytest.mark.parametrize("declared", [True, False], ids=["with its parameters", "without parameters"])
def test_a_tool_that_never_touched_has_lost_no_contact(declared: bool) -> None:
    """The target that is recorded begins with the touch: here it is 0, and noise is more than a fifth of that."""
    records = contact_run(np.zeros(TICKS))
    contact = records["state"]["contact"]
    contact["state"], contact["target_n"] = SEEK, 0.0
    case = of(records) if declared else Case(records, DT, 1)
    finding = CHECKS["contact losses"](case)
    assert finding.severity == "fine"
    assert finding.figure("contacts lost") == 0
    assert not CHECKS["limit cycle"](case).wrong
    assert not CHECKS["late sensor"](case).wrong


def test_a_fault_of_the_contact_is_told_with_its_time_its_state_and_its_reason() -> None:
    records = contact_run()
    contact = records["state"]["contact"]
    assert found(records, "contact fault").severity == "fine"
    contact["state"][3000:], contact["reason"][3000:] = FAULT, TIMEOUT
    finding = found(records, "contact fault")
    assert finding.severity == "alarm"
    assert f"at 6.00 s in the state dwell: {EVENTS[TIMEOUT]}" in finding.cause
    assert "contact.settle_s" in finding.remedy
    assert [tuple(span) for span in finding.spans] == [(pytest.approx(6.0), pytest.approx(TICKS * DT))]


def test_each_fault_is_told_and_one_that_was_asked_for_is_a_warning() -> None:
    records = contact_run()
    contact = records["state"]["contact"]
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


def test_a_sensor_that_may_stand_still_for_ever_is_never_called_frozen() -> None:
    records = contact_run()
    records["reading"]["wrench"][2000:2300] = records["reading"]["wrench"][1999]
    finding = found(records, "frozen sensor", sense__frozen_s=0.0)
    assert finding.severity == "fine"
    assert "sense.frozen_s is 0" in finding.cause
    assert finding.figure("longest without a change") == pytest.approx(0.6)


def test_a_late_sensor_is_found_by_its_stamps() -> None:
    records = contact_run(behind_s=0.03)
    records["reading"]["wrench_stamp_s"] -= 0.03
    finding = found(records, "late sensor")
    assert finding.severity == "warning"
    assert finding.figure("age by its stamps, median") == pytest.approx(30.0)
    assert "by their own stamps" in finding.cause


@pytest.mark.parametrize(("behind_s", "severity"), [(0.0, "fine"), (0.03, "warning"), (0.06, "warning")])
def test_a_sensor_that_hides_its_lateness_is_found_by_the_force_behind_the_motion(
    behind_s: float, severity: str
) -> None:
    finding = found(contact_run(behind_s=behind_s), "late sensor")
    assert finding.severity == severity
    off = abs(finding.figure("force behind the motion") - 1e3 * behind_s)
    assert off <= finding.figure("uncertainty of that") + 1.0


def test_a_short_silence_is_ridden_out_and_a_long_one_is_an_alarm() -> None:
    records = contact_run()
    records["reading"]["wrench_state"][1000:1007] = 1
    assert not found(records, "failing sensor").wrong
    records["reading"]["wrench_state"][2000:2100] = 1
    finding = found(records, "failing sensor")
    assert finding.severity == "alarm"
    assert "missing" in finding.cause


# ---- robot and delay -----------------------------------------------------------------------------------------------


def test_the_lag_of_robot_and_filter_is_measured() -> None:
    finding = found(contact_run(), "effective delay")
    assert finding.severity == "fine"
    assert finding.figure("robot behind its command") == pytest.approx(1e3 * ROBOT_S, abs=1.0)
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
    assert not found(records, "command not realised").wrong
    done = late(told, 0.05)
    done[2500:3500] = done[2500]
    records["reading"]["q"][:, 0] = done
    finding = found(records, "command not realised")
    assert finding.severity == "alarm"
    assert finding.spans[0].start_s == pytest.approx(5.0, abs=0.2)
    assert finding.figure("delay taken off") == pytest.approx(50.0, abs=1.0)
    assert finding.figure("share of the command that was carried out") < 40


def test_a_robot_that_never_moves_is_found() -> None:
    records = contact_run()
    records["reading"]["q"] = 0.0
    finding = found(records, "command not realised")
    assert finding.severity == "alarm"
    assert "stood" in finding.cause


# ---- the picture ---------------------------------------------------------------------------------------------------


def test_a_diagnosis_can_be_drawn_with_and_without_findings(tmp_path: Any) -> None:
    for i, records in enumerate(
        (contact_run(), contact_run(swinging(3.0, 5.0)), moved_by(np.zeros(TICKS), np.zeros(TICKS)))
    ):
        case = of(records)
        path = save_diagnosis(case, examine(case), "a run", tmp_path / f"{i}.png")
        assert path.read_bytes().startswith(b"\x89PNG")
