"""A control loop in its own process with a sensor on the network: it moves by its wrench and stops when it dies."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streaming_box import StreamingBox

import pliant
from pliant.session.in_process.rerun import replay
from support.waiting import until

EXAMPLE = Path(__file__).parents[2] / "examples" / "15_your_own_sensor.py"
# A busy machine may keep a thread waiting: only a silence that lasts counts here.
PATIENT = {"stale_s": 1.0, "hold_s": 0.5, "frozen_s": 0.0}


def test_an_arm_moves_by_the_wrench_of_a_box_and_stops_when_the_box_dies(
    streaming: StreamingBox, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "out"))  # the last seconds before a fault are saved there
    sensor = {"kind": "net_ft", "host": "127.0.0.1", "port": streaming.port}
    path = tmp_path / "box.mcap"
    arm = pliant.connect("sim:ur5e", "admittance", sensor=sensor, params={"sense": PATIENT}, record=str(path))
    with arm:
        start = arm.wait(0.2).observed.pose[:3].copy()
        streaming.counts[1] = 20_000_000
        until(lambda: np.linalg.norm(arm.wait(0.1).observed.pose[:3] - start) > 0.01)
        streaming.is_on = False
        with pytest.raises(
            pliant.LoopError, match=r"readings .* old, older than .*net_ft 127.0.0.1:\d+: it sends nothing"
        ):
            until(lambda: arm.wait(0.1) is None)
    recording = pliant.Recording.load(path)
    assert recording.meta["task"]["sensor"]["kind"] == "net_ft"
    assert replay(recording).largest == 0.0
    assert (np.diff(recording.records["reading"]["wrench_stamp_s"]) >= 0.0).all()


def test_the_example_runs_its_own_sensor_from_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    text = capsys.readouterr().out
    assert float(text.split("moves by ")[1].split(" mm")[0]) > 20.0
