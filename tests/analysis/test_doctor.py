"""The doctor finds what is there, tells how much of it, and nothing else: on runs in which every number is known."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from doctor_runs import (
    DT,
    TARGET,
    TICKS,
    TOUCH,
    Array,
    contact_run,
    found,
    moved_by,
    names,
    of,
    swinging,
)
from scipy.signal import lfilter

from pliant.analysis.doctor import CHECKS, Case, examine
from pliant.control.laws.contact.contact_states import FAULT as CONTACT_FAULT
from pliant.errors import RecordingError
from pliant.record import Recording
from pliant.records import (
    FAULT_SENSOR,
    LIMIT_TOOL_SPEED,
    WRENCH_FROZEN,
    WRENCH_NAN,
    WRENCH_SATURATED,
    WRENCH_STALE,
)
from support.law_numbers import ADMITTANCE, HOLD

_WORST_FIRST = ["alarm", "warning", "unknown", "fine", "not checked", "not applicable"]

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
    assert severities == sorted(severities, key=_WORST_FIRST.index)


def test_the_fault_that_ended_a_run_comes_before_everything_else() -> None:
    records = contact_run()
    records["reading"]["wrench"][2000:2500] = records["reading"]["wrench"][2000]
    assert examine(of(records)).wrong[0].name == "frozen sensor"
    told = replace(of(records), fault="the robot at 192.0.2.1 has stopped; it is in a protective stop")
    first = examine(told).wrong[0]
    assert first.cause == f"A fault ended the loop at 8.00 s: {told.fault}."
    records["state"]["fault"][2600:] = FAULT_SENSOR + WRENCH_FROZEN
    records["contact"]["state"][2600:] = CONTACT_FAULT
    first, second, *_ = examine(of(records)).wrong
    assert first.cause.startswith("A fault at 5.20 s: the force sensor gave the same reading")
    assert first.cause.endswith("The tool then lifted off, and the arm braked until 8.00 s.")
    assert first.remedy.startswith("See frozen sensor below.")
    assert second.name == "contact fault"


@pytest.mark.parametrize(
    ("trouble", "name"),
    [(WRENCH_NAN, "failing sensor"), (WRENCH_SATURATED, "failing sensor"), (WRENCH_STALE, "late sensor")],
)
def test_the_sensor_that_ended_a_run_is_an_alarm_however_short_its_failure(trouble: int, name: str) -> None:
    records = contact_run()[:2000]
    records["state"]["trouble"][-10:] = trouble  # as long as a reading is held
    if trouble == WRENCH_STALE:
        records["reading"]["wrench_stamp_s"][-1] -= 0.1
    assert examine(of(records)).named(name).severity == "fine"
    records["state"]["fault"][-1] = FAULT_SENSOR + trouble
    diagnosis = examine(of(records))
    assert diagnosis.named(name).severity == "alarm"
    assert diagnosis.named("fault").remedy.startswith(f"See {name} below.")
    assert "bridged" not in diagnosis.named(name).cause


def test_a_run_that_a_fault_ended_before_any_motion_is_examined_and_says_so() -> None:
    records = contact_run()[:60]  # shorter than a window in which the lag is judged
    records["command"]["q"] = records["reading"]["q"] = 0.0
    records["state"]["fault"][-1] = FAULT_SENSOR + WRENCH_NAN
    diagnosis = examine(of(records))
    assert diagnosis.named("effective delay").cause.endswith("No motion was commanded before the fault.")
    records["reading"]["q"][-20:, 0] = 0.5
    assert found(records, "command not followed").cause == (
        "No motion was commanded before the fault; a push moved the arm."
    )


def test_readings_that_are_no_numbers_break_nothing() -> None:
    records = contact_run()
    records["reading"]["q"][100:110] = np.nan
    records["observed"]["wrench"][1000:1100] = np.nan
    records["reading"]["wrench"][1000:1100] = np.inf
    assert "failing sensor" in names(examine(of(records)))


def test_a_run_of_a_few_ticks_is_refused_in_one_sentence(make: Callable[..., Recording]) -> None:
    with pytest.raises(RecordingError, match="needs at least 50"):
        Case.of(make(n=20))


def test_a_recording_of_other_parameters_is_examined_all_the_same(make: Callable[..., Recording]) -> None:
    assert {finding.name for finding in examine(Case.of(make())).findings} == set(CHECKS)


# ---- commands at a limit -------------------------------------------------------------------------------------------


def test_the_share_of_the_time_at_the_laws_own_limit_is_told() -> None:
    records = contact_run()
    contact = records["contact"]
    contact["asked"][1000:2950], contact["wanted"][1000:2950] = 0.01, 0.02
    contact["asked"][2000:3450], contact["wanted"][2000:3450] = -0.01, -0.05
    finding = found(records, "command at a limit")
    assert finding.severity == "alarm"
    work = TICKS - 50
    assert finding.figure("share of the time, the law's own speed limit") == pytest.approx(100 * 2450 / work)
    assert finding.figure("share of the time at the limit, inward") == pytest.approx(100 * 1000 / work)
    assert finding.figure("force error at which it saturates") == pytest.approx(20.0)
    assert [tuple(span) for span in finding.spans] == [(2.0, pytest.approx(6.9))]


@pytest.mark.parametrize("gain", [1e-4, 5e-4, 2e-3, 1e-2])
def test_the_gain_that_is_advised_is_never_above_the_present_one(gain: float) -> None:
    records = contact_run()
    contact = records["contact"]
    contact["gain"] = gain
    contact["asked"][1000:3000], contact["wanted"][1000:3000] = 0.01, 0.02
    remedy = found(records, "command at a limit").remedy
    advised = re.search(r"Lower the gain to (\S+) mm", remedy)
    largest = np.abs(contact["target_n"] - contact["force_n"])[of(records).active].max()
    assert (advised is not None) == bool(gain * largest > 0.01)
    if advised is None:
        assert remedy.startswith("Keep the gain")
    else:
        assert 1e-3 * float(advised.group(1)) < gain


def test_a_limit_of_the_tick_counts_by_what_it_cuts_and_not_by_its_bit() -> None:
    records = contact_run()
    records["contact"]["state"] = 0
    records["goal"]["law"] = ADMITTANCE
    observed = records["observed"]
    observed["limits"][:] = LIMIT_TOOL_SPEED
    observed["asked"][:, 5], observed["allowed"][:, 5] = 1.0, 0.99
    assert not found(records, "command at a limit").wrong
    observed["allowed"][:1000, 5] = 0.4
    finding = found(records, "command at a limit")
    assert finding.severity == "warning"
    assert finding.figure("share of the time, tool speed") == pytest.approx(25.0)
    assert "tool speed" in finding.cause


# ---- limit cycles --------------------------------------------------------------------------------------------------


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


def test_a_hand_that_shakes_the_tool_is_no_limit_cycle_and_a_tool_that_shakes_by_itself_is() -> None:
    t = np.arange(TICKS) * DT
    speed = 0.1 * np.sin(2 * np.pi * 3.0 * t)
    assert found(moved_by(20.0 * speed / 0.1, speed), "limit cycle").severity == "fine"
    assert found(moved_by(np.zeros(TICKS), speed), "limit cycle").severity == "alarm"
    held = -20.0 * np.cos(2 * np.pi * 3.0 * t - 0.3)  # pushes and pulls a quarter of a period off: who knows
    assert found(moved_by(held, speed), "limit cycle").severity == "unknown"


def test_a_tool_that_bounces_on_a_surface_after_a_step_of_its_goal_is_a_limit_cycle() -> None:
    t = np.arange(TICKS) * DT
    depth = 0.004 * np.sin(2 * np.pi * 2.2 * t)
    records = moved_by(2e4 * np.maximum(0.0, depth), -np.gradient(depth, DT))[: round(6.0 / DT)]
    records["state"]["law"] = ADMITTANCE
    records["goal"]["pose"][round(0.6 / DT) :, 1] -= 0.06  # in a tick: near it the tool is led, not shaken
    finding = found(records, "limit cycle")
    assert finding.severity == "alarm"
    assert finding.figure("frequency") == pytest.approx(2.2, abs=0.05)
    assert finding.figure("peak force") == pytest.approx(80.0, rel=0.05)
    assert "bounces on a surface" in finding.cause
    assert "admittance.mass" in finding.remedy


def test_a_goal_that_goes_to_and_fro_is_no_limit_cycle() -> None:
    t = np.arange(TICKS) * DT
    records = moved_by(np.zeros(TICKS), 0.1 * np.sin(2 * np.pi * 2.0 * t))
    records["goal"]["pose"][:, 1] = -0.1 * np.cos(2 * np.pi * 2.0 * (t + 0.03)) / (2 * np.pi * 2.0)
    assert found(records, "limit cycle").severity == "fine"


# ---- negative damping ----------------------------------------------------------------------------------------------


def test_a_damper_with_the_wrong_sign_puts_energy_in_and_the_right_one_takes_it_out() -> None:
    records, D = contact_run(swinging(2.0, 4.0)), 50.0
    into = of(records).into
    energy = D * np.sum(into[of(records).active] ** 2) * DT
    records["contact"]["damper_n"] = D * into
    wrong = found(records, "negative damping")
    assert wrong.severity == "alarm"
    assert wrong.figure("energy added by damping") == pytest.approx(1e3 * energy)
    assert "50 N s/m with the wrong sign" in wrong.cause
    records["contact"]["damper_n"] = -D * into
    right = found(records, "negative damping")
    assert right.severity == "fine"
    assert right.figure("energy removed by damping") == pytest.approx(1e3 * energy)


def test_a_damper_that_did_no_work_is_not_checked_and_a_law_without_one_is_not_applicable() -> None:
    records = moved_by(np.zeros(TICKS), np.zeros(TICKS))
    records["state"]["started"] = 1
    finding = found(records, "negative damping")
    assert (finding.severity, finding.cause) == ("not checked", "The damper did no work: the tool did not move.")
    records["goal"]["law"] = HOLD
    finding = found(records, "negative damping")
    assert (finding.severity, finding.cause) == ("not applicable", "The law has no damping term.")


def test_a_check_that_did_not_run_is_not_called_fine() -> None:
    records = moved_by(np.zeros(TICKS), np.zeros(TICKS))
    for name, severity, cause in (
        ("contact fault", "not applicable", "The contact law did not run."),
        ("contact losses", "not applicable", "The contact law did not run."),
        ("force above its limit", "not applicable", "This law has no force limit."),
        ("limit cycle", "fine", ""),
    ):
        finding = found(records, name)
        assert (finding.severity, finding.cause) == (severity, cause), name
    short = found(records[:300], "limit cycle")
    assert (short.severity, short.cause) == ("not checked", "The law was not active for 1 s at a time.")


@pytest.mark.parametrize(("behind", "severity"), [(0.0, "fine"), (0.25, "fine"), (0.5, "alarm")])
def test_the_damping_of_our_own_law_is_judged_by_what_the_tool_really_does(behind: float, severity: str) -> None:
    """Half a period late a damper drives: the motion of the tool is that of the virtual mass, so much later."""
    t, f = np.arange(TICKS) * DT, 2.0
    records = moved_by(np.zeros(TICKS), 0.1 * np.sin(2 * np.pi * (f * t - behind)))
    records["state"]["started"] = 1
    records["state"]["ramp"] = 1.0
    records["state"]["twist"][:, 1] = 0.1 * np.sin(2 * np.pi * f * t)
    case = of(records, admittance__damping_by="value", admittance__damping=[40, 40, 40, 4, 4, 4])
    finding = CHECKS["negative damping"](case)
    assert finding.severity == severity
    # the mean of 40 N s/m (0.1 m/s)² sin²
    work = 1e3 * 40 * 0.01 * 0.5 * math.cos(2 * math.pi * behind) * TICKS * DT
    balance = finding.figure("energy removed by damping") - finding.figure("energy added by damping")
    assert balance == pytest.approx(work, abs=1.0)
