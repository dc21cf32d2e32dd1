"""A stop counts as done when the loop has heard it, and not before: whatever hangs, is full, begins or ends."""

from __future__ import annotations

from typing import Any

from running_studio import Running, part, until


# ---- in the browser ------------------------------------------------------------------------------------------------


def test_what_was_seen_before_a_stop_does_not_confirm_it(page: Any, studio: Running) -> None:
    """The last frame of a loop that stood still is shown again and again; it says nothing of a later stop."""
    studio.rest()
    until(lambda: "stopped" in part(page, "law").text_content())
    studio.end()
    until(lambda: part(page, "status").text_content() == "no connection")
    part(page, "stop").click()
    until(lambda: part(page, "alarm").is_visible())
    part(page, "freeze").click()
    part(page, "freeze").click()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert part(page, "alarm").is_visible()
    studio.begin_again("hand_guiding")
    until(lambda: studio.stopped)
    until(lambda: not part(page, "alarm").is_visible())
    studio.go_on(page)
