"""A mission at its own pace: it waits, goes, stops, takes another goal, and is recorded; read from its board."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from pliant.analysis.mission_figures import recorded_mission
from pliant.errors import InputError, PliantError, RejectedError
from pliant.loop.saving import NOW, follow
from pliant.mobile.mission.mission_link import MissionSession, attach_mission
from pliant.mobile.mission.mission_task import MissionTask, changed_mission, find_mission
from pliant.record import Recording
from pliant.session.link import attach

Until = Callable[..., Any]


def fetch(*changes: str) -> MissionTask:
    task = find_mission("fetch")
    assert task is not None
    slow = "base.forward_m_s=0.1"  # it drives for longer than a machine stalls
    return changed_mission(task, ["start=6.0,2.2,0", slow, *changes])


@pytest.fixture(scope="module")
def session(compiled: None) -> Iterator[MissionSession]:
    with MissionSession(fetch()) as started:
        yield started


def base(session: MissionSession) -> np.ndarray[Any, Any]:
    return session.state["base"]["pose"].copy()


def reach_pose(session: MissionSession, until: Until) -> None:
    """Wait until the robot stands, whatever the last test left."""
    session.halt()
    until(lambda: not session.mission_log["moving"])


def test_it_waits_until_it_is_told_to_begin(session: MissionSession) -> None:
    assert session.stage == "ready"
    assert session.mission_log["account"]["path"]["arcs"]
    before = base(session)
    session.wait(0.3)
    np.testing.assert_allclose(base(session), before, atol=1e-3)


def test_a_stop_brakes_and_says_so_and_it_can_begin_again_from_there(session: MissionSession, until: Until) -> None:
    session.begin()
    until(lambda: session.stage == "B")
    until(lambda: session.state["base"]["twist"][0] > 0.05)
    session.halt()
    until(lambda: session.stage == "stopped")
    assert "a stop was requested" in session.mission_log["account"]["log"][-2][2]
    assert np.abs(session.state["base"]["twist"]).max() < 0.01
    stood = base(session)
    until(lambda: not session.mission_log["moving"])
    session.begin()
    np.testing.assert_allclose(session.mission_log["account"]["path"]["start"], stood, atol=0.02)
    assert session.mission_log["moving"]
    reach_pose(session, until)


def test_a_stop_while_a_way_is_looked_for_is_not_forgotten(session: MissionSession, until: Until) -> None:
    session.begin()
    reach_pose(session, until)  # it has ended: to begin again, it looks for a way from here
    before, said = base(session), list[str]()

    def begin() -> None:
        try:
            session.begin()
        except RejectedError as refused:
            said.append(str(refused))

    asks = Thread(target=begin)
    asks.start()
    until(lambda: session.mission_log["seeking"] or session.mission_log["moving"])
    session.halt()
    asks.join()
    until(lambda: not session.mission_log["moving"])
    stood = base(session)
    session.wait(0.5)
    np.testing.assert_allclose(base(session), stood, atol=1e-3)
    assert session.stage != "done"
    if said:  # otherwise it had found its way already, and drove until it was stopped
        assert said == ["The mission was stopped while its path was being planned. Begin again to drive it."]
        np.testing.assert_allclose(base(session), before, atol=0.05)


def test_another_goal_is_planned_for_and_nothing_moves(session: MissionSession, until: Until) -> None:
    reach_pose(session, until)
    before = base(session)
    session.goal([7.7, 3.25])
    mission_log = session.mission_log
    assert mission_log["stage"] == "ready"
    np.testing.assert_allclose(mission_log["account"]["goal"][:3], [7.7, 3.25, 0.85])
    np.testing.assert_allclose(mission_log["account"]["path"]["start"], before, atol=0.02)
    np.testing.assert_allclose(base(session), before, atol=1e-3)


def test_a_goal_that_cannot_be_reached_is_refused_in_words(session: MissionSession, until: Until) -> None:
    reach_pose(session, until)
    before = session.mission_log["account"]
    with pytest.raises(RejectedError, match="are off the map"):
        session.goal([0.0, 40.0])
    with pytest.raises(RejectedError, match="cannot be reached"):
        session.goal([7.75, 3.3, 9.0])
    with pytest.raises(InputError, match=r"2 or 3 numbers \[m\], each finite and within ±10000"):
        session.goal([1.0, float("nan")])
    assert session.mission_log["account"] == before


def test_while_it_is_under_way_there_is_no_other_goal(session: MissionSession, until: Until) -> None:
    reach_pose(session, until)
    session.begin()
    with pytest.raises(RejectedError, match="is running"):
        session.goal([7.0, 1.0])
    with pytest.raises(RejectedError, match="is running"):
        session.begin()
    reach_pose(session, until)


def test_others_attach_to_it_as_what_it_is(session: MissionSession) -> None:
    other = attach_mission(session.name)
    assert other.mission_log["account"] == session.mission_log["account"]
    with pytest.raises(RejectedError, match="is a mission"):
        attach(session.name)


@pytest.mark.slow
def test_a_recording_of_it_has_the_stages_that_came_after_its_beginning(
    session: MissionSession, until: Until, tmp_path: Path
) -> None:
    reach_pose(session, until)
    recorder = follow(session.board.path, tmp_path / "live.mcap", NOW)
    until(lambda: session.board.recording)
    session.begin()
    until(lambda: session.stage == "B")
    session.halt()
    until(lambda: session.stage == "stopped")
    recorder.send_signal(signal.SIGTERM)
    assert recorder.wait() == 0
    mission_log = recorded_mission(Recording.load(tmp_path / "live.mcap"))
    assert [change.stage for change in mission_log.log][-4:] == ["A", "B", "stopping", "stopped"]
    assert len(mission_log.records) > 100


def test_a_mission_that_cannot_be_done_does_not_start(compiled: None) -> None:
    with pytest.raises(PliantError, match="would touch an obstacle"), MissionSession(fetch("start=0,0,0")):
        pass


def test_asked_to_end_while_it_drives_it_brakes_first(compiled: None, until: Until) -> None:
    session = MissionSession(fetch()).start()
    session.begin()
    until(lambda: session.state["base"]["twist"][0] > 0.05)
    session.stop()
    assert session.board.reason == "a stop was requested"
    latest = session.board.latest()
    assert latest is not None
    assert np.abs(latest["base"]["twist"]).max() < 0.01
    assert "a stop of the loop was requested" in session.board.mission_log["account"]["log"][-2][2]


@pytest.mark.slow
def test_a_killed_process_is_reported_with_its_last_seconds(compiled: None, until: Until, out: Path) -> None:
    session = MissionSession(fetch()).start()
    session.wait(0.2)
    os.kill(int(session.board.header.loop_pid), signal.SIGKILL)
    with pytest.raises(PliantError, match="exited without reporting a reason") as caught:
        until(lambda: session.check())
    saved = Recording.load(caught.value.black_box)  # type: ignore[attr-defined]
    assert len(saved.records) > 50
    assert "exited without reporting a reason" in saved.meta["fault"]
