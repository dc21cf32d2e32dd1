"""The mission on the page: what a press does is read from the board of its loop, not from the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from running_studio import Running, Stops, part, start, stop, until

from pliant.analysis.mission_figures import recorded_mission
from pliant.errors import RejectedError
from pliant.mobile.mission.mission_link import MissionLink, attach_mission
from pliant.record import Recording
from pliant.session.link import attach
from pliant.session.undo import Changes
from pliant.studio.actions import ACTIONS, BESIDE
from pliant.studio.page_requests import Begin
from pliant.studio.request import Request
from pliant.studio.stage.stage import Stage
from pliant.task.bundled_files import bundled_files

FILE = "near.yaml"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Studio with the mission that comes along, some metres from its goal, with a base that takes a minute there."""
    out = tmp_path_factory.mktemp("mission")
    text = bundled_files("task")["fetch"].read_text().replace("start: [1.0, 1.2, 90]", "start: [4.0, 2.2, 0]")
    text += "base: {forward_m_s: 0.12, backward_m_s: 0.12}\ntravel: {limit_s: 600}\n"
    text = text.replace("map: maps/flat.yaml", "map: flat")
    (out / FILE).write_text(text)
    running = start(FILE, out, reach=attach_mission)
    yield running
    running.end()


@pytest.fixture
def loop(studio: Running) -> MissionLink:
    """Its loop, standing, whatever the last test left."""
    link = studio.loop
    link.halt()
    until(lambda: not link.mission_log["moving"])
    return link


def account(loop: MissionLink) -> dict[str, Any]:
    return loop.mission_log["account"]


def stages(loop: MissionLink) -> list[str]:
    """All that it has gone through."""
    return [stage for _, stage, _ in account(loop)["log"]]


def test_the_page_shows_map_way_and_stage_and_hides_what_a_law_has(page: Any, loop: MissionLink) -> None:
    until(lambda: part(page, "way").text_content().startswith("Path:"))
    until(lambda: page.evaluate("document.body.dataset.stage") == loop.stage)
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
    until(lambda: "a stop was requested" in part(page, "log").text_content())


def test_the_loop_obeys_every_stop_of_the_page_with_its_next_tick(page: Any, loop: MissionLink) -> None:
    stops = Stops(page, loop)
    for _ in range(3):
        loop.begin()
        until(lambda: loop.state["base"]["command"][0] > 0.02)
        last = stops.press()
        until(lambda: loop.stage == "stopped" and not loop.mission_log["moving"])
        stopping_s, stage, _ = account(loop)["log"][-2]
        assert stage == "stopping"
        assert stopping_s <= (last + 2) * loop.task.dt  # it may have been held in the middle of a tick
        until(lambda: not part(page, "alarm").is_visible())  # which was up if the loop was held for long


@pytest.mark.parametrize("first", ["ready", "stopped"])
def test_a_stop_wins_that_comes_when_a_begin_was_taken_but_not_sent(loop: MissionLink, first: str) -> None:
    """At its start a mission would go at once; after its end it would look for a way, and then go."""
    if loop.stage != first and first == "ready":
        loop.goal(account(loop)["goal"][:3])
    elif loop.stage != first:
        loop.begin()
        loop.halt()
    until(lambda: loop.stage == first and not loop.mission_log["moving"])
    before, place = len(account(loop)["log"]), loop.state["base"]["pose"].copy()
    stage = Stage()
    stage.attach(loop.name)
    request = Request(stage, Begin(), Changes())
    request.check_stops()  # as the desk does when it is the request's turn
    stop(stage)
    with pytest.raises(RejectedError, match="A stop came first"):
        ACTIONS[BESIDE]["begin"](request)
    loop.wait(0.1)
    until(lambda: not loop.mission_log["seeking"] and not loop.mission_log["moving"])
    assert "B" not in [change[1] for change in account(loop)["log"][before:]]
    np.testing.assert_allclose(loop.state["base"]["pose"], place, atol=1e-4)


def test_a_goal_that_is_typed_is_planned_for(page: Any, loop: MissionLink) -> None:
    before = loop.state["base"]["pose"].copy()
    until(lambda: part(page, "aim-y").is_enabled())
    part(page, "aim-y").fill("3.2")
    part(page, "aim-y").press("Enter")
    until(lambda: account(loop)["goal"][1] == 3.2)
    assert loop.stage == "ready"
    np.testing.assert_allclose(account(loop)["path"]["start"], before, atol=0.02)


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
    page.evaluate("document.body.dataset.knob = ''")  # it is of the view before, until the next frame
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


def scrub_to(page: Any, times: np.ndarray[Any, Any], time_s: float) -> None:
    """Go to a moment of the recording that is shown, or to its end."""
    most = int(part(page, "scrub").get_attribute("max"))
    part(page, "scrub").fill(str(round(most * min(1.0, (time_s - times[0]) / (times[-1] - times[0])))))


@pytest.mark.slow
def test_a_mission_is_recorded_and_looked_at_again(page: Any, loop: MissionLink, studio: Running) -> None:
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Stop recording")
    part(page, "begin").click()
    until(lambda: loop.stage == "B")
    loop.wait(0.5)
    part(page, "stop").click()
    until(lambda: loop.stage == "stopped")
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Record")
    (file,) = studio.folder.glob("*.mcap")
    recording = Recording.load(file)
    mission_log, records = recorded_mission(recording), recording.records
    assert [change.stage for change in mission_log.log][-4:] == ["A", "B", "stopping", "stopped"]
    part(page, "recordings").focus()
    until(lambda: part(page, "recordings").locator("option[value$=mcap]").count() == 1)
    part(page, "open").click()
    until(lambda: part(page, "scrub").is_visible())
    begun, stopping = (change.time_s for change in mission_log.log[-3:-1])
    for stage, time_s in (("B", 0.5 * (begun + stopping)), ("stopped", np.inf), ("B", begun + 0.1)):
        scrub_to(page, records["time_s"], time_s)
        until(lambda stage=stage: page.evaluate("document.body.dataset.stage") == stage)
    part(page, "live").click()
    until(lambda: page.evaluate("document.body.dataset.stage") == "stopped")


@pytest.mark.slow
def test_from_a_mission_to_an_arm_and_back(page: Any, studio: Running, loop: MissionLink) -> None:
    def shown() -> str:
        return page.evaluate("document.body.dataset.loop")

    first = shown()
    part(page, "task").select_option("hand_guiding")
    part(page, "start").click()
    until(lambda: shown() not in ("", first))
    arm = attach(shown())
    until(lambda: part(page, "slider-admittance.mass").is_visible())
    assert not part(page, "begin").is_visible()
    part(page, "stop").click()
    until(lambda: bool(arm.state.goal.stop))
    second = shown()
    part(page, "task").select_option("fetch")
    part(page, "start").click()
    until(lambda: shown() not in ("", second))
    studio.loop = attach_mission(shown())
    assert studio.loop.stage == "ready"
    part(page, "begin").click()
    until(lambda: "B" in stages(studio.loop))
    assert stages(studio.loop)[stages(studio.loop).index("B") - 1] == "A"
