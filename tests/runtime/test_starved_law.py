"""A joint acceleration limit that is too low for the law is declared, warned of, and stops the robot with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planar_arm import planar_arm, pushed

from pliant.cli.running.run_task import run_fast
from pliant.errors import LoopError
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import arm_of

SOON: dict[str, Any] = {"starved_warn_s": 0.3, "starved_fault_s": 1.0}
LOW_RAD_S2 = 0.05
"""So little that the law cannot follow the push, although it counts on the friction that holds the joints."""


def test_the_acceleration_of_a_file_is_assumed_and_can_be_declared(tmp_path: Path) -> None:
    path = planar_arm(tmp_path, 0.0)
    assumed, declared = arm_of(pushed(path)), arm_of(pushed(path, joint_acceleration_rad_s2=40.0))
    np.testing.assert_allclose(assumed.a_max, 10.0)
    np.testing.assert_allclose(declared.a_max, 40.0)
    said = "the joints have no acceleration limit; 10 rad/s² is assumed"
    assert any(said in sentence for sentence in assumed.assumed)
    assert not any("acceleration" in sentence for sentence in declared.assumed)


def test_a_law_that_its_limit_starves_is_stopped_with_the_reason(tmp_path: Path) -> None:
    path = planar_arm(tmp_path, 1.0)
    run = simulate(pushed(path, joint_acceleration_rad_s2=LOW_RAD_S2, **SOON))
    assert run.fault.startswith("the joint acceleration limit cut the command of the law impedance to "), run.fault
    assert run.records["state"]["starved_s"].max() == pytest.approx(1.0, abs=0.01)
    assert not simulate(pushed(path, joint_acceleration_rad_s2=60.0, **SOON)).fault


def test_pliant_run_prints_what_is_assumed_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = pushed(planar_arm(tmp_path, 1.0), acceleration_scale=0.5 * LOW_RAD_S2 / 10.0, **SOON)
    with pytest.raises(LoopError, match="the joint acceleration limit cut the command"):
        run_fast(task, tmp_path / "run.mcap")
    shown = capsys.readouterr()
    printed, warned = (" ".join(text.split()) for text in shown)
    assert "The tool is mounted on 'tool0', after joint 'two'" in printed
    assert "10 rad/s² is assumed" in printed
    assert "Warning: at 0." in warned
    assert "the joint acceleration limit cut the command" in warned
