"""A page whose Studio does not answer: a stop is never lost without a word, and what is old does not look live."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from running_studio import Running, Stops, held, part, tab, until, visit

pytestmark = pytest.mark.slow

PATIENCE_MS = 1000
"""After so long without an answer to a stop the page raises its alarm."""


@pytest.fixture
def clocked(studio: Running, browser: Any) -> Iterator[Any]:
    """A page whose clock stands still unless the test lets it go on: `run_for`."""
    with tab(browser) as page:
        page.clock.install(time=0)
        visit(page, studio.url)
        page.clock.pause_at(3_600_000)
        yield page


def test_a_stop_that_nobody_answers_is_told_after_a_second_and_done_when_the_studio_is_back(
    clocked: Any, studio: Running
) -> None:
    studio.go_on(clocked)
    with held(studio.process.pid):
        part(clocked, "stop").click()
        clocked.clock.run_for(PATIENCE_MS - 1)
        assert not part(clocked, "alarm").is_visible()
        clocked.clock.run_for(1)
        assert part(clocked, "alarm").is_visible()
        assert "use the robot's emergency stop" in part(clocked, "alarm").text_content()
        assert not studio.stopped
        clocked.clock.resume()
        until(lambda: part(clocked, "status").text_content() == "no connection")  # a line that hangs is given up
    until(lambda: studio.stopped)
    until(lambda: not part(clocked, "alarm").is_visible())
    until(lambda: "Stop confirmed" in part(clocked, "notice").text_content())
    until(lambda: part(clocked, "status").text_content() == "running")


def test_a_stop_that_the_loop_has_heard_alarms_nobody(clocked: Any, studio: Running) -> None:
    stops = Stops(clocked, studio.loop)
    for _ in range(3):
        studio.go_on(clocked)
        heard = stops.answered()
        assert part(clocked, "alarm").is_visible() == (not heard)  # a loop that is held up has not heard it yet
        until(lambda: clocked.clock.run_for(2 * PATIENCE_MS) or not part(clocked, "alarm").is_visible())
        studio.until(lambda: studio.stopped)
    studio.go_on(clocked)


def seconds_old(page: Any) -> int:
    """Since how many seconds nothing has come, as the page says; 0 where it says nothing."""
    said = re.fullmatch(r"no new data for (\d+) s", part(page, "age").text_content())
    return int(said.group(1)) if said and part(page, "age").is_visible() else 0


def test_what_has_not_come_for_two_seconds_is_shown_as_old(page: Any, studio: Running) -> None:
    """Whether the loop hangs, or the Studio."""
    for process_id in (int(studio.loop.board.header.loop_pid), studio.process.pid):
        until(lambda: not part(page, "age").is_visible())
        with held(process_id):
            was = until(lambda: seconds_old(page))
            until(lambda: "grayscale" in page.evaluate("getComputedStyle(document.getElementById('force')).filter"))
            until(lambda was=was: seconds_old(page) > was)
        until(lambda: not part(page, "age").is_visible())
        until(lambda: page.evaluate("getComputedStyle(document.getElementById('force')).filter") == "none")


def test_a_stop_without_a_studio_is_told_at_once_and_is_the_first_word_to_the_next(page: Any, studio: Running) -> None:
    studio.end()
    until(lambda: part(page, "status").text_content() == "no connection")
    part(page, "gallery").click()
    part(page, "dialog-stop").click()
    until(lambda: part(page, "alarm").is_visible())
    part(page, "close").click()
    assert part(page, "alarm").is_visible()  # until it is confirmed, whatever else is done
    studio.begin_again_stopped("hand_guiding", page)
    until(lambda: part(page, "status").text_content() == "running")
    part(page, "resume").click()
    until(lambda: not studio.stopped)
