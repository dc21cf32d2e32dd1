"""The sliders say what was declared: every one has the unit of its parameter, and a reason stays while it is one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from running_studio import Running, ask, dial, part, until

from pliant.session.link import attach
from pliant.studio.shown_parameters import parameters_in_words, values_of

pytestmark = pytest.mark.slow

_ROWS = """() => [...document.querySelectorAll("#dynamics .row")].map((row) =>
  [row.querySelector("input").id, row.querySelector(".unit").textContent, row.querySelector("label").title])"""


@pytest.mark.parametrize("axes", ["linked", "each alone"])
@pytest.mark.parametrize("damping", ["ratio", "value"])
def test_every_slider_has_the_unit_and_the_words_of_its_declaration(
    page: Any, studio: Running, axes: str, damping: str
) -> None:
    studio.loop.set({"admittance.damping_by": damping})
    name = "admittance.damping" if damping == "value" else "admittance.damping_ratio"
    linked = part(page, "linked")
    if (linked.get_attribute("aria-pressed") == "true") != (axes == "linked"):
        linked.click()
    until(lambda: name in "".join(row[0] for row in page.evaluate(_ROWS)))
    declared = {item["name"]: item for item in parameters_in_words()}
    rows = page.evaluate(_ROWS)
    for knob, unit, words in rows:
        item = declared[re.sub(r"\.(turn|\d)$", "", knob)]
        units = item["unit"].split(", ")
        assert unit == units[1 if re.search(r"\.(turn|[345])$", knob) and len(units) > 1 else 0]
        assert words == item["help"]
        assert item["live"]
    limits = {name for name, item in declared.items() if name.startswith("limits.") and item["live"]}
    assert limits | {"sense.deadband_nm"} <= {row[0] for row in rows}
    studio.loop.set({"admittance.damping_by": "ratio"})
    if axes != "linked":
        part(page, "linked").click()


def test_damping_is_given_as_a_ratio_or_by_its_value(page: Any, studio: Running) -> None:
    by = lambda: values_of(studio.loop.parameters)["admittance.damping_by"]  # noqa: E731
    assert by() == "ratio"
    part(page, "damping-by").click()
    until(lambda: by() == "value")
    until(lambda: part(page, "slider-admittance.damping").is_visible())
    assert part(page, "damping-by").get_attribute("aria-pressed") == "true"
    part(page, "undo").click()
    until(lambda: by() == "ratio")
    until(lambda: part(page, "slider-admittance.damping_ratio").is_visible())


def test_why_a_slider_goes_no_further_stays_beside_it_until_it_is_moved_again(page: Any, studio: Running) -> None:
    with dial(studio) as socket:
        assert ask(socket, {"id": 1, "do": "start", "task": "surface_following"})["ok"]
    until(lambda: "surface_following" in part(page, "loop").text_content())
    studio.loop = attach(page.evaluate("document.body.dataset.loop"))
    slider, why = part(page, "slider-admittance.mass"), part(page, "why-admittance.mass")
    studio.until(lambda: (slider.get_attribute("data-zones") or "").startswith("2 "))
    before = studio.loop.parameters.admittance.mass[0][0]
    slider.press("Home")
    studio.until(lambda: studio.loop.parameters.admittance.mass[0][0] < before)
    studio.until(why.is_visible)
    told = why.text_content()
    assert "Thin" not in told
    in_force = studio.loop.board.adopted
    until(lambda: int(part(page, "judged").get_attribute("data-revision") or -1) >= in_force)  # all sliders, anew
    assert why.is_visible()
    assert why.text_content() == told
    slider.press("ArrowRight")
    studio.until(lambda: why.text_content() != told)
