"""What the page shows when no frame comes any more: the last moments, whatever was looked at when they came."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_studio import Running, held, part, ready, until

pytestmark = pytest.mark.slow

# The time at the right end of each plot, as its cursor tells it.
_ENDS = """() => [...document.querySelectorAll(".plot .u-over")].map((over) => {
  const box = over.getBoundingClientRect();
  const point = (type, x) => over.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: box.top + 5 }));
  point("mouseenter", box.right);
  point("mousemove", box.right);
  const words = over.closest(".plot").querySelector(".values").textContent;
  point("mouseleave", box.right + 50);
  return parseFloat(words);
})"""
_HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# Of a plot of twelve seconds, a few of its pixels [s].
_NEAR_S = 0.12


@pytest.fixture(scope="module", autouse=True)
def _low(studio: Running, _shown: Any) -> Iterator[None]:
    """A window so low that plots are out of sight, and a loop that ends with the module."""
    size = _shown.viewport_size
    _shown.set_viewport_size({"width": 820, "height": 330})
    yield
    _shown.set_viewport_size(size)


def told(page: Any) -> float:
    """The time of the newest frame [s]."""
    return float(page.evaluate("document.body.dataset.time"))


def is_shown(page: Any, time_s: float) -> bool:
    """Whether every plot ends at this time."""
    ends = page.evaluate(_ENDS)
    return len(ends) >= 5 and bool(np.all(np.abs(np.array(ends) - time_s) < _NEAR_S))


def scroll_away(page: Any) -> None:
    """Scroll until no plot is in sight; they are not drawn there."""
    part(page, "gallery").scroll_into_view_if_needed()
    until(lambda: bool(np.all(told(page) - np.array(page.evaluate(_ENDS)) > 0.6)))  # longer than between two pictures


@contextmanager
def silence(page: Any, studio: Running) -> Iterator[float]:
    """No frame comes meanwhile; gives the time of the last one [s]."""
    with held(int(studio.loop.board.header.loop_pid)):
        last = float(studio.loop.board.latest().time_s)
        until(lambda: abs(told(page) - last) < 2e-3)
        yield last


def kill(studio: Running) -> None:
    os.kill(int(studio.loop.board.header.loop_pid), signal.SIGKILL)


def test_what_was_missed_is_shown_without_another_frame(page: Any, studio: Running) -> None:
    """Plots out of sight that are scrolled to, a tab that was hidden, and plots that were held still."""
    scroll_away(page)
    with silence(page, studio) as last:
        assert not is_shown(page, last)
        part(page, "plot-Lateness").scroll_into_view_if_needed()
        until(lambda: abs(page.evaluate(_ENDS)[-1] - last) < _NEAR_S)
    page.evaluate(_HIDE, True)
    studio.loop.wait(0.5)
    with silence(page, studio) as last:
        assert not is_shown(page, last)
        page.evaluate(_HIDE, False)
        until(lambda: is_shown(page, last))
    part(page, "freeze").click()
    studio.loop.wait(0.5)
    with silence(page, studio) as last:
        assert not is_shown(page, last)
        part(page, "freeze").click()
        until(lambda: is_shown(page, last))


def test_the_last_moments_before_a_fault_are_shown(page: Any, studio: Running) -> None:
    studio.loop.push([20.0, 0.0, 0.0], 10.0)
    until(lambda: np.linalg.norm(studio.loop.wrench[:3]) > 15.0)
    scroll_away(page)
    with silence(page, studio) as last:
        assert not is_shown(page, last)
        force = float(np.linalg.norm(studio.loop.wrench[:3]))
        kill(studio)
        until(lambda: part(page, "status").text_content() == "fault")
        until(lambda: "The last seconds are in" in part(page, "notice").text_content())
        until(lambda: "exited without reporting a reason" in part(page, "notice").text_content())
        until(lambda: is_shown(page, last))
        until(lambda: part(page, "force").text_content() == f"|F| {force:.1f} N")


def test_a_loop_that_has_ended_stays_in_sight(page: Any, studio: Running) -> None:
    """After the change of looks, after a recording was looked at, and on a page that comes later."""
    if studio.loop.running:
        kill(studio)
    until(lambda: part(page, "status").text_content() == "fault")
    last = told(page)
    part(page, "theme").click()
    until(lambda: is_shown(page, last))
    box = until(lambda: studio.loop.notes.get("black_box"))
    part(page, "recordings").focus()
    until(lambda: part(page, "recordings").locator(f"option[value='{Path(box).name}']").count() == 1)
    part(page, "recordings").select_option(Path(box).name)
    part(page, "open").click()
    until(lambda: part(page, "scrub").is_visible())
    until(lambda: is_shown(page, last))
    part(page, "theme").click()
    until(lambda: is_shown(page, last))
    page.evaluate("document.body.dataset.knob = ''")
    part(page, "live").click()
    until(lambda: is_shown(page, last))
    until(lambda: page.evaluate("document.body.dataset.knob") != "")  # the view was given the last frame
    page.reload()
    ready(page)
    until(lambda: is_shown(page, last))
