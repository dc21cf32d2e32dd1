"""The numbers of a summary are the ones that were put into the run."""

from typing import Any

import numpy as np
import pytest

from pliant.analysis import signals, summary
from pliant.control.laws.contact.contact_states import FAULT, FORCE_LIMIT, READY, SET_START
from pliant.records import FAULT_SENSOR, FAULTS, IDLE, LIMIT_SINGULAR, LIMIT_SPEED, TORQUE, VELOCITY, WRENCH_STALE
from support.law_numbers import CONTACT


def numbers(recording: Any, names: Any = None) -> dict[str, Any]:
    return {row.name: row.value for row in summary.numbers(recording, names)}


def test_contact_is_told_by_peak_and_average(make):
    found = numbers(make())
    assert found["Peak force"] == pytest.approx(20.0)
    assert found["RMS force"] == pytest.approx(20.0 * np.sqrt(100 / 400))
    assert found["Peak moment"] == pytest.approx(1.5)


def test_motion_is_told_in_millimetres(make):
    found = numbers(make())
    assert found["Peak tool speed"] == pytest.approx(50.0)
    assert found["Largest distance from the start"] == pytest.approx(50.0 * 1.99)


def test_the_tracking_error_names_its_joint_and_ignores_joints_that_the_robot_does_not_have(make):
    assert numbers(make())["Peak position tracking error (lift)"] == pytest.approx(4.0)


def test_the_tracking_error_is_in_the_quantity_that_was_commanded(make):
    def velocity(records: Any) -> None:
        records["command"]["mode"] = VELOCITY
        records["command"]["qd"][:, 0] = 0.2

    def torque(records: Any) -> None:
        records["command"]["mode"][10:] = TORQUE
        records["command"]["tau"][:, 2] = -3.0

    assert numbers(make(velocity))["Peak velocity tracking error (pan)"] == pytest.approx(200.0)
    tracking = signals.tracking(make(torque))
    assert (tracking.quantity, tracking.unit) == ("torque", "N m")
    assert np.isnan(tracking.error[:10]).all()
    assert (tracking.error[10:, 2] == -3.0).all()


def test_an_idle_robot_has_no_tracking_error(make):
    def idle(records: Any) -> None:
        records["command"]["mode"] = IDLE

    assert numbers(make(idle))["Peak position tracking error"] is None


def test_a_limit_is_told_by_name_and_by_the_time_it_acted(make):
    def limited(records: Any) -> None:
        records["observed"]["limits"][50:75] = LIMIT_SPEED
        records["observed"]["limits"][60:61] |= LIMIT_SINGULAR
        records["observed"]["limits"][300:301] |= LIMIT_SINGULAR | 1 << 40
        records["observed"]["scale"][50:75] = 0.4

    found = numbers(make(limited))
    assert found["Limit that acted: joint speed"] == pytest.approx(0.25)
    assert found["Limit that acted: near a singularity"] == pytest.approx(0.02)
    assert found["Limit that acted: limit 40"] == pytest.approx(0.01)
    assert found["Smallest fraction of the commanded motion left after limits"] == pytest.approx(40.0)
    own = numbers(make(limited), {"limits": {1 << 40: "cable length"}})
    assert own["Limit that acted: cable length"] == pytest.approx(0.01)
    assert own["Limit that acted: limit 0"] == pytest.approx(0.25)


def test_a_run_without_limits_or_faults_says_none(make):
    found = numbers(make())
    assert found["Limits that acted"] == "none"
    assert found["Faults"] == "none"


def test_a_fault_is_told_once_with_its_time(make):
    def faulty(records: Any) -> None:
        records["state"]["fault"][150:] = FAULT_SENSOR + WRENCH_STALE
        records["state"]["fault"][300:] = 77

    assert signals.faults(make(faulty)) == [(1.5, FAULTS[FAULT_SENSOR + WRENCH_STALE]), (3.0, "fault 77")]
    assert numbers(make(faulty))["Fault: fault 77"] == 3.0


def test_a_fault_in_the_first_tick_is_told(make):
    def faulty(records: Any) -> None:
        records["state"]["fault"] = 9

    assert signals.faults(make(faulty)) == [(0.0, "fault 9")]


def test_timing_is_told_of_a_paced_run_only(make, pace):
    found = numbers(make(pace))
    assert found["Lateness, median"] == pytest.approx(50.0)
    assert found["Lateness, largest"] == pytest.approx(3000.0)
    assert found["Overruns"] == 2
    assert not any("Lateness" in name or "Busy" in name for name in numbers(make()))


def test_lost_ticks_are_counted(make):
    def skip(records: Any) -> None:
        records["tick"][100:] += 5

    assert numbers(make(skip))["Lost ticks"] == 5


def test_numbers_ignore_what_is_not_a_number(make):
    def hurt(records: Any) -> None:
        records["observed"]["wrench"][::7] = np.nan
        records["observed"]["twist"][::5] = np.inf
        records["observed"]["pose"][:3] = np.nan

    found = numbers(make(hurt))
    assert found["Peak force"] == pytest.approx(20.0)
    assert found["Peak tool speed"] == pytest.approx(50.0)
    assert found["Largest distance from the start"] == pytest.approx(50.0 * 1.99)


def test_a_run_without_records_has_no_peaks(make):
    found = numbers(make(n=0))
    assert found["Peak force"] is None
    assert found["Lost ticks"] == 0


def test_the_overview_tells_what_was_run(make):
    rows = {row.name: (row.value, row.unit) for row in summary.overview(make())}
    assert rows["Robot"] == ("sim:two & <more>", "")
    assert rows["Rate"] == (100.0, "Hz")
    assert rows["Duration"] == (pytest.approx(3.99), "s")
    assert rows["Software"] == ("numpy 2.4", "")
    assert rows["Seed"] == (7, "")


def test_without_a_description_the_rate_is_taken_from_the_records(make):
    rows = {row.name: row.value for row in summary.overview(make(meta={}))}
    assert rows["Rate"] == pytest.approx(100.0)
    assert rows["Robot"] is None


def test_a_pose_that_was_never_set_is_not_a_place(make):
    def blank(records: Any) -> None:
        records["goal"]["pose"][:200] = 0.0

    goal = signals.position(make(blank), "goal")
    assert np.isnan(goal[:200]).all()
    assert (goal[200:] == [0.4, 0.0, 0.3]).all()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0.0, "0"),
        (20.0, "20"),
        (1234.56, "1235"),
        (12.3456, "12.35"),
        (-0.5, "-0.5"),
        (1e-7, "1e-07"),
        (3, "3"),
    ],
)
def test_numbers_are_written_with_four_digits(value: Any, shown: str):
    assert summary.text(value) == shown


def test_a_contact_is_told_by_its_states_and_why_they_were_entered(make):
    def contact(records: Any) -> None:
        c, records["state"]["law"] = records["contact"], CONTACT
        c["state"][100:], c["reason"][100:] = READY, SET_START
        c["state"][200:], c["reason"][200:] = FAULT, FORCE_LIMIT

    recording = make(contact)
    found = numbers(recording)
    times = recording.records["time_s"]
    assert found["Contact: ready, because `set_start` was received"] == times[100]
    assert found["Contact: fault, because the force exceeded contact.force_limit_n"] == times[200]
    assert not [name for name in numbers(make()) if name.startswith("Contact:")]
