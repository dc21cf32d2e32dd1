"""Parameter files of ROS 2 admittance controllers: read as a task, converted where the form differs, mistakes named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.control.sense.external_wrench import smoothing
from pliant.errors import InputError, UnknownNameError
from pliant.params.matrix import compact
from pliant.task.ros_parameters import cutoff_hz
from pliant.task.schema import Task, load_task

SURFACE = """
ur_admittance_controller:
  ros__parameters:
    admittance:
      mass: [3.0, 3.0, 0.8, 0.3, 0.3, 0.3]      # Light Z-axis
      damping_ratio: [0.7, 0.7, 0.9, 0.8, 0.8, 0.8]  # More Z damping
      stiffness: [0.0, 0.0, 100.0, 0.0, 0.0, 0.0]     # Z position control
      enabled_axes: [true, true, true, false, false, false]  # XYZ only
      min_motion_threshold: 0.8                   # Sensitive
      filter_coefficient: 0.1                    # More filtering for surface contact

    max_linear_velocity: 0.1                     # Slow and controlled
    max_angular_velocity: 0.2
"""

COLLABORATION = """
ur_admittance_controller:
  ros__parameters:
    admittance:
      mass: [5.0, 5.0, 5.0, 0.5, 0.5, 0.5]      # Responsive
      damping_ratio: [0.8, 0.8, 0.8, 0.9, 0.9, 0.9]  # Stable
      min_motion_threshold: 2.0                   # Deliberate forces only
      filter_coefficient: 0.2                    # Balance responsiveness/stability

    max_linear_velocity: 0.2                     # Safe speeds
    max_angular_velocity: 0.5
{again}      drift_reset_threshold: 0.0005              # Tight positioning
"""


def read(tmp_path: Path, text: str, rate_hz: float | None = None) -> Task:
    path = tmp_path / "controller.yaml"
    path.write_text(text)
    return load_task(path, rate_hz)


def whole(text: str) -> str:
    """A file with these admittance parameters."""
    return f"node:\n  ros__parameters:\n    admittance: {{{text}}}\n"


# ---- filter coefficients -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("coefficient", "hertz"), [(0.10, 8.4), (0.15, 13.0), (0.2, 17.8), (0.8, 176.0)])
def test_a_coefficient_is_a_cutoff_for_the_rate(coefficient: float, hertz: float) -> None:
    assert cutoff_hz(coefficient, 500.0) == pytest.approx(hertz, rel=0.005)
    assert cutoff_hz(coefficient, 250.0) == pytest.approx(hertz / 2, rel=0.005)


@pytest.mark.parametrize("coefficient", np.linspace(0.005, 0.82, 40))
def test_the_cutoff_gives_the_coefficient_back(coefficient: float) -> None:
    assert smoothing(cutoff_hz(coefficient, 500.0), 0.002) == pytest.approx(coefficient, rel=1e-9)


def test_a_coefficient_that_never_reaches_minus_three_decibels_is_half_the_rate() -> None:
    assert cutoff_hz(0.9, 500.0) == cutoff_hz(1.0, 500.0) == 250.0


# ---- the published files -------------------------------------------------------------------------------------------


def test_the_surface_file_is_read_as_it_was_meant(tmp_path: Path) -> None:
    task = read(tmp_path, SURFACE)
    admittance, sense, limits = task.params.admittance, task.params.sense, task.params.limits
    assert (task.law, task.rate_hz) == ("admittance", 500.0)
    assert compact(admittance.mass) == [3.0, 3.0, 0.8, 0.3, 0.3, 0.3]
    assert compact(admittance.stiffness) == [0.0, 0.0, 100.0, 0.0, 0.0, 0.0]
    assert admittance.damping_ratio == (0.7, 0.7, 0.9, 0.8, 0.8, 0.8)
    assert admittance.axes == (True, True, True, False, False, False)
    assert (sense.deadband_n, sense.deadband_nm) == (0.8, pytest.approx(0.08))
    assert sense.cutoff_hz == pytest.approx(8.4, abs=0.05)
    assert (limits.linear_speed_m_s, limits.angular_speed_rad_s) == (0.1, 0.2)


def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    text = COLLABORATION.format(again="\n    admittance:\n")
    line = [i for i, row in enumerate(text.splitlines(), 1) if row.strip() == "admittance:"][1]
    with pytest.raises(InputError, match=rf"controller\.yaml:{line}: admittance is given twice\."):
        read(tmp_path, text)


def test_the_collaboration_file_is_read_once_its_key_stands_once(tmp_path: Path) -> None:
    text = (
        COLLABORATION.format(again="").replace("      drift", "    admittance_drift").split("    admittance_drift")[0]
    )
    text = text.replace("      min_motion", "      drift_reset_threshold: 0.0005\n      min_motion")
    task = read(tmp_path, text)
    assert compact(task.params.admittance.mass) == [5.0, 5.0, 5.0, 0.5, 0.5, 0.5]
    assert compact(task.params.admittance.stiffness) == [0.0] * 6  # not given: no spring, not ours by default
    assert task.params.sense.cutoff_hz == pytest.approx(17.8, abs=0.05)
    assert any("drift_reset_threshold is not needed" in note for note in task.notes)


# The published damping ratio of human_collaboration is 0.8, which swings in a hand of 1000 N/m.
PRESETS: dict[str, dict[str, Any]] = {
    "surface_following": {
        "mass": [3.0, 3.0, 0.8, 0.3, 0.3, 0.3], "damping_ratio": [0.7, 0.7, 0.9, 0.8, 0.8, 0.8],
        "stiffness": [0.0, 0.0, 100.0, 0.0, 0.0, 0.0], "axes": [True, True, True, False, False, False],
        "deadband_n": 0.8, "coefficient": 0.1, "linear": 0.1, "angular": 0.2,
    },
    "human_collaboration": {
        "mass": [5.0, 5.0, 5.0, 0.5, 0.5, 0.5], "damping_ratio": [4.0, 4.0, 4.0, 0.9, 0.9, 0.9],
        "stiffness": [0.0] * 6, "axes": [True] * 6,
        "deadband_n": 2.0, "coefficient": 0.2, "linear": 0.2, "angular": 0.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_the_published_numbers(name: str) -> None:
    wanted, params = PRESETS[name], load_task(name).params
    assert compact(params.admittance.mass) == wanted["mass"]
    assert compact(params.admittance.stiffness) == wanted["stiffness"]
    assert list(params.admittance.damping_ratio) == wanted["damping_ratio"]
    assert list(params.admittance.axes) == wanted["axes"]
    assert params.sense.deadband_n == wanted["deadband_n"]
    assert params.sense.cutoff_hz == pytest.approx(cutoff_hz(wanted["coefficient"], 500.0), rel=0.005)
    assert (params.limits.linear_speed_m_s, params.limits.angular_speed_rad_s) == (wanted["linear"], wanted["angular"])


# ---- what is converted, and what is refused ------------------------------------------------------------------------


def test_the_cutoff_is_converted_for_the_rate_of_the_loop(tmp_path: Path) -> None:
    task = read(tmp_path, whole("filter_coefficient: 0.2"), 250.0)
    assert (task.rate_hz, task.params.sense.cutoff_hz) == (250.0, pytest.approx(17.8 / 2, abs=0.05))


def test_every_conversion_is_said(tmp_path: Path) -> None:
    text = whole("min_motion_threshold: 2.0, filter_coefficient: 0.2, drift_reset_threshold: 0.001")
    text += "    dynamic_parameters: true\n    joints: [a, b]\n"
    notes = " ".join(read(tmp_path, text).notes)
    for word in (
        "deadband of 2 N and 0.2 N m",
        "17.8 Hz at 500 Hz",
        "drift_reset_threshold",
        "dynamic_parameters",
        "joints",
    ):
        assert word in notes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mass: [8, 8, 8, 0, 1, 1]", "params.admittance.mass"),
        ("stiffness: [1, 2]", "params.admittance.stiffness"),
        ("filter_coefficient: 1.5", "filter_coefficient"),
        ("filter_coefficient: fast", "filter_coefficient"),
        ("min_motion_threshold: -1", "min_motion_threshold"),
    ],
)
def test_what_is_not_admissible_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, whole(text))


def test_an_unknown_name_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'damping_ratio'"):
        read(tmp_path, whole("damping_ration: [1, 1, 1, 1, 1, 1]"))


def test_an_empty_file_of_parameters_is_a_task_without_a_spring(tmp_path: Path) -> None:
    task = read(tmp_path, "node:\n  ros__parameters:\n")
    assert compact(task.params.admittance.stiffness) == [0.0] * 6
