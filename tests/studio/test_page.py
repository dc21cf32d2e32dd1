"""The page in a real browser: every control does what it says, read from the board of the loop, not from the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_studio import Running, part, ready, start, until

from pliant.record.reader import Recording
from pliant.records import LIMITS
from pliant.runtime.link import attach
from pliant.runtime.task import find_task

REASON = "why-admittance.mass"


@pytest.fixture
def page(studio: Running, browser: Any) -> Iterator[Any]:
    """The page of the Studio, showing frames."""
    opened = browser.new_page(viewport={"width": 1280, "height": 720})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(f"{studio.url}&quality=low")
    ready(opened)
    yield opened
    opened.close()
    assert errors == []


def stopped(studio: Running) -> bool:
    return bool(studio.loop.state.goal.stop)


def start_anew(studio: Running) -> None:
    """Go on after a stop, whatever the last test left."""
    studio.loop.resume()
    until(lambda: not stopped(studio))


# ---- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["click", "Space", "Escape"])
def test_stop_is_always_at_hand(page: Any, studio: Running, how: str) -> None:
    start_anew(studio)
    if how == "click":
        part(page, "stop").click()
    else:
        page.keyboard.press(how)
    until(lambda: stopped(studio))
    part(page, "resume").click()
    until(lambda: not stopped(studio))


def test_a_dialog_that_covers_the_page_has_a_stop_of_its_own(page: Any, studio: Running) -> None:
    start_anew(studio)
    part(page, "gallery").click()
    part(page, "dialog-stop").click()
    until(lambda: stopped(studio))
    part(page, "close").click()
    part(page, "resume").click()
    until(lambda: not stopped(studio))


def test_the_loop_hears_of_a_stop_within_a_fifth_of_a_second(page: Any, studio: Running) -> None:
    delays = []
    for _ in range(9):
        start_anew(studio)
        first = studio.loop.board.head
        pressed = page.evaluate("""() => { document.querySelector('[data-testid=stop]').click(); return Date.now() }""")
        until(lambda: stopped(studio))
        records, _, _ = studio.loop.board.read(first)
        heard = records[records["goal"]["stop"] == 1][0]["timing"]["wall_ns"]
        delays.append(heard * 1e-9 - pressed * 1e-3)
    start_anew(studio)
    assert np.median(delays) < 0.2


# ---- tuning --------------------------------------------------------------------------------------------------------


def test_a_slider_changes_what_is_in_force_and_undo_takes_it_back(page: Any, studio: Running) -> None:
    before = studio.loop.parameters
    slider = part(page, "slider-admittance.mass")
    slider.focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    until(lambda: studio.loop.parameters.admittance.mass[0][0] > before.admittance.mass[0][0])
    asked = part(page, "number-admittance.mass")  # of many proposals on their way, the last counts
    until(lambda: studio.loop.parameters.admittance.mass[0][0] == float(asked.input_value()))
    after = studio.loop.parameters
    assert after.admittance.mass[0][0] == after.admittance.mass[2][2]
    assert after.admittance.mass[3][3] == before.admittance.mass[3][3]
    part(page, "undo").click()
    until(lambda: studio.loop.parameters != after)
    part(page, "redo").click()
    until(lambda: studio.loop.parameters == after)
    studio.loop.set({"admittance.mass": [row[i] for i, row in enumerate(before.admittance.mass)]})
    until(lambda: float(asked.input_value()) == before.admittance.mass[0][0])


def test_a_refused_value_says_why_and_changes_nothing(page: Any, studio: Running) -> None:
    before = studio.loop.board.adopted
    field = part(page, "number-admittance.mass")
    field.fill("-3")
    field.press("Enter")
    until(lambda: part(page, REASON).is_visible())
    assert "mass" in part(page, REASON).text_content()
    assert studio.loop.board.adopted == before
    field.fill("8")
    field.press("Enter")
    until(lambda: not part(page, REASON).is_visible())


def test_every_live_parameter_can_be_written(page: Any, studio: Running) -> None:
    part(page, "all-parameters").locator("summary").click()
    field = part(page, "field-sense.cutoff_hz")
    field.fill("17.5")
    field.press("Enter")
    until(lambda: studio.loop.parameters.sense.cutoff_hz == 17.5)
    field.fill("plenty")
    field.press("Enter")
    until(lambda: "sense.cutoff_hz" in part(page, "notice").text_content())
    assert studio.loop.parameters.sense.cutoff_hz == 17.5


def test_axes_that_are_not_linked_are_turned_one_by_one(page: Any, studio: Running) -> None:
    part(page, "linked").click()
    field = part(page, "number-admittance.stiffness.1")
    field.fill("123")
    field.press("Enter")
    until(lambda: studio.loop.parameters.admittance.stiffness[1][1] == 123.0)
    assert studio.loop.parameters.admittance.stiffness[0][0] != 123.0


def test_two_pages_agree(page: Any, studio: Running, browser: Any) -> None:
    other = browser.new_page(viewport={"width": 1024, "height": 700})
    other.goto(f"{studio.url}&quality=low")
    ready(other)
    field = part(page, "number-sense.deadband_n")
    field.fill("3.25")
    field.press("Enter")
    until(lambda: float(part(other, "number-sense.deadband_n").input_value()) == 3.25)
    assert studio.loop.parameters.sense.deadband_n == 3.25
    other.close()


def test_values_are_saved_into_the_file_that_is_named(page: Any, studio: Running, out: Path) -> None:
    file = out / "mine.yaml"
    file.write_text("law: admittance  # gives way\nparams:\n  sense:\n    cutoff_hz: 50 # soft\n")
    studio.loop.set({"sense.cutoff_hz": 21.0})
    part(page, "save").click()
    part(page, "save-path").fill(str(out / "nothing.yaml"))
    part(page, "go").click()
    until(lambda: "existing file" in part(page, "wrong").text_content())
    part(page, "save-path").fill(str(file))
    part(page, "go").click()
    until(lambda: part(page, "dialog").count() == 0)
    assert "cutoff_hz: 21" in file.read_text()
    assert "# soft" in file.read_text()
    assert "# gives way" in file.read_text()


def test_sets_that_were_kept_can_be_compared_and_taken_over(page: Any, studio: Running) -> None:
    studio.loop.set({"admittance.stiffness": 111.0, "sense.deadband_n": 2.0})
    part(page, "keep").click()
    until(lambda: part(page, "preset").locator("option[value=A]").count() == 1)
    studio.loop.set({"admittance.stiffness": 222.0})
    part(page, "preset").select_option("A")
    until(lambda: part(page, "dialog").count() == 1)
    told = part(page, "dialog").text_content()
    assert "admittance.stiffness" in told
    assert "222" in told
    assert "sense.deadband_n" not in told
    part(page, "go").click()
    until(lambda: studio.loop.parameters.admittance.stiffness[0][0] == 111.0)


def test_the_values_of_another_task_are_taken_over_as_one_change(page: Any, studio: Running) -> None:
    before = studio.loop.parameters
    part(page, "preset").select_option("precise_assembly")
    until(lambda: part(page, "dialog").count() == 1)
    part(page, "go").click()
    wanted = find_task("precise_assembly").params.admittance.stiffness
    until(lambda: studio.loop.parameters.admittance.stiffness == wanted)
    part(page, "undo").click()
    until(lambda: studio.loop.parameters == before)


def test_goal_and_virtual_push_can_be_typed(page: Any, studio: Running) -> None:
    start_anew(studio)
    x = float(studio.loop.state.goal.pose[0])
    part(page, "goal-x").fill(str(round(x + 0.01, 3)))
    part(page, "goal-x").press("Enter")
    until(lambda: abs(studio.loop.state.goal.pose[0] - x - 0.01) < 1e-3)
    part(page, "force-y").fill("4")
    part(page, "force-y").press("Enter")
    until(lambda: studio.loop.state.goal.push[1] == 4.0)
    studio.loop.virtual_push([0.0, 0.0, 0.0])
    until(lambda: part(page, "force-x").input_value() == "0")


# ---- pushing -------------------------------------------------------------------------------------------------------


def body_on_screen(page: Any) -> tuple[float, float]:
    """A point of the canvas where the arm is: the cursor says so by grabbing (found by looking along a grid)."""
    box = part(page, "canvas").bounding_box()
    for y in np.linspace(0.2, 0.8, 13):
        for x in np.linspace(0.25, 0.75, 21):
            at = (box["x"] + x * box["width"], box["y"] + y * box["height"])
            page.mouse.move(*at)
            page.mouse.down()
            grabbed = part(page, "pushing").is_visible()
            page.mouse.up()
            if grabbed:
                return at
    raise AssertionError("the arm is not in the view")


def test_dragging_the_arm_pushes_it_and_letting_go_ends_the_push(page: Any, studio: Running) -> None:
    start_anew(studio)
    until(lambda: np.abs(studio.loop.state.reading.qd).max() < 1e-3)  # it stays where it is found
    x, y = body_on_screen(page)
    until(lambda: np.linalg.norm(studio.loop.wrench[:3]) < 3.0)
    rest = studio.loop.pose[:3]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y, steps=6)
    until(lambda: np.linalg.norm(studio.loop.wrench[:3]) > 8.0)
    assert "N" in part(page, "pushing").text_content()
    until(lambda: np.linalg.norm(studio.loop.pose[:3] - rest) > 0.01)
    page.mouse.up()
    assert not part(page, "pushing").is_visible()
    until(lambda: np.linalg.norm(studio.loop.wrench[:3]) < 3.0)


def test_a_page_that_is_closed_while_it_pushes_pushes_no_more(studio: Running, browser: Any) -> None:
    start_anew(studio)
    opened = browser.new_page(viewport={"width": 1280, "height": 720})
    opened.goto(f"{studio.url}&quality=low")
    ready(opened)
    x, y = body_on_screen(opened)
    opened.mouse.move(x, y)
    opened.mouse.down()
    opened.mouse.move(x + 120, y, steps=6)
    until(lambda: np.linalg.norm(studio.loop.wrench[:3]) > 8.0)
    opened.close()
    until(lambda: np.linalg.norm(studio.loop.wrench[:3]) < 3.0)


# ---- the other buttons ---------------------------------------------------------------------------------------------


def test_tare_makes_the_present_reading_zero(page: Any, studio: Running) -> None:
    start_anew(studio)
    studio.loop.halt()
    until(lambda: np.abs(studio.loop.state.reading.qd).max() < 1e-3)
    before = studio.loop.board.adopted
    part(page, "tare").click()
    until(lambda: studio.loop.board.adopted > before)
    assert np.abs(np.array(studio.loop.parameters.sense.bias)).max() > 0.0


def test_record_writes_a_file_that_can_be_read(page: Any, studio: Running, out: Path) -> None:
    start_anew(studio)
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Stop recording")
    studio.loop.wait(0.5)
    part(page, "record").click()
    until(lambda: part(page, "record").text_content() == "Record")
    (file,) = out.glob("*.mcap")
    records = Recording.load(file).records
    assert len(records) > 100
    assert np.all(np.diff(records["tick"]) == 1)


def test_the_page_shows_what_limits_cut(page: Any, studio: Running) -> None:
    start_anew(studio)
    studio.loop.set({"limits.linear_speed_m_s": 0.02})
    studio.loop.push([40.0, 0.0, 0.0], 3.0)
    until(lambda: "tool speed" in part(page, "cuts").text_content())
    assert "tool speed" in LIMITS.values()
    studio.loop.set({"limits.linear_speed_m_s": 0.5})


def test_a_part_of_a_plot_that_is_enlarged_stays_and_shows_its_values(page: Any) -> None:
    plot = page.locator("[data-testid='plot-Force'] .u-over")
    box = plot.bounding_box()
    middle = box["y"] + 0.5 * box["height"]
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    until(lambda: " s" in part(page, "values-Force").text_content())
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=4)
    page.mouse.up()
    until(lambda: part(page, "freeze").get_attribute("aria-pressed") == "true")
    page.mouse.move(5, 5)
    until(lambda: part(page, "values-Force").is_hidden())
    part(page, "freeze").click()
    until(lambda: part(page, "freeze").get_attribute("aria-pressed") == "false")


def test_looks_change_and_stay(page: Any) -> None:
    theme = "document.documentElement.dataset.theme"
    before = page.evaluate(theme)
    part(page, "theme").click()
    after = page.evaluate(theme)
    assert {before, after} == {"dark", "light"}
    page.reload()
    ready(page)
    assert page.evaluate(theme) == after


def test_everything_can_be_reached_by_keyboard(page: Any) -> None:
    reached = set()
    for _ in range(70):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.testid ?? ''"))
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


# ---- other loops, other servers ------------------------------------------------------------------------------------


def test_another_task_can_be_started_and_its_contact_orders_reach_it(page: Any, studio: Running) -> None:
    part(page, "task").select_option("plane")
    part(page, "start").click()
    until(lambda: "plane" in part(page, "loop").text_content())
    studio.loop = attach(page.evaluate("document.body.dataset.loop"))
    studio.loop.wait(0.2)
    assert studio.loop.task.law == "hybrid"
    contact = lambda: int(studio.loop.state.state.contact.state)  # noqa: E731
    part(page, "retract").click()
    until(lambda: contact() in (0, 5, 7))
    until(lambda: contact() in (0, 7))
    part(page, "seek").click()
    until(lambda: contact() == 2)
    part(page, "pause").click()
    until(lambda: contact() == 6)
    part(page, "go-on").click()
    until(lambda: contact() in (2, 3, 4))
    assert part(page, "state").is_visible()


def test_a_page_comes_back_when_the_server_does(browser: Any, tmp_path: Path) -> None:
    first = start("hand_guiding", tmp_path)
    opened = browser.new_page()
    opened.goto(f"{first.url}&quality=low")
    ready(opened)
    first.end()
    until(lambda: part(opened, "status").text_content() == "no connection")
    again = start("hand_guiding", tmp_path, first.port)
    try:
        until(lambda: part(opened, "status").text_content() == "running")
        part(opened, "stop").click()
        until(lambda: bool(again.loop.state.goal.stop))
    finally:
        opened.close()
        again.end()
