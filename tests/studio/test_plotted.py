"""The plots: what they show is what the board of the loop says, and what is enlarged stays as it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from contacts import lift_off, seek
from running_studio import Running, part, until

from pliant.control.laws.contact.contact_states import PAUSED
from pliant.session.link import attach

pytestmark = pytest.mark.slow

# What the plot of a name says at shares of its width, all at one moment.
_SAID = """([name, shares]) => {
  const plot = document.querySelector(`[data-testid='plot-${name}']`), over = plot.querySelector(".u-over");
  const box = over.getBoundingClientRect();
  const point = (type, x) => over.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: box.top + 5 }));
  const said = shares.map((share) => {
    point("mouseenter", box.left + share * box.width);
    point("mousemove", box.left + share * box.width);
    return [...plot.querySelectorAll(".values > div")].map((line) => line.textContent);
  });
  point("mouseleave", box.right + 50);
  return said;
}"""
# Of the band around the target: in which rows of the plot it is shaded, and in which its line is drawn, of late.
_BAND = """() => {
  const canvas = document.querySelector("[data-testid='plot-Force'] canvas");
  const colour = document.documentElement.dataset.theme === "light" ? [0x8f, 0x56, 0x00] : [0xf5, 0xa6, 0x23];
  const [shaded, drawn] = [new Set(), new Set()];
  const share = (part) => Math.round(part * canvas.width);
  const { data, width } = canvas.getContext("2d").getImageData(share(0.88), 0, share(0.08), canvas.height);
  for (let i = 0; i < data.length; i += 4) {
    if (colour.some((part, j) => Math.abs(data[i + j] - part) > 12)) continue;
    if (Math.abs(data[i + 3] - 0x33) < 6) shaded.add(Math.floor(i / 4 / width));
    if (data[i + 3] > 200) drawn.add(Math.floor(i / 4 / width));
  }
  return [[...shaded], [...drawn]];
}"""


def said(page: Any, name: str, *shares: float) -> list[tuple[float, dict[str, float]]]:
    """The time [s] and the values by letter that a plot tells at shares of its width."""
    told = page.evaluate(_SAID, [name, list(shares)])
    lines = [(float(line[0].removesuffix(" s")), [re.split(" ", value) for value in line[1:]]) for line in told]
    return [(time_s, {letter: float(value) for letter, value in values}) for time_s, values in lines]


def ends(page: Any) -> tuple[float, float]:
    """The times at both ends of the plot of the force [s]."""
    (first_s, _), (last_s, _) = said(page, "Force", 0.0, 1.0)
    return first_s, last_s


def band(page: Any) -> tuple[int, int, float] | None:
    """The first and the last row that is shaded, and the row of the target, where it is the same for a while."""
    shaded, drawn = page.evaluate(_BAND)
    return (min(shaded), max(shaded), float(np.mean(drawn))) if shaded and 0 < len(drawn) <= 3 else None


def told(page: Any) -> float:
    """The time of the newest frame [s]."""
    return float(page.evaluate("document.body.dataset.time"))


def freeze(page: Any, on: bool) -> None:
    part(page, "freeze").click()
    until(lambda: part(page, "freeze").get_attribute("aria-pressed") == str(on).lower())


def test_a_part_of_a_plot_that_is_enlarged_stays_and_shows_its_values(page: Any, studio: Running) -> None:
    until(lambda: ends(page)[1] - ends(page)[0] > 2.0)
    plot = page.locator("[data-testid='plot-Force'] .u-over")
    box = plot.bounding_box()
    middle = box["y"] + 0.5 * box["height"]
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    until(lambda: " s" in part(page, "values-Force").text_content())
    whole = ends(page)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=4)
    page.mouse.up()
    until(lambda: part(page, "freeze").get_attribute("aria-pressed") == "true")
    page.mouse.move(5, 5)
    until(lambda: part(page, "values-Force").is_hidden())
    enlarged, meanwhile_s = ends(page), told(page) - whole[1]
    length_s = whole[1] - whole[0]
    assert 0.27 * length_s < enlarged[1] - enlarged[0] < 0.33 * (length_s + meanwhile_s)
    assert enlarged[0] > whole[0] + 0.2 * length_s
    studio.loop.wait(0.6)
    assert ends(page) == enlarged
    freeze(page, on=False)
    until(lambda: ends(page)[1] > whole[1])


def test_what_is_plotted_is_what_the_board_says(page: Any, studio: Running) -> None:
    studio.go_on()
    studio.loop.push([12.0, -7.0, 4.0], 60.0)
    try:
        begun_s = studio.loop.state.time_s
        until(lambda: ends(page)[1] > begun_s + 1.5)
        freeze(page, on=True)
        records, _, _ = studio.loop.board.read(0)
        shares = tuple(np.linspace(0.8, 1.0, 9))
        for name, field in (("Force", "wrench"), ("Velocity", "twist")):
            for time_s, values in said(page, name, *shares):
                near = records[np.abs(records["time_s"] - time_s) < 0.0055]["observed"][field][:, :3]
                assert len(near) > 0
                told = np.array([values[axis] for axis in "xyz"])
                assert np.isclose(near, told, rtol=6e-3, atol=1e-6).all(axis=1).any()  # three digits are written
        assert max(np.abs(list(values.values())).max() for _, values in said(page, "Force", *shares)) > 5.0
        freeze(page, on=False)
    finally:
        studio.let_go()


def test_the_target_of_a_contact_and_the_band_around_it_are_plotted(page: Any, studio: Running) -> None:
    part(page, "task").select_option("plane")
    part(page, "start").click()
    until(lambda: "plane" in part(page, "loop").text_content())
    studio.loop = loop = attach(page.evaluate("document.body.dataset.loop"))
    lift_off(page, studio)
    seek(page, studio)
    studio.until(lambda: said(page, "Force", 1.0)[0][1].get("target", 0.0) > 0.0)
    freeze(page, on=True)
    (time_s, values), (records, _, _) = said(page, "Force", 1.0)[0], loop.board.read(0)
    near = records[np.abs(records["time_s"] - time_s) < 0.0055]["contact"]
    assert np.isclose(near["target_n"], values["target"], rtol=6e-3).any()
    assert np.isclose(near["force_n"], values["normal"], rtol=6e-3, atol=1e-6).any()
    freeze(page, on=False)
    part(page, "pause").click()
    studio.until(lambda: int(loop.state.contact.state) == PAUSED)
    paused_s = told(page)
    studio.until(lambda: said(page, "Force", 0.85)[0][0] > paused_s and band(page))  # nothing but the pause, of late
    freeze(page, on=True)  # from here the data and with them the scale are the same
    below = []
    for band_n in (2.0, 4.0):
        loop.set({"contact.band_n": band_n})
        until(lambda band_n=band_n: float(part(page, "field-contact.band_n").input_value()) == band_n)
        first, last, middle = until(lambda: band(page))
        assert first < middle - 3 < middle + 3 < last  # above, the plot may end before the band does
        below.append(last - middle)
    freeze(page, on=False)
    assert below[1] == pytest.approx(2 * below[0], abs=3.5)  # whole rows: a half-shaded one does not count
