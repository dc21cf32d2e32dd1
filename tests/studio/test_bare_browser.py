"""A browser that can do little: whatever it cannot do, it stops the robot."""

from __future__ import annotations

from typing import Any

from running_studio import Running, Stops, part, tab, until, visit

# What a browser has that draws nothing in three dimensions, and lets no page keep anything.
_BARE = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.includes("webgl") ? null : get.call(this, kind, ...more);
};
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("refused", "SecurityError"); } });
"""


def test_a_page_without_a_view_says_so_and_stops_the_loop_all_the_same(browser: Any, studio: Running) -> None:
    studio.go_on()
    with tab(browser) as page:
        page.add_init_script(_BARE)
        page.clock.install(time=0)
        visit(page, studio.url)
        page.clock.pause_at(3_600_000)  # however long an answer takes here, to the page it comes at once
        assert "No 3D view" in part(page, "no-view").text_content()
        heard = Stops(page, studio.loop).answered()
        assert part(page, "alarm").is_visible() == (not heard)
        page.clock.resume()
        until(lambda: studio.stopped and not part(page, "alarm").is_visible())
        part(page, "resume").click()
        until(lambda: not studio.stopped)
        page.keyboard.press("Escape")
        until(lambda: studio.stopped)
        was = page.evaluate("document.documentElement.dataset.theme")
        part(page, "theme").click()
        assert page.evaluate("document.documentElement.dataset.theme") != was
        until(lambda: "does not store settings" in part(page, "notice").text_content())
        part(page, "view-Top").click()  # does nothing, and breaks nothing
        studio.go_on(page)
