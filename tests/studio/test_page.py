"""The page in a real browser: every control does what it says, read from the board of the loop, not from the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arm_on_screen import force_on, place_on_arm
from contacts import Visited, lift_off, seek
from running_studio import Running, Stops, opened, part, ready, until

from pliant.control.laws.contact.contact_states import PAUSED, SLIDE
from pliant.record.reader import Recording
from pliant.records import LIMITS
from pliant.session.link import attach
from pliant.studio.listening import LOCAL

# Width and height of a small laptop, and of tablets that are touched.
SIZES = {"laptop": (1280, 720), "tablet": (1024, 768), "tablet upright": (820, 1180)}


# ---- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["click", "Space", "Escape", "Space in a number"])
def test_stop_is_always_at_hand(page: Any, studio: Running, how: str) -> None:
    studio.go_on(page)
    if how == "click":
        part(page, "stop").click()
    elif how == "Space in a number":
        part(page, "number-admittance.mass").press("Space")
    else:
        page.keyboard.press(how)
    studio.until(lambda: studio.stopped)
    part(page, "resume").click()
    studio.until(lambda: not studio.stopped)


def test_a_dialog_that_covers_the_page_has_a_stop_of_its_own(page: Any, studio: Running) -> None:
    studio.go_on(page)
    part(page, "gallery").click()
    part(page, "dialog-stop").click()
    studio.until(lambda: studio.stopped)
    part(page, "close").click()
    part(page, "resume").click()
    studio.until(lambda: not studio.stopped)


def test_escape_closes_an_open_dialog_and_stops_the_robot(page: Any, studio: Running) -> None:
    studio.go_on(page)
    part(page, "gallery").click()
    until(lambda: part(page, "dialog").is_visible())
    page.keyboard.press("Escape")
    studio.until(lambda: studio.stopped)
    until(lambda: part(page, "dialog").count() == 0)
    studio.go_on(page)
    part(page, "save").click()
    part(page, "save-path").press("Escape")
    studio.until(lambda: studio.stopped)
    until(lambda: part(page, "dialog").count() == 0)
    studio.go_on(page)


def test_the_loop_obeys_every_stop_of_the_page_with_its_next_tick(page: Any, studio: Running) -> None:
    stops = Stops(page, studio.loop)
    for _ in range(5):
        studio.go_on(page)
        last = stops.press()
        studio.until(lambda: studio.stopped)
        records, _, lost = studio.loop.board.read(last)
        assert lost == 0
        assert np.flatnonzero(records["goal"]["stop"])[0] <= 1  # it may have been held in the middle of a tick
        until(lambda: not part(page, "alarm").is_visible())  # which was up if the loop was held for long
    studio.go_on(page)


# ---- pushing -------------------------------------------------------------------------------------------------------


def take_hold(page: Any, studio: Running) -> tuple[float, float]:
    """Pull the arm to the right by a place where it is; returns that place."""
    studio.until(lambda: force_on(studio) < 3.0)
    x, y = place_on_arm(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y, steps=6)
    studio.until(lambda: force_on(studio) > 8.0)
    return x, y


def newtons(page: Any) -> float:
    """How hard the arm is pushed, as the page says beside the pointer [N]."""
    words = part(page, "pushing").text_content()
    assert words.endswith(" N")
    return float(words.removesuffix(" N"))


def test_dragging_the_arm_pushes_it_and_letting_go_ends_the_push(page: Any, studio: Running) -> None:
    studio.go_on()
    studio.loop.set({"admittance.stiffness": 0.0})  # whatever the tests before left: nothing pulls it back to its goal
    studio.until(lambda: studio.stands)  # it stays where it is found
    rest = studio.loop.pose[:3]
    take_hold(page, studio)
    studio.until(lambda: abs(newtons(page) - force_on(studio)) < 2.0)  # of some tens
    studio.until(lambda: np.linalg.norm(studio.loop.pose[:3] - rest) > 0.01)
    page.mouse.up()
    studio.until(lambda: not part(page, "pushing").is_visible())
    studio.until(lambda: force_on(studio) < 3.0)


def test_a_drag_without_effect_says_why(page: Any, studio: Running) -> None:
    """While the robot is stopped, and while the law hold runs."""
    notice = lambda: part(page, "notice").text_content()  # noqa: E731
    studio.rest()
    until(lambda: "stopped" in part(page, "law").text_content())
    take_hold(page, studio)
    until(lambda: notice() == "No effect while the robot is stopped. Press Resume first.")
    page.mouse.up()
    studio.until(lambda: force_on(studio) < 3.0)
    studio.go_on(page)
    studio.loop.law("hold")
    until(lambda: part(page, "law").text_content() == "hold")
    take_hold(page, studio)
    until(lambda: notice() == "No effect: the law hold keeps the arm in place.")
    page.mouse.up()
    studio.until(lambda: force_on(studio) < 3.0)
    studio.loop.law("admittance")
    until(lambda: part(page, "law").text_content() == "admittance")


def test_a_page_that_is_closed_while_it_pushes_pushes_no_more(studio: Running, browser: Any) -> None:
    studio.rest()  # so that the arm stays where it is found
    with opened(browser, studio.url) as page:
        take_hold(page, studio)
    studio.until(lambda: force_on(studio) < 3.0)


def test_a_push_ends_though_the_button_is_held(page: Any, studio: Running) -> None:
    """When it is cancelled, when the window loses the focus, and when the pointer leaves the window."""
    studio.rest()  # so that the arm stays where it is found
    cancel = "document.querySelector('canvas').dispatchEvent(new PointerEvent('pointercancel', {pointerId: 1}))"
    blur = "window.dispatchEvent(new Event('blur'))"
    ends = (lambda _: page.evaluate(cancel), lambda _: page.evaluate(blur), lambda x: page.mouse.move(x, -20))
    for end in ends:
        x, _ = take_hold(page, studio)
        end(x)
        studio.until(lambda: force_on(studio) < 3.0)
        assert not part(page, "pushing").is_visible()
        page.mouse.up()


# ---- the other buttons ---------------------------------------------------------------------------------------------


def test_tare_makes_the_present_reading_zero(page: Any, studio: Running) -> None:
    studio.rest()
    loop = studio.loop
    loop.set({"sense.bias": (6.0, -4.0, 3.0, 0.2, 0.0, 0.0)})
    studio.until(lambda: force_on(studio) > 4.0)
    before, first = loop.board.adopted, loop.board.head
    part(page, "tare").click()
    studio.until(lambda: loop.board.adopted > before)
    reading = loop.board.read(first)[0]["reading"]
    mean = reading["wrench"].mean(axis=0) - loop.arm.tool_weight(reading["q"][-1][: loop.arm.n])
    np.testing.assert_allclose(loop.parameters.sense.bias[:3], mean[:3], atol=0.2)
    np.testing.assert_allclose(loop.parameters.sense.bias[3:], mean[3:], atol=0.02)
    studio.until(lambda: force_on(studio) < 0.5)


def test_record_writes_a_file_that_can_be_read(page: Any, studio: Running) -> None:
    studio.go_on()
    before = set(studio.folder.glob("*.mcap"))
    part(page, "record").click()
    studio.until(lambda: part(page, "record").text_content() == "Stop recording")
    studio.loop.wait(0.5)
    part(page, "record").click()
    studio.until(lambda: part(page, "record").text_content() == "Record")
    (file,) = set(studio.folder.glob("*.mcap")) - before
    records = Recording.load(file).records
    assert len(records) > 100
    assert np.all(np.diff(records["tick"]) == 1)


def test_the_page_shows_what_limits_cut(page: Any, studio: Running) -> None:
    studio.go_on()
    before = studio.loop.parameters.limits.linear_speed_m_s
    studio.loop.set({"limits.linear_speed_m_s": 0.02})
    try:
        studio.loop.virtual_push([40.0, 0.0, 0.0])  # until it is ended: the page has time to tell of it
        studio.reads(page, "cuts", "tool speed")
    finally:
        studio.let_go()
        studio.loop.set({"limits.linear_speed_m_s": before})
    assert "tool speed" in LIMITS.values()
    studio.until(lambda: "tool speed" not in part(page, "cuts").text_content())


def test_the_page_says_that_a_stiffer_spring_waits_for_the_energy_tank(page: Any, studio: Running) -> None:
    """An arm that may only creep refills it so slowly that every page has time to show it."""
    loop, words = studio.loop, "the rest waits until motion refills the energy tank"
    before = loop.parameters.limits.linear_speed_m_s
    studio.go_on()
    loop.set({"admittance.stiffness": 0.0})
    studio.let_go()
    assert words not in part(page, "cuts").text_content()
    try:
        loop.set({"limits.linear_speed_m_s": 0.001})
        loop.goal_position(np.add(loop.pose[:3], [0.0, 0.0, 0.3]))
        studio.obeyed()
        loop.set({"admittance.stiffness": 800.0})
        studio.reads(page, "cuts", words)
        assert loop.state.state.ramp < 1.0
    finally:
        loop.set({"admittance.stiffness": 0.0, "limits.linear_speed_m_s": before})
        studio.let_go()
        loop.goal_pose(loop.pose)
    studio.until(lambda: words not in part(page, "cuts").text_content())


def test_looks_change_and_stay(page: Any) -> None:
    theme = "document.documentElement.dataset.theme"
    before = page.evaluate(theme)
    part(page, "theme").click()
    after = page.evaluate(theme)
    assert {before, after} == {"dark", "light"}
    page.reload()
    ready(page)
    assert page.evaluate(theme) == after
    part(page, "theme").click()
    assert page.evaluate(theme) == before


def test_everything_can_be_reached_by_keyboard(page: Any) -> None:
    note = "window.reached = []; addEventListener('focusin', (e) => reached.push(e.target.dataset.testid ?? ''))"
    page.evaluate(note)
    for _ in range(70):
        page.keyboard.press("Tab")
    reached = set(page.evaluate("window.reached"))
    assert {
        "stop",
        "tare",
        "record",
        "theme",
        "task",
        "robot",
        "start",
        "undo",
        "save",
        "keep",
        "preset",
        "gallery",
        "slider-admittance.mass",
    } <= reached


def test_the_page_asks_nobody_but_the_studio(page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.reload()
    ready(page)
    part(page, "gallery").click()
    part(page, "close").click()
    outside = [url for url in asked if not url.startswith((f"http://{LOCAL}:", f"ws://{LOCAL}:", "data:"))]
    assert outside == []
    assert any(url.startswith("ws:") for url in asked)
    assert sum(url.startswith("http:") for url in asked) >= 3  # the page, its program, its style


# ---- other loops, other servers ------------------------------------------------------------------------------------


def test_the_chosen_robot_runs_the_chosen_task(page: Any, studio: Running) -> None:
    before = page.evaluate("document.body.dataset.loop")
    part(page, "task").select_option("hand_guiding")
    part(page, "robot").select_option("sim:ur10e")
    part(page, "start").click()
    until(lambda: page.evaluate("document.body.dataset.loop") not in ("", before))
    studio.loop = attach(page.evaluate("document.body.dataset.loop"))
    assert studio.loop.task.robot == "sim:ur10e"
    assert "ur10e" in part(page, "loop").text_content()
    studio.until(lambda: studio.loop.running)


@pytest.mark.slow
def test_run_again_starts_the_same_task_on_the_same_robot_and_records_it(page: Any, studio: Running) -> None:
    before, robot = page.evaluate("document.body.dataset.loop"), studio.loop.task.robot
    files = lambda: set(studio.folder.glob("studio-hand_guiding-*.mcap"))  # noqa: E731
    there = files()
    assert part(page, "record-run").is_checked()
    part(page, "again").click()
    until(lambda: page.evaluate("document.body.dataset.loop") not in ("", before))
    studio.loop = attach(page.evaluate("document.body.dataset.loop"))
    assert (studio.loop.task.name, studio.loop.task.robot) == ("hand_guiding", robot)
    until(lambda: part(page, "record").text_content() == "Stop recording")
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Record")
    (file,) = files() - there
    assert Recording.load(file).records["tick"][0] == 0
    before = studio.loop.name
    part(page, "record-run").uncheck()
    part(page, "again").click()
    until(lambda: page.evaluate("document.body.dataset.loop") not in ("", before))
    studio.loop = attach(page.evaluate("document.body.dataset.loop"))
    studio.until(lambda: studio.loop.board.head > 100)
    assert part(page, "record").text_content() == "Record"
    assert not part(page, "record-run").is_checked()
    part(page, "record-run").check()
    assert files() == {*there, file}


@pytest.mark.slow
def test_another_task_can_be_started_and_its_contact_orders_reach_it(page: Any, studio: Running) -> None:
    part(page, "task").select_option("plane")
    part(page, "start").click()
    until(lambda: "plane" in part(page, "loop").text_content())
    studio.loop = attach(page.evaluate("document.body.dataset.loop"))
    assert studio.loop.task.law == "contact"
    lift_off(page, studio)
    seek(page, studio)
    visited = Visited(studio.loop)
    part(page, "pause").click()
    studio.until(lambda: visited.states[-1:] == [PAUSED])
    part(page, "go-on").click()
    studio.until(lambda: visited.states[-1:] == [SLIDE])
    assert visited.states == [SLIDE, PAUSED, SLIDE]
    until(lambda: part(page, "state").is_visible())


@pytest.mark.slow
def test_a_page_comes_back_when_the_server_does(page: Any, studio: Running) -> None:
    studio.end()
    until(lambda: part(page, "status").text_content() == "no connection")
    studio.begin_again("hand_guiding")
    until(lambda: page.evaluate("document.body.dataset.loop") == studio.loop.name)
    until(lambda: part(page, "status").text_content() == "running")
    part(page, "stop").click()
    until(lambda: studio.stopped)


# ---- other screens -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tablet(studio: Running, browser: Any) -> Iterator[Any]:
    """A page that is touched."""
    with opened(browser, studio.url, has_touch=True) as page:
        yield page


def cut_off(page: Any, width: int, height: int) -> list[str]:
    """What is not wholly in sight of that which must always be."""

    def is_seen(name: str) -> bool:
        box = part(page, name).bounding_box()
        x, y = box["x"], box["y"]
        return x >= 0 and x + box["width"] <= width and y >= 0 and y + box["height"] <= height

    return [name for name in ("stop", "tare", "record", "canvas", "status") if not is_seen(name)]


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_nothing_is_cut_off_and_stop_is_in_sight_at(
    studio: Running, page: Any, tablet: Any, size: tuple[int, int]
) -> None:
    width, height = size
    touch = width < 1280
    page = tablet if touch else page
    page.set_viewport_size({"width": width, "height": height})
    studio.go_on()
    until(lambda: page.evaluate("[innerWidth, innerHeight]") == [width, height])
    until(lambda: page.evaluate("document.documentElement.scrollWidth") <= width)
    until(lambda: cut_off(page, width, height) == [])
    part(page, "start").scroll_into_view_if_needed()
    part(page, "gallery").scroll_into_view_if_needed()
    assert part(page, "stop").bounding_box()["y"] >= 0  # wherever the page was scrolled to
    (part(page, "stop").tap if touch else part(page, "stop").click)()
    studio.until(lambda: studio.stopped)
