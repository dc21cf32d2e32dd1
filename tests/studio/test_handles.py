"""Handles and sliders of other loops than the usual one: the lab's two-link arm, and an arm that may press."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running_studio import Running, part, until
from sliders import turn_each

from pliant.session.link import Link, attach

pytestmark = pytest.mark.slow


@pytest.fixture
def loop(request: pytest.FixtureRequest, page: Any, studio: Running) -> Link:
    """The loop of a task, which is started from the page if it does not run."""
    if studio.loop.task.name != request.param:
        before = page.evaluate("document.body.dataset.loop")
        part(page, "task").select_option(request.param)
        part(page, "start").click()
        until(lambda: page.evaluate("document.body.dataset.loop") not in ("", before))
        studio.loop = attach(page.evaluate("document.body.dataset.loop"))
        studio.loop.wait(0.1)
    return studio.loop


def ball_on_screen(page: Any, name: str) -> tuple[float, float]:
    """Where a ball is on the screen, as the page itself drew it."""
    until(lambda: page.evaluate(f"'{name}' in document.body.dataset"))
    x, y = map(float, page.evaluate(f"document.body.dataset.{name}").split())
    box = part(page, "canvas").bounding_box()
    return box["x"] + x, box["y"] + y


# Keeps the last goal and the last virtual push that the page has sent.
_NOTE_SENT = """() => {
  window.sent = {};
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    const said = JSON.parse(data);
    window.sent[said.do] = said.position ?? said.force;
    return send.call(this, data);
  };
}"""


def drag(page: Any, start: tuple[float, float], by: tuple[float, float], what: str) -> list[float]:
    """Drag something; returns what the page has asked for when it was let go."""
    page.evaluate(_NOTE_SENT)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0], start[1] + by[1], steps=8)
    page.mouse.up()
    return until(lambda: page.evaluate("window.sent")[what])


@pytest.mark.parametrize("loop", ["lab"], indirect=True)
def test_force_and_equilibrium_of_the_lab_are_dragged(page: Any, studio: Running, loop: Link) -> None:
    rest = loop.pose[:2]
    asked = drag(page, ball_on_screen(page, "handle"), (60, 40), "virtual_push")
    push, stiffness = (lambda: loop.state.goal.push.copy()), 250.0
    studio.until(lambda: push()[:3].tolist() == asked)
    assert np.linalg.norm(asked) > 1.0
    assert asked[0] > 0.0
    studio.until(lambda: np.linalg.norm(loop.pose[:2] - rest - push()[:2] / stiffness) < 2e-3)
    assert push()[2] == 0.0
    loop.virtual_push([0.0, 0.0, 0.0])
    goal = loop.state.goal.pose[:2].copy()
    studio.until(lambda: np.linalg.norm(loop.pose[:2] - goal) < 2e-3)
    asked = drag(page, ball_on_screen(page, "knob"), (-50, 0), "goal")
    studio.until(lambda: loop.state.goal.pose[:2].tolist() == asked[:2])
    assert asked[0] < goal[0] - 0.02
    studio.until(lambda: np.linalg.norm(loop.pose[:2] - loop.state.goal.pose[:2]) < 2e-3)


@pytest.mark.parametrize("loop", ["lab"], indirect=True)
def test_every_slider_of_an_impedance_turns_its_parameter(page: Any, studio: Running, loop: Link) -> None:
    until(lambda: part(page, "slider-impedance.stiffness").is_visible())
    assert {"impedance.mass", "impedance.damping", "impedance.stiffness"} < set(turn_each(page, studio))


@pytest.mark.parametrize("loop", ["surface_following"], indirect=True)
def test_a_slider_stops_where_the_check_would_refuse_and_says_why(page: Any, studio: Running, loop: Link) -> None:
    slider = part(page, "slider-admittance.mass")
    studio.until(lambda: (slider.get_attribute("data-zones") or "").startswith("2 "))
    assert "--stop" in slider.get_attribute("style")
    mass = lambda: loop.parameters.admittance.mass[0][0]  # noqa: E731
    before = mass()
    slider.focus()
    page.keyboard.press("Home")
    why = part(page, "why-admittance.mass")
    studio.until(lambda: why.is_visible() and "must be positive definite" in why.text_content())
    page.keyboard.press("ArrowRight")
    studio.until(lambda: "200 N/m" in why.text_content())
    studio.until(lambda: loop.parameters.admittance.mass[0][0] < before)
    studio.until(
        lambda: float(part(page, "number-admittance.mass").input_value()) == loop.parameters.admittance.mass[0][0]
    )
    adopted = loop.board.adopted
    field = part(page, "number-admittance.mass")
    field.fill("0.02")
    field.press("Enter")
    studio.until(lambda: "is rejected and nothing has changed" in why.text_content())
    assert loop.board.adopted == adopted
