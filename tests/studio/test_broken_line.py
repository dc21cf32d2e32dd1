"""A page whose Studio does not answer: a stop is never lost without a word, and what is old does not look live."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from running_studio import Running, part, until

# When the alarm came up after the last click [ms].
_NOTE_ALARM = """() => {
  addEventListener("click", () => (window.pressed = performance.now()), true);
  const alarm = document.getElementById("alarm");
  alarm.addEventListener("toggle", (e) => e.newState === "open" && (window.alarmed ??= performance.now()));
}"""
# When stops were answered [ms].
_NOTE_ANSWERS = """() => {
  window.heard = [];
  const parse = JSON.parse;
  JSON.parse = (text) => {
    const said = parse(text);
    if (said?.arrived_ns) window.heard.push(performance.now());
    return said;
  };
}"""


@contextmanager
def held(process_id: int) -> Iterator[None]:
    """A process that is there, and does nothing."""
    os.kill(process_id, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process_id, signal.SIGCONT)


def test_a_stop_that_nobody_answers_is_told_after_a_second_and_done_when_the_studio_is_back(
    page: Any, studio: Running
) -> None:
    studio.go_on()
    page.evaluate(_NOTE_ALARM)
    with held(studio.process.pid):
        part(page, "stop").click()
        until(lambda: part(page, "alarm").is_visible())
        assert "use the emergency stop of the robot" in part(page, "alarm").text_content()
        until(lambda: page.evaluate("window.alarmed !== undefined"))
        assert page.evaluate("window.alarmed - window.pressed") > 900.0
        assert not studio.stopped
        until(lambda: part(page, "status").text_content() == "no connection")  # a line that hangs is given up
    until(lambda: studio.stopped)
    until(lambda: not part(page, "alarm").is_visible())
    until(lambda: "The stop has come through" in part(page, "notice").text_content())
    until(lambda: part(page, "status").text_content() == "running")


def test_a_stop_that_is_answered_alarms_nobody(page: Any, studio: Running) -> None:
    """An answer that took a second is told of, and rightly so: then the machine was too busy, and it is tried again."""
    page.evaluate(_NOTE_ANSWERS)

    def is_answered_in_time() -> bool:
        studio.go_on(page)
        page.evaluate("(delete window.alarmed, delete window.pressed, (window.heard = []))")
        part(page, "stop").click()
        until(lambda: studio.stopped)
        until(lambda: page.evaluate("window.heard.length > 0 && performance.now() - window.pressed > 1500"))
        return page.evaluate("window.heard[0] - window.pressed") < 900.0

    page.evaluate(_NOTE_ALARM)
    until(is_answered_in_time)
    assert not page.evaluate("'alarmed' in window")
    studio.go_on()


def seconds_old(page: Any) -> int:
    """Since how many seconds nothing has come, as the page says; 0 where it says nothing."""
    said = re.fullmatch(r"nothing new for (\d+) s", part(page, "age").text_content())
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
    studio.begin_again("hand_guiding")
    until(lambda: studio.stopped)
    until(lambda: not part(page, "alarm").is_visible())
    part(page, "resume").click()
    until(lambda: not studio.stopped)
