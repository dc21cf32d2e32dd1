"""The stage behind the page, without a page."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from running_studio import PATIENCE_S, held, run_beside, stop, until

from pliant.control.laws.contact.contact_states import PAUSED, RETRACT, SLIDE
from pliant.errors import LoopError, PliantError, RejectedError
from pliant.record.reader import Recording
from pliant.session.link import Link, attach
from pliant.studio.hub import Hub, Page
from pliant.studio.stage import liveness
from pliant.studio.stage.liveness import SILENT_S, Pulse, status_of
from pliant.studio.stage.recorder import MOST_AUTOMATIC, Recorder
from pliant.studio.stage.stage import Stage
from pliant_experiments.robots.emulator_process import Emulator
from support.needs import needs


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage on which a stop was asked for while its task started."""
    made = Stage()
    close = made.close

    def stopped_meanwhile() -> None:
        close()
        assert made._starting
        stops = Thread(target=stop, args=(made,))
        stops.start()
        stops.join(60.0)
        assert not stops.is_alive()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "close", stopped_meanwhile)
        made.start("hand_guiding")
    yield made
    made.close()


def test_a_stop_while_a_task_starts_reaches_the_robot(stage: Stage) -> None:
    until(lambda: int(stage.arm().state.goal.stop) != 0)


@pytest.mark.slow
def test_a_stop_reaches_a_loop_that_lifts_its_tool_off_because_another_task_starts() -> None:
    shown = Stage()
    try:
        shown.start("plane")
        guest = attach(shown.arm().name)
        until(lambda: guest.state.contact.state == SLIDE)
        guest.set({"contact.retract_m_s": 0.002})  # it lifts off for as long as the stop may take to come
        first = guest.board.head
        starts = Thread(target=shown.start, args=("hand_guiding",))
        starts.start()
        until(lambda: int(guest.state.contact.state) == RETRACT)
        stop(shown)
        starts.join()
        records, _, _ = guest.board.read(first)
        after = records[records["goal"]["stop"] == 1]
        assert len(after) > 0
        assert int(after["contact"]["state"][-1]) == PAUSED
        moved = after["observed"]["pose"][:, :3] - after["observed"]["pose"][0, :3]
        assert np.linalg.norm(moved, axis=1).max() < 0.002  # of the 20 mm that it lifts off by
        until(lambda: int(shown.arm().state.goal.stop) != 0)  # and what was started does not move either
    finally:
        shown.close()


def test_without_a_loop_a_stop_is_refused() -> None:
    with pytest.raises(RejectedError, match="No loop is running"):
        stop(Stage())


def test_what_is_meant_for_another_loop_does_not_reach_this_one(stage: Stage) -> None:
    assert stage.arm(stage.number) is stage.arm()
    with pytest.raises(RejectedError, match="another loop"):
        stage.arm(stage.number - 1)


@pytest.mark.parametrize("robot", ["ur:192.0.2.1", "sim:/etc/passwd", "sim:ur5e#x", "nonsense"])
def test_only_a_robot_that_can_be_chosen_is_started(stage: Stage, robot: str) -> None:
    before = stage.scene
    with pytest.raises(PliantError, match=rf"robot '{robot}'.*sim:ur5e"):
        stage.start("hand_guiding", robot)
    assert stage.scene is before


def test_a_page_does_not_start_a_real_robot_that_nobody_named(stage: Stage, tmp_path: Path) -> None:
    file, before = tmp_path / "real.yaml", stage.scene
    file.write_text("robot: ur:192.0.2.1\nlaw: hold\n")
    stage.folders.add(tmp_path)
    with pytest.raises(RejectedError, match="is a real robot"):
        stage.start(str(file))
    assert stage.scene is before


@pytest.mark.slow
@needs("ur_rtde")
def test_a_real_robot_that_was_named_is_shown_and_can_be_stopped(tmp_path: Path) -> None:
    with Emulator() as ur:
        ur.inject("watchdog slow 600")  # a machine that holds the loop up is not what is tested here
        file, shown = tmp_path / "real.yaml", Stage()
        file.write_text(f"robot: {ur.robot}\nlaw: hold\n")

        def is_stopped() -> bool:
            shown.arm().check()
            return int(shown.arm().state.goal.stop) != 0

        try:
            shown.begin(str(file), record=False)
            assert shown.scene is not None
            assert shown.scene.describe()["robot"] == ur.robot
            stop(shown)
            until(is_stopped)
        finally:
            shown.close()
        until(lambda: not ur.state["plays"])


def test_what_cannot_be_shown_does_not_run_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Link] = []

    def broken(self: Stage, link: Link, source: str) -> None:
        started.append(link)
        raise RejectedError("It cannot be shown.")

    monkeypatch.setattr(Stage, "_show", broken)
    with pytest.raises(RejectedError, match="cannot be shown"):
        Stage().start("hand_guiding")
    (link,) = started
    assert not link.running


@pytest.mark.slow
def test_a_recorder_that_dies_is_told_of(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    file = stage.record()
    assert stage.recorder.look() == (file, "")
    process = stage.recorder._process
    assert process is not None
    process.kill()
    until(lambda: stage.recorder.look()[0] == "")
    assert f"{file} is incomplete" in stage.recorder.look()[1]
    again = stage.record()
    assert stage.recorder.look() == (again, "")
    assert stage.stop_recording() == again
    assert stage.recorder.look() == ("", "")


def test_a_run_is_recorded_from_its_first_tick_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    shown = Stage()
    try:
        shown.start("hand_guiding", record=True)
        file, mishap = shown.recorder.look()
        assert (Path(file).parent, mishap) == (tmp_path, "")
        assert Path(file).name.startswith("studio-hand_guiding-")
        with pytest.raises(RejectedError, match="already running"):
            shown.record()
        until(lambda: shown.arm().board.head > 50)
        last = attach(shown.arm().name).board
    finally:
        shown.close()
    assert shown.recorder.look() == ("", "")
    ticks = Recording.load(Path(file)).records["tick"]
    assert (ticks[0], ticks[-1]) == (0, last.head - 1)


def test_a_simulated_task_starts_with_the_first_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    shown = Stage()
    hub = Hub(shown)
    shown.begin("hand_guiding", record=False)
    assert shown.scene is None
    assert hub.status()["status"] == "starting"

    async def visited() -> None:
        looks = asyncio.create_task(hub.run())
        await asyncio.sleep(0.2)
        assert shown.scene is None  # nobody has come yet
        hub.pages.add(Page())
        async with asyncio.timeout(PATIENCE_S):
            while shown.scene is None:
                await asyncio.sleep(0.05)
        looks.cancel()

    try:
        run_beside(visited())
        assert not shown.is_opening
        assert shown.arm().state.time_s < 60.0
        assert shown.open() is None
    finally:
        shown.close()


@pytest.mark.parametrize("early", [True, False])
def test_a_stop_before_the_waiting_task_has_started_prevents_its_start(early: bool) -> None:
    shown = Stage()
    shown.begin("hand_guiding", record=False)
    if early:
        shown.note_stop()
    start = shown.open()
    assert start is not None
    if not early:
        shown.note_stop()
    start()
    assert shown.scene is None
    assert "A stop came before the task started" in Hub(shown).status()["mishap"]
    assert not shown.is_opening


def test_an_unstable_task_is_rejected_before_any_page(tmp_path: Path) -> None:
    file = tmp_path / "stiff.yaml"
    file.write_text("law: admittance\nsurface_n_m: 1.0e6\nparams: {admittance: {mass: 0.1}}\n")
    with pytest.raises(RejectedError, match="The task is rejected: "):
        Stage().begin(str(file))


def test_old_automatic_recordings_are_deleted_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    names = [f"studio-push-{number:02}.mcap" for number in range(25)]
    for age, name in enumerate(reversed(names)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    others = ["push-1.mcap", "fault-1.mcap", "studio-notes.txt"]
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1.0, 1.0))
    assert Recorder().claim("push") is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, *names[-MOST_AUTOMATIC + 1 :]])


def test_where_nothing_can_be_written_a_run_is_not_recorded_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "file" / "out"))
    recorder = Recorder()
    assert recorder.claim("push") is None
    assert "The run is not recorded" in recorder.look()[1]


@pytest.mark.slow
def test_an_automatic_recording_stops_when_it_is_large(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    # more than the description of a run that stands before its first record
    monkeypatch.setattr("pliant.studio.stage.recorder.AUTOMATIC_BYTES", 200_000)
    file = stage.record()
    stage.recorder.is_automatic = True
    until(lambda: stage.recorder.look()[0] == "")
    assert f"stopped at 0 MB: {file}" in stage.recorder.look()[1]
    assert len(Recording.load(Path(file)).records) > 0
    stage.stop_recording()


def test_a_loop_that_does_not_tick_is_silent_until_it_ticks_again(stage: Stage) -> None:
    hub, process = Hub(stage), int(stage.arm().board.header.loop_pid)
    assert hub.status()["status"] == "running"
    with held(process):
        until(lambda: hub.status()["status"] == "silent")
        assert "no tick for more than 1 s" in hub.status()["reason"]
    until(lambda: hub.status()["status"] == "running")
    assert hub.status()["reason"] == ""


def test_whoever_slept_himself_does_not_say_that_the_loop_did(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    link, pulse, now_s = stage.arm(), Pulse(), [100.0]
    monkeypatch.setattr(liveness, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    with held(int(link.board.header.loop_pid)):
        assert pulse.status_of(link)[0] == "running"
        now_s[0] += 10.0 * SILENT_S
        assert pulse.status_of(link)[0] == "running"
        for _ in range(5):  # who looks again and again can say it after all
            now_s[0] += 0.25 * SILENT_S
            pulse.status_of(link)
        assert pulse.status_of(link)[0] == "silent"


def test_a_look_that_goes_wrong_is_told_once_and_followed_by_others(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hub, looks = Hub(stage), []

    def broken() -> None:
        looks.append(1)
        raise OSError("the disk is full")

    monkeypatch.setattr(hub, "look", broken)
    run_beside(_look(hub, lambda: len(looks) > 3))
    assert [record.getMessage() for record in caplog.records].count(
        "The Studio could not read its loop. It tries again."
    ) == 1
    assert "the disk is full" in caplog.text


def test_a_loop_that_was_killed_is_a_fault_and_its_last_seconds_are_saved(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    guest, hub = attach(stage.arm().name), Hub(stage)
    assert hub.status()["status"] == "running"
    os.kill(int(guest.board.header.loop_pid), signal.SIGKILL)
    until(lambda: hub.status()["status"] == "fault")
    assert hub.status()["reason"] == status_of(guest)[1] == "its process exited without reporting a reason"
    run_beside(_look(hub, lambda: hub.status()["black_box"]))
    told = hub.status()
    assert told["status"] == "fault"
    assert "exited without reporting a reason (killed by SIGKILL" in told["reason"]
    assert Recording.load(Path(told["black_box"])).meta["fault"] == told["reason"]
    assert status_of(guest) == (told["status"], told["reason"], told["black_box"])
    with pytest.raises(LoopError, match="killed by SIGKILL"):
        stop(stage)
    assert list(tmp_path.glob("*")) == [Path(told["black_box"])]


async def _look(hub: Hub, found: Callable[[], object]) -> None:
    """Let a hub look at its stage until something is found."""
    looking = asyncio.create_task(hub.run())
    async with asyncio.timeout(60):
        while not found():
            await asyncio.sleep(0.01)
    looking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await looking
