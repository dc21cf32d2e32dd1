"""Recordings and experiments beside the loop: what the page gets of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from running_studio import Running, part, ready, start, until

from pliant.errors import PliantError
from pliant.params.declare import changed
from pliant.record.reader import Recording
from pliant.runtime.batch import simulate
from pliant.runtime.save import save_run
from pliant.runtime.task import find_task
from pliant.studio import archive


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one recording."""
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    save_run(simulate(find_task("push")), tmp_path / "push.mcap")
    return tmp_path


def test_a_recording_is_shown_as_it_was(kept: Path) -> None:
    shown = archive.open_recording("push.mcap")
    records = Recording.load(kept / "push.mcap").records[:: shown["every"]]
    assert len(shown["poses"]) == len(shown["columns"][0]) == len(records)
    assert len(shown["poses"][0]) == 7 * shown["bodies"]
    np.testing.assert_allclose(shown["columns"][0], records["time_s"], atol=1e-5)
    np.testing.assert_allclose(shown["tool"], records["observed"]["pose"], atol=1e-4)


def test_what_if_nothing_had_changed_is_what_was(kept: Path) -> None:
    task = find_task("push")
    again = archive.what_if("push.mcap", task.params)
    assert again["columns"] == archive.open_recording("push.mcap")["columns"]


def test_what_if_the_spring_had_been_stiffer(kept: Path) -> None:
    stiffer = changed(find_task("push").params, {"admittance.stiffness": 2000.0})
    distance = [channel.name for channel in archive.CHANNELS].index("distance from goal")
    was = max(archive.open_recording("push.mcap")["columns"][distance])
    assert max(archive.what_if("push.mcap", stiffer)["columns"][distance]) < 0.5 * was


@pytest.mark.parametrize("name", ["../push.mcap", "nothing.mcap", "push.txt", "", "a/b.mcap"])
def test_only_recordings_of_the_folder_are_opened(kept: Path, name: str) -> None:
    with pytest.raises(PliantError, match="one of those in"):
        archive.open_recording(name)


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(PliantError, match="experiment"):
        archive.run_experiment("everything")


# ---- in the browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(out: Path, browser: Any) -> Iterator[tuple[Any, Running]]:
    save_run(simulate(find_task("push")), out / "push.mcap")
    running = start("push", out)
    opened = browser.new_page(viewport={"width": 1280, "height": 720})
    opened.goto(f"{running.url}&quality=low")
    ready(opened)
    yield opened, running
    opened.close()
    running.end()


def test_a_recording_can_be_scrubbed_and_run_otherwise(page: tuple[Any, Running]) -> None:
    opened, running = page
    running.loop.set({"admittance.stiffness": 1500.0})
    until(lambda: part(opened, "recordings").locator("option").count() == 1)
    part(opened, "open").click()
    until(lambda: part(opened, "scrub").is_visible())
    part(opened, "scrub").focus()
    for _ in range(5):
        opened.keyboard.press("PageUp")
    assert int(part(opened, "scrub").input_value()) > 0
    part(opened, "what-if").click()
    until(lambda: "Dotted" in part(opened, "notice").text_content())
    part(opened, "play").click()
    was = int(part(opened, "scrub").input_value())
    until(lambda: int(part(opened, "scrub").input_value()) > was)
    part(opened, "live").click()
    until(lambda: not part(opened, "scrub").is_visible())


def test_an_experiment_runs_and_shows_its_picture_and_its_table(page: tuple[Any, Running]) -> None:
    opened, running = page
    part(opened, "gallery").click()
    part(opened, "run-servo").click()
    until(lambda: part(opened, "result").count() == 1, 300.0)
    assert "every bar is reached" in part(opened, "result").text_content()
    until(lambda: opened.evaluate("document.querySelector('dialog img')?.naturalWidth ?? 0") > 300)
    head = running.loop.board.head
    until(lambda: running.loop.board.head > head)
    part(opened, "result").get_by_test_id("close").click()


def test_a_way_through_a_map_is_planned_and_shown(page: tuple[Any, Running], out: Path) -> None:
    opened, _ = page
    (out / "room.yaml").write_text("image: room.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n")
    Image.fromarray(np.full((60, 100), 255, np.uint8)).save(out / "room.pgm")
    part(opened, "plan").click()
    part(opened, "plan-map").fill("nowhere.yaml")
    part(opened, "go").click()
    until(lambda: "the map is 'nowhere.yaml'" in part(opened, "wrong").text_content())
    part(opened, "plan-map").fill(str(out / "room.yaml"))
    part(opened, "plan-start").fill("2,2,0")
    part(opened, "plan-goal").fill("8,4,90")
    part(opened, "go").click()
    until(lambda: part(opened, "planned").count() == 1, 300.0)
    assert "m of it backwards" in part(opened, "planned").text_content()
    until(lambda: opened.evaluate("document.querySelector('dialog img')?.naturalWidth ?? 0") > 300)
    part(opened, "planned").get_by_test_id("close").click()
