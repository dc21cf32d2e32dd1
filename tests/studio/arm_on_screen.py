"""Where the arm is on the page, and fingers that take hold of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from running_studio import Running, until

# Points of the view where the arm is, with some of it around them: there the cursor is a hand, far from the goal.
_ARM = """() => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
  const ball = document.body.dataset.knob.split(" ").map(Number);
  const grabs = (x, y) => {
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y, buttons: 0 }));
    return canvas.style.cursor === "grab" && Math.hypot(x - ball[0], y - ball[1]) > 40;
  };
  const found = [];
  for (let y = 0.2 * box.height; y < 0.8 * box.height; y += 16)
    for (let x = 0.2 * box.width; x < 0.8 * box.width; x += 16)
      if (grabs(x, y) && grabs(x - 5, y) && grabs(x + 5, y)) found.push([box.left + x, box.top + y]);
  return found;
}"""


def place_on_arm(page: Any) -> tuple[float, float]:
    """A point of the page where the arm can be taken hold of [px]."""
    x, y = until(lambda: page.evaluate(_ARM))[0]
    return x, y


def force_on(studio: Running) -> float:
    """How hard the tool is pushed, as the loop feels it [N]."""
    return float(np.linalg.norm(studio.loop.wrench[:3]))


class Fingers:
    """Fingers on a screen that is touched, by number."""

    def __init__(self, page: Any) -> None:
        self._tools = page.context.new_cdp_session(page)
        self._down: dict[int, tuple[float, float]] = {}

    def _send(self, kind: str, fingers: list[int]) -> None:
        places = [(finger, *self._down[finger]) for finger in fingers]
        points = [{"x": x, "y": y, "id": finger} for finger, x, y in places]
        self._tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def press(self, finger: int, x: float, y: float) -> None:
        self._down[finger] = (x, y)
        self._send("touchStart", list(self._down))

    def move(self, finger: int, x: float, y: float, steps: int = 6) -> None:
        x0, y0 = self._down[finger]
        for i in range(1, steps + 1):
            self._down[finger] = (x0 + (x - x0) * i / steps, y0 + (y - y0) * i / steps)
            self._send("touchMove", list(self._down))

    def lift(self, finger: int) -> None:
        self._send("touchEnd", [finger])
        del self._down[finger]
