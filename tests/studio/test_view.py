"""The view: looked at from all sides by buttons, pointer and keys; and fingers that push the arm in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arm_on_screen import Fingers, force_on, place_on_arm
from running_studio import Running, part, tab, until, visit

VIEWS = ("Free", "Front", "Side", "Top", "Tool")
_HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
_BLUR = "window.dispatchEvent(new Event('blur'))"


def camera(page: Any) -> np.ndarray:
    """Where the camera stands [m]."""
    return np.array([float(value) for value in page.evaluate("document.body.dataset.camera").split()])


def look(page: Any, view: str) -> np.ndarray:
    part(page, f"view-{view}").click()
    return camera(page)


# ---- looking -------------------------------------------------------------------------------------------------------


def test_every_view_is_from_where_its_name_says(page: Any, studio: Running) -> None:
    stands = {view: look(page, view) for view in VIEWS}
    for view in VIEWS:
        others = [stands[other] for other in VIEWS if other != view]
        assert min(np.linalg.norm(stands[view] - other) for other in others) > 0.1
    middle = np.array([stands["Side"][0], stands["Front"][1], stands["Front"][2]])
    assert stands["Front"][0] - middle[0] > 1.0
    assert stands["Side"][1] - middle[1] < -1.0
    assert stands["Top"][2] - middle[2] > 1.0
    tool = studio.loop.pose[:3]
    assert np.linalg.norm(stands["Tool"] - tool) < 0.5 * np.linalg.norm(stands["Free"] - tool)


def test_dragging_empty_space_orbits_and_the_wheel_zooms(page: Any, studio: Running) -> None:
    before, asked = look(page, "Free"), studio.sent
    box = part(page, "canvas").bounding_box()
    x, y = box["x"] + 40, box["y"] + 0.8 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y, steps=6)
    page.mouse.up()
    until(lambda: np.linalg.norm(camera(page) - before) > 0.3)
    assert camera(page)[2] == pytest.approx(before[2], abs=2e-3)  # to the side: around what is upright
    there = camera(page)
    page.mouse.wheel(0, -300)
    until(lambda: np.linalg.norm(camera(page) - there) > 0.05)
    near = camera(page)
    page.mouse.wheel(0, 600)
    until(lambda: np.linalg.norm(camera(page) - near) > np.linalg.norm(there - near))
    assert np.dot(camera(page) - there, near - there) < 0.0  # in and out along one line
    assert studio.sent == asked  # nothing was pushed or moved


def test_the_view_is_turned_by_keys_while_it_has_the_focus(page: Any) -> None:
    before = look(page, "Free")
    part(page, "view").focus()
    steps = {"ArrowLeft": "ArrowRight", "ArrowUp": "ArrowDown", "+": "-"}
    for key, back in steps.items():
        for _ in range(3):
            page.keyboard.press(key)
        until(lambda: np.linalg.norm(camera(page) - before) > 0.1)
        for _ in range(3):
            page.keyboard.press(back)
        until(lambda: np.linalg.norm(camera(page) - before) < 5e-3)
    part(page, "view-Free").focus()
    page.keyboard.press("ArrowLeft")
    assert np.linalg.norm(camera(page) - before) < 5e-3


# ---- pushing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("away", ["hidden", "blurred"])
def test_a_page_that_is_looked_away_from_pushes_no_more(page: Any, studio: Running, away: str) -> None:
    studio.rest()  # so that the arm stays where it is found
    look(page, "Free")
    until(lambda: force_on(studio) < 3.0)
    x, y = place_on_arm(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y, steps=6)
    until(lambda: force_on(studio) > 8.0)
    studio.loop.wait(0.5)
    until(lambda: force_on(studio) > 8.0)  # it is held, and does not end by itself
    if away == "hidden":
        page.evaluate(_HIDE, True)
    else:
        page.evaluate(_BLUR)
    until(lambda: force_on(studio) < 3.0)
    until(lambda: not part(page, "pushing").is_visible())
    page.evaluate(_HIDE, False)
    page.mouse.up()


@pytest.fixture
def sent() -> list[dict[str, Any]]:
    """What the page that is touched has asked for."""
    return []


@pytest.fixture
def tablet(studio: Running, browser: Any, sent: list[dict[str, Any]]) -> Iterator[Any]:
    """A page that is touched."""

    def follow(socket: Any) -> None:
        socket.on("framesent", lambda text: sent.append(json.loads(text)))

    with tab(browser, has_touch=True) as page:
        page.on("websocket", follow)
        visit(page, studio.url)
        yield page


def test_a_finger_pushes_the_arm_and_a_second_one_changes_nothing(
    tablet: Any, studio: Running, sent: list[dict[str, Any]]
) -> None:
    studio.rest()  # so that the arm stays where it is found
    until(lambda: force_on(studio) < 3.0)
    x, y = place_on_arm(tablet)
    fingers = Fingers(tablet)
    fingers.press(1, x, y)
    fingers.move(1, x + 120, y)
    until(lambda: force_on(studio) > 8.0)
    fingers.press(2, x, y + 4)
    fingers.move(2, x - 120, y)
    fingers.lift(2)
    studio.loop.wait(0.5)
    until(lambda: force_on(studio) > 8.0)  # a push that was ended would not come back
    assert part(tablet, "pushing").is_visible()
    fingers.lift(1)
    until(lambda: force_on(studio) < 3.0)
    until(lambda: not part(tablet, "pushing").is_visible())

    def pushes() -> list[list[float]]:
        """From the first that has a force: a finger that has not moved yet may say that it has none."""
        tablet.evaluate("0")  # what was sent is told while the page is asked for something
        said = [asked["force"] for asked in sent if asked["do"] == "push"]
        return said[next((i for i, force in enumerate(said) if any(force)), len(said)) :]

    until(lambda: pushes()[-1:] == [[0, 0, 0]])
    tablet.wait_for_timeout(500)
    assert pushes()[-1] == [0, 0, 0]
    assert pushes().count([0, 0, 0]) == 1
