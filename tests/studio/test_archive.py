"""Recordings and experiments beside the loop: what the page gets of them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from PIL import Image
from running_studio import LONG_S, Running, ask, dial, part, until

from pliant.errors import PliantError, RejectedError
from pliant.params.declare import changed
from pliant.record.reader import Recording
from pliant.session.in_process.fast_run import simulate
from pliant.session.session import Session
from pliant.studio.wire import text_of
from pliant.studio.work import archive
from pliant.studio.work import background as work_module
from pliant.studio.work.background import Work
from pliant.studio.work.what_if import run_changed
from pliant.task.schema import Task, load_task

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one recording."""
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    simulate(load_task("push")).save(tmp_path / "push.mcap")
    return tmp_path


def test_a_recording_is_shown_as_it_was(kept: Path) -> None:
    shown = archive.open_recording("push.mcap")
    records = Recording.load(kept / "push.mcap").records[:: shown["every"]]
    assert len(shown["poses"]) == len(shown["columns"][0]) == len(records)
    assert len(shown["poses"][0]) == 7 * shown["bodies"]
    np.testing.assert_allclose(np.array(shown["columns"][0], float), records["time_s"], atol=1e-5)
    np.testing.assert_allclose(np.array(shown["tool"], float), records["observed"]["pose"], atol=1e-4)


def test_what_if_nothing_had_changed_is_what_was(kept: Path) -> None:
    task = load_task("push")
    again = archive.what_if("push.mcap", task.params.model_dump_json())
    assert again["columns"] == archive.open_recording("push.mcap")["columns"]


def test_a_recording_with_a_reading_that_is_no_number_can_be_shown(kept: Path) -> None:
    run = simulate(load_task("push"))
    run.records["observed"]["wrench"][100:200] = np.nan
    run.save(kept / "gap.mcap")
    shown = json.loads(text_of({"recording": archive.open_recording("gap.mcap")}))["recording"]
    force = shown["columns"][[channel["name"] for channel in shown["channels"]].index("force x")]
    missing = [value is None for value in force]
    assert 0 < sum(missing) < len(force)
    assert not missing[0]


def test_what_if_repeats_what_was_done_live(tmp_path: Path) -> None:
    with Session(load_task("hand_guiding"), record=tmp_path / "live.mcap") as arm:
        arm.wait(0.2)
        arm.virtual_push([6.0, 0.0, 0.0])
        arm.wait(0.4)
        arm.goal_twist([0.0, 0.02, 0.0, 0.0, 0.0, 0.0], for_s=0.2)
        arm.wait(0.4)
        arm.halt()
        arm.wait(0.2)
    recording = Recording.load(tmp_path / "live.mcap")
    task = Task.model_validate(recording.meta["task"])
    again = run_changed(recording, task, task.params)
    assert not again.from_rest
    was, now = (records["observed"]["pose"][:, :3] for records in (recording.records, again.records))
    assert np.ptp(was[:, 0]) > 0.005
    np.testing.assert_allclose(now, was, atol=1e-9)
    stiffer = run_changed(recording, task, changed(task.params, {"admittance.mass": 40.0}))
    assert np.ptp(stiffer.records["observed"]["pose"][:, 0]) < 0.5 * np.ptp(was[:, 0])


def test_what_if_of_a_later_part_begins_there_at_rest(kept: Path) -> None:
    recording = Recording.load(kept / "push.mcap")
    task = Task.model_validate(recording.meta["task"])
    at = round((task.sim.pushes[0].at_s - 0.2) * task.rate_hz)
    part = replace(recording, records=recording.records[at:])
    again = run_changed(part, task, task.params)
    assert again.from_rest
    assert again.records["tick"].tolist() == part.records["tick"].tolist()
    np.testing.assert_allclose(
        again.records["observed"]["pose"][:, :3], part.records["observed"]["pose"][:, :3], atol=1e-3
    )


def test_what_if_the_spring_had_been_stiffer(kept: Path) -> None:
    stiffer = changed(load_task("push").params, {"admittance.stiffness": 2000.0})
    shown = archive.open_recording("push.mcap")
    distance = [channel["name"] for channel in shown["channels"]].index("distance from goal")
    then = archive.what_if("push.mcap", stiffer.model_dump_json())
    was, now = (np.array(run["columns"][distance], float).max() for run in (shown, then))
    assert now < 0.5 * was


@pytest.mark.parametrize("name", ["../push.mcap", "nothing.mcap", "push.txt", "", "a/b.mcap"])
def test_only_recordings_of_the_folder_are_opened(kept: Path, name: str) -> None:
    with pytest.raises(PliantError, match="a recording in"):
        archive.open_recording(name)


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(PliantError, match="experiment"):
        archive.run_experiment(Work(), "everything")


def test_what_is_being_worked_out_can_be_cancelled_and_ends_with_the_studio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "_NICE", ("sh", "-c", "exec sleep 600", "sh"))  # instead of the command
    work, said = Work(), list[str]()

    def run() -> None:
        try:
            work.json_of_command("experiment", "dome", "--json")
        except RejectedError as error:
            said.append(str(error))

    assert not work.cancel()
    for end in (work.cancel, work.close):
        runs = Thread(target=run)
        runs.start()
        until(lambda: work._process is not None)
        end()
        runs.join()
    run()
    assert said == ["pliant experiment was cancelled."] * 2 + ["The Studio is shutting down: no new work is accepted."]


# ---- in the browser ------------------------------------------------------------------------------------------------


def test_a_recording_can_be_scrubbed_and_run_otherwise(page: Any, studio: Running) -> None:
    run = simulate(load_task("push"))
    replace(run, records=run.records[300:]).save(studio.folder / "push.mcap")  # not from the beginning on
    studio.loop.set({"admittance.stiffness": 1500.0})
    part(page, "recordings").focus()
    studio.until(lambda: part(page, "recordings").locator("option[value='push.mcap']").count() == 1)
    part(page, "recordings").select_option("push.mcap")
    part(page, "open").click()
    studio.until(lambda: part(page, "scrub").is_visible())
    studio.until(lambda: "Recording, not live: push.mcap" in page.locator("#hint").text_content())
    studio.until(
        lambda: page.locator(".values").first.text_content().startswith(f"{part(page, 'moment').text_content()}")
    )
    part(page, "scrub").focus()
    for _ in range(5):
        page.keyboard.press("PageUp")
    studio.until(lambda: int(part(page, "scrub").input_value()) > 0)
    part(page, "what-if").click()
    studio.reads(page, "notice", "Dotted lines", LONG_S)
    assert "Pushes by hand are not recorded and are missing" in part(page, "otherwise").text_content()
    was = int(part(page, "scrub").input_value())
    part(page, "play").click()
    studio.until(lambda: int(part(page, "scrub").input_value()) > was)
    part(page, "live").click()
    studio.until(lambda: not part(page, "scrub").is_visible())
    studio.until(lambda: "Drag the arm to push it" in page.locator("#hint").text_content())


def test_an_experiment_runs_and_shows_its_picture_and_its_table(page: Any, studio: Running) -> None:
    part(page, "gallery").click()
    part(page, "run-push").click()
    studio.until(lambda: part(page, "result").count() == 1, LONG_S)
    assert "all targets met" in part(page, "result").text_content()
    studio.until(lambda: page.evaluate("document.querySelector('dialog img')?.naturalWidth ?? 0") > 300)
    head = studio.loop.board.head
    studio.until(lambda: studio.loop.board.head > head)
    part(page, "result").get_by_test_id("close").click()


def process_of(studio: Running, word: bytes) -> int:
    """The number of a process that the Studio has started with this word; 0 if there is none."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_bytes().split(b"\0")
            if parent == studio.process.pid and word in words:
                return int(process.name)
    return 0


def works(studio: Running) -> bool:
    """Whether the Studio has a process of its own that runs an experiment."""
    return process_of(studio, b"experiment") != 0


def test_an_experiment_that_takes_too_long_is_cancelled(page: Any, studio: Running) -> None:
    part(page, "gallery").click()
    part(page, "run-contact-sweep").click()
    try:
        until(lambda: works(studio))
        until(lambda: re.search(r"Running contact-sweep….*\d+ s", part(page, "busy-work").text_content()))
        part(page, "gallery").click()
        part(page, "cancel-contact-sweep").click()
        until(lambda: "was cancelled" in part(page, "notice").text_content())
        until(lambda: not works(studio))
        until(lambda: part(page, "busy-work").count() == 0)
    finally:
        with dial(studio) as socket:  # whatever went wrong: it would take a core for minutes
            ask(socket, {"id": 1, "do": "cancel"})
    part(page, "gallery").click()
    until(lambda: part(page, "run-contact-sweep").is_enabled())
    part(page, "close").click()


def test_opening_a_recording_shows_its_progress_and_can_be_cancelled(page: Any, studio: Running) -> None:
    simulate(load_task("push")).save(studio.folder / "slow.mcap")
    part(page, "recordings").focus()
    until(lambda: part(page, "recordings").locator("option[value='slow.mcap']").count() == 1)
    part(page, "recordings").select_option("slow.mcap")
    with studio.holding_work():  # so that it is still there when it is cancelled
        part(page, "open").click()
        until(lambda: process_of(studio, b"pliant.studio.work.load_process"))
        until(lambda: "Opening slow.mcap…" in part(page, "busy-open").text_content())
        part(page, "cancel-open").click()
        until(lambda: "Opening slow.mcap was cancelled." in part(page, "notice").text_content())
        until(lambda: process_of(studio, b"pliant.studio.work.load_process") == 0)
    until(lambda: part(page, "busy-open").count() == 0)
    assert not part(page, "scrub").is_visible()


def test_a_way_through_a_map_is_planned_and_shown(page: Any, studio: Running) -> None:
    out = studio.folder
    (out / "room.yaml").write_text("image: room.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n")
    Image.fromarray(np.full((60, 100), 255, np.uint8)).save(out / "room.pgm")
    part(page, "plan").click()
    part(page, "plan-map").fill("nowhere.yaml")
    part(page, "go").click()
    studio.reads(page, "wrong", "There is no map 'nowhere.yaml' here")
    part(page, "plan-map").fill(str(out / "room.yaml"))
    part(page, "plan-start").fill("2,2,0")
    part(page, "plan-goal").fill("8,4,90")
    part(page, "go").click()
    studio.until(lambda: part(page, "planned").count() == 1, LONG_S)
    assert "m of it backwards" in part(page, "planned").text_content()
    studio.until(lambda: page.evaluate("document.querySelector('dialog img')?.naturalWidth ?? 0") > 300)
    part(page, "planned").get_by_test_id("close").click()
