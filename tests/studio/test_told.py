"""What the page tells: the doctor's findings, figures of an experiment, reasons, values in force; and whoever reads it
by ear, by keys or in bad light.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contacts import lift_off, seek
from running_studio import LONG_S, Running, hello, part, until
from sliders import shown, turn_each

from pliant.control.laws.contact.contact_states import DONE, LIFTED, PAUSE, PAUSED
from pliant.session.in_process.fast_run import simulate
from pliant.session.link import Link, attach
from pliant.studio.shown_parameters import values_of
from pliant.studio.work import archive
from pliant.task.schema import load_task

pytestmark = pytest.mark.slow

# Text that can be seen with too little contrast to its background: what it says, its colour, the ratio.
_DIM = """(least) => {
  const rgb = (words) => (words.match(/[\\d.]+/g) ?? []).map(Number);
  const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const view = document.documentElement.dataset.theme === "light" ? [0xe9, 0xee, 0xf4] : [0x14, 0x1a, 0x21];
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      if (at.id === "view") return view;
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3) return colour;
    }
    return [255, 255, 255];
  };
  const dim = [];
  for (const node of document.querySelectorAll("body *")) {
    const words = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    const value = node.matches("input:not([type=range]), select");
    if ((!words && !value) || !node.checkVisibility() || node.closest(":disabled, .u-wrap, canvas")) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) dim.push([node.textContent.slice(0, 40), getComputedStyle(node).color, ratio]);
  }
  return dim;
}"""
# Elements of numbers that change all the time, if they are read out whenever they do.
_SPOKEN = """() => ["#force", "#cuts", ".values"].filter((name) =>
  [...document.querySelectorAll(name)].some((node) => node.closest("[aria-live], [role=status], [role=alert]")))"""


# ---- by keys and by ear --------------------------------------------------------------------------------------------


def test_enter_presses_the_control_that_has_the_focus(page: Any, studio: Running) -> None:
    studio.go_on(page)
    part(page, "stop").press("Enter")
    until(lambda: studio.stopped)
    until(lambda: part(page, "resume").is_enabled())
    until(lambda: studio.stands)
    before = studio.loop.board.adopted
    part(page, "tare").press("Enter")
    until(lambda: studio.loop.board.adopted > before)
    part(page, "resume").press("Enter")
    until(lambda: not studio.stopped)
    part(page, "gallery").press("Enter")
    until(lambda: part(page, "dialog").is_visible())
    part(page, "close").press("Enter")
    until(lambda: part(page, "dialog").count() == 0)


def test_a_slider_is_read_out_as_a_number_with_its_unit(page: Any, studio: Running) -> None:
    slider = part(page, "slider-admittance.mass")
    mass = lambda: values_of(studio.loop.parameters)["admittance.mass"][0]  # noqa: E731
    until(lambda: slider.get_attribute("aria-valuetext") == f"{mass():g} kg")
    before = mass()
    slider.press("ArrowRight")
    until(lambda: mass() > before)
    until(lambda: slider.get_attribute("aria-valuetext") == f"{mass():g} kg")
    studio.loop.set({"admittance.mass": before})


def test_what_changes_all_the_time_is_not_read_out(page: Any) -> None:
    assert page.evaluate(_SPOKEN) == []
    assert part(page, "theme").get_attribute("aria-label") in ("Dark colours", "Light colours")


@pytest.mark.parametrize("how", ["stopped", "refused", "dialog"])
def test_every_text_stands_out_from_its_background(page: Any, studio: Running, how: str) -> None:
    """In the dark and in the light, at least 4.5 to 1."""
    if how == "stopped":
        studio.rest()
        until(lambda: "stopped" in part(page, "law").text_content())
    elif how == "refused":
        studio.go_on()
        part(page, "number-sense.cutoff_hz").fill("4000")
        part(page, "number-sense.cutoff_hz").press("Enter")
        until(lambda: part(page, "why-sense.cutoff_hz").is_visible())
        page.evaluate("document.querySelector('[data-testid=all-parameters]').open = true")
    else:
        part(page, "gallery").click()
        until(lambda: part(page, "dialog").is_visible())
    looks = []
    for _ in range(2):
        looks.append(page.evaluate("document.documentElement.dataset.theme"))
        assert page.evaluate(_DIM, 4.5) == []
        page.evaluate("document.querySelector('[data-testid=theme]').click()")
    assert set(looks) == {"dark", "light"}
    page.evaluate("document.querySelector('[data-testid=all-parameters]').open = false")
    if how == "dialog":
        part(page, "close").click()


# ---- values in force -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", ["linked", "each alone"])
def test_every_slider_turns_its_parameter(page: Any, studio: Running, axes: str) -> None:
    studio.go_on()
    linked = part(page, "linked")
    if (linked.get_attribute("aria-pressed") == "true") != (axes == "linked"):
        linked.click()
    assert len(turn_each(page, studio)) == (14 if axes == "linked" else 26)


def test_what_is_refused_is_not_left_standing_as_if_it_were_in_force(page: Any, studio: Running) -> None:
    now = studio.loop.parameters.sense.cutoff_hz
    adopted = studio.loop.board.adopted
    slider, why = part(page, "slider-sense.cutoff_hz"), part(page, "why-sense.cutoff_hz")
    until(lambda: shown(page, "sense.cutoff_hz") == now)
    place = slider.input_value()
    part(page, "number-sense.cutoff_hz").fill("4000")
    part(page, "number-sense.cutoff_hz").press("Enter")
    said = "Filter cutoff (sense.cutoff_hz) is 4000 Hz, but it must be 0.1 to 400 Hz."
    until(lambda: why.is_visible() and why.text_content() == said)
    until(lambda: shown(page, "sense.cutoff_hz") == now)
    assert slider.input_value() == place
    assert studio.loop.board.adopted == adopted
    assert why.is_visible()
    slider.press("ArrowLeft")
    until(lambda: studio.loop.board.adopted > adopted)
    until(lambda: not why.is_visible())
    studio.loop.set({"sense.cutoff_hz": now})


# ---- recordings, experiments, reasons ------------------------------------------------------------------------------


def test_the_doctors_findings_stand_beside_the_recording(
    page: Any, studio: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = simulate(load_task("push"))
    run.records["reading"]["wrench"][700:1100] = run.records["reading"]["wrench"][700]
    run.save(studio.folder / "frozen.mcap")
    monkeypatch.setenv("PLIANT_OUT", str(studio.folder))
    findings = archive.open_recording("frozen.mcap")["findings"]
    assert findings is not None
    wrong = [finding for finding in findings if finding["severity"] in ("alarm", "warning")]
    assert "frozen sensor" in [finding["name"] for finding in wrong]
    part(page, "recordings").focus()
    until(lambda: part(page, "recordings").locator("option[value='frozen.mcap']").count() == 1)
    part(page, "recordings").select_option("frozen.mcap")
    part(page, "open").click()
    until(lambda: part(page, "scrub").is_visible())
    said = part(page, "recording-told").text_content()
    for finding in wrong:
        assert f"{finding['name']}: {finding['cause']} {finding['remedy']}" in said
    before = part(page, "moment").text_content()
    part(page, "scrub").press("PageUp")
    until(lambda: part(page, "moment").text_content() not in ("", before))
    assert part(page, "scrub").get_attribute("aria-valuetext") == part(page, "moment").text_content()
    part(page, "live").click()


def test_an_experiment_ends_with_the_table_of_its_figures(page: Any) -> None:
    part(page, "gallery").click()
    part(page, "run-push").click()
    until(lambda: part(page, "result").count() == 1, LONG_S)
    rows = part(page, "result").locator("tr").all()
    lines = [[cell.text_content() for cell in row.locator("th, td").all()] for row in rows]
    assert lines[0] == ["quantity", "value", "unit", "target", "met"]
    barred = [line for line in lines[1:] if line[3]]
    assert len(barred) >= 3
    for name, value, unit, _, holds in barred:
        assert name
        assert unit
        assert np.isfinite(float(value))
        assert holds == "yes"
    part(page, "result").get_by_test_id("close").click()


@pytest.fixture
def plane(page: Any, studio: Running) -> Link:
    """The loop of a task with a contact, which has lifted off; started from the page if it does not run."""
    if studio.loop.task.name != "plane":
        part(page, "task").select_option("plane")
        part(page, "start").click()
        until(lambda: "plane" in part(page, "loop").text_content())
        studio.loop = attach(page.evaluate("document.body.dataset.loop"))
        lift_off(page, studio)
    return studio.loop


def test_every_slider_of_a_contact_turns_its_parameter(page: Any, studio: Running, plane: Link) -> None:
    names = turn_each(page, studio)
    assert {"contact.target_n", "contact.force_limit_n", "contact.speed_m_s", "limits.linear_speed_m_s"} <= set(names)
    assert len(names) == 14


def test_the_reason_of_the_last_change_stands_beside_the_states_of_the_contact(
    page: Any, studio: Running, plane: Link
) -> None:
    greeting = hello(studio)
    words = next(law for law in greeting["laws"].values() if law["states"])
    contact = lambda: plane.state.contact  # noqa: E731

    def is_told() -> bool:
        state, reason = int(contact().state), int(contact().reason)
        chip, said = page.locator("#state .chip.now"), page.locator("#state > div")
        return (
            bool(words["reasons"][reason])
            and chip.text_content() == words["states"][state]
            and said.text_content() == words["reasons"][reason]
        )

    until(is_told)
    assert (int(contact().state), int(contact().reason)) == (DONE, LIFTED)
    seek(page, studio)
    part(page, "pause").click()
    until(lambda: int(contact().state) == PAUSED)
    assert int(contact().reason) == PAUSE
    until(is_told)
