"""The mission on the page: what a press does is read from the board of its loop, not from the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_studio import Running, part, ready, start, until

from pliant.analysis.mission import recorded_story
from pliant.record import Recording
from pliant.runtime.link import attach
from pliant.runtime.mission_link import MissionLink, attach_mission
from pliant.runtime.task import find_file

FILE = "near.yaml"


@pytest.fixture(scope="module")
def mission(out: Path) -> Iterator[Running]:
    """A Studio with the mission that comes along, begun near its goal."""
    text = find_file("fetch").read_text().replace("start: [1.0, 1.2, 90]", "start: [6.0, 2.2, 0]")
    text = text.replace("map: maps/flat.yaml", f"map: {find_file('fetch').parent / 'maps' / 'flat.yaml'}")
    (out / FILE).write_text(text)
    running = start(FILE, out, connect=attach_mission)
    yield running
    running.end()


@pytest.fixture(scope="module")
def page(mission: Running, browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1280, "height": 720})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(f"{mission.url}&quality=low")
    ready(opened)
    yield opened
    opened.close()
    assert errors == []


@pytest.fixture
def loop(mission: Running) -> MissionLink:
    """Its loop, standing, whatever the last test left."""
    link = mission.loop
    link.halt()
    until(lambda: not link.story["moving"])
    return link


def account(loop: MissionLink) -> dict[str, Any]:
    return loop.story["account"]


def test_the_page_shows_map_way_and_stage_and_hides_what_a_law_has(page: Any, loop: MissionLink) -> None:
    until(lambda: part(page, "way").text_content().startswith("Way:"))
    assert page.evaluate("document.body.dataset.stage") == loop.stage
    assert "Clearance" in page.locator("#plots").text_content()
    for hidden in ("tare", "resume", "seek"):
        assert not part(page, hidden).is_visible()
    assert not page.locator("#dynamics").is_visible()


def test_begin_sets_the_base_moving_and_stop_brakes_it(page: Any, loop: MissionLink) -> None:
    part(page, "begin").click()
    until(lambda: loop.stage == "B")
    until(lambda: loop.state["base"]["twist"][0] > 0.1)
    until(lambda: page.evaluate("document.body.dataset.stage") == "B")
    assert part(page, "begin").is_disabled()
    page.keyboard.press("Space")
    until(lambda: loop.stage == "stopped")
    assert np.abs(loop.state["base"]["twist"]).max() < 0.01
    until(lambda: "it was told to stop" in part(page, "log").text_content())


def test_the_loop_hears_of_a_stop_within_a_fifth_of_a_second(page: Any, loop: MissionLink) -> None:
    delays = []
    for _ in range(3):
        loop.begin()
        until(lambda: loop.state["base"]["command"][0] > 0.02)
        first = loop.board.head
        pressed = page.evaluate("() => { document.querySelector('[data-testid=stop]').click(); return Date.now() }")
        until(lambda: loop.stage == "stopped")
        stopped_s = account(loop)["log"][-2][0]
        records, _, _ = loop.board.read(first)
        heard = records[records["time_s"] >= stopped_s - 1e-9][0]["timing"]["wall_ns"]
        delays.append(heard * 1e-9 - pressed * 1e-3)
        until(lambda: not loop.story["moving"])
    assert np.median(delays) < 0.2


def test_a_goal_that_is_typed_is_planned_for(page: Any, loop: MissionLink) -> None:
    before = loop.state["base"]["pose"].copy()
    until(lambda: part(page, "aim-y").is_enabled())
    part(page, "aim-y").fill("3.2")
    part(page, "aim-y").press("Enter")
    until(lambda: account(loop)["goal"][1] == 3.2)
    assert loop.stage == "ready"
    np.testing.assert_allclose(account(loop)["way"]["start"], before, atol=0.02)


def test_a_goal_that_cannot_be_reached_says_why_and_changes_nothing(page: Any, loop: MissionLink) -> None:
    before = account(loop)
    until(lambda: part(page, "aim-z").is_enabled())
    part(page, "aim-z").fill("7")
    part(page, "aim-z").press("Enter")
    until(lambda: "cannot be reached" in part(page, "notice").text_content())
    assert account(loop) == before
    until(lambda: float(part(page, "aim-z").input_value()) == before["goal"][2])


def test_a_press_on_the_map_is_a_goal_and_a_drag_is_none(page: Any, loop: MissionLink) -> None:
    part(page, "view-Top").click()
    until(lambda: page.evaluate("document.body.dataset.knob"))
    before = account(loop)["goal"]
    box, ball = part(page, "canvas").bounding_box(), page.evaluate("document.body.dataset.knob").split()
    x, y = box["x"] + float(ball[0]), box["y"] + float(ball[1])
    page.mouse.move(x - 200, y)
    page.mouse.down()
    page.mouse.move(x - 150, y + 5, steps=4)
    page.mouse.up()
    part(page, "view-Top").click()
    page.mouse.click(x - 20, y)
    until(lambda: account(loop)["goal"] != before)
    goal = account(loop)["goal"]
    assert 0.1 < before[0] - goal[0] < 0.6  # some centimetres for a pixel; x is to the right
    assert goal[1] == pytest.approx(before[1], abs=0.2)
    assert goal[2] == before[2]
    until(lambda: float(part(page, "aim-x").input_value()) == pytest.approx(goal[0], abs=1e-3))


def test_a_mission_is_recorded_and_looked_at_again(page: Any, loop: MissionLink, out: Path) -> None:
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Stop recording")
    part(page, "begin").click()
    until(lambda: loop.stage == "B")
    loop.wait(0.5)
    part(page, "stop").click()
    until(lambda: loop.stage == "stopped")
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Record")
    (file,) = out.glob("*.mcap")
    story = recorded_story(Recording.load(file))
    assert [change.stage for change in story.log][-4:] == ["A", "B", "stopping", "stopped"]
    part(page, "recordings").focus()
    until(lambda: part(page, "recordings").locator("option").count() == 1)
    part(page, "open").click()
    until(lambda: part(page, "scrub").is_visible())
    part(page, "scrub").focus()
    stages = set()
    for _ in range(12):
        page.keyboard.press("PageUp")
        stages.add(page.evaluate("document.body.dataset.stage"))
    assert {"B", "stopped"} <= stages
    part(page, "live").click()
    until(lambda: page.evaluate("document.body.dataset.stage") == "stopped")


def test_from_a_mission_to_an_arm_and_back(page: Any, mission: Running, loop: MissionLink) -> None:
    def shown() -> str:
        return page.evaluate("document.body.dataset.loop")

    first = shown()
    part(page, "task").select_option("hand_guiding")
    part(page, "start").click()
    until(lambda: shown() != first)
    arm = attach(shown())
    until(lambda: part(page, "slider-admittance.mass").is_visible())
    assert not part(page, "begin").is_visible()
    part(page, "stop").click()
    until(lambda: bool(arm.state.goal.stop))
    second = shown()
    part(page, "task").select_option("fetch")
    part(page, "start").click()
    until(lambda: shown() != second)
    mission.loop = attach_mission(shown())
    assert mission.loop.stage == "ready"
    part(page, "begin").click()
    until(lambda: mission.loop.stage == "A")
