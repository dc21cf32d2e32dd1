"""Tuning on the page: what is turned, typed, taken back, kept and saved is in force, read from the board of a loop."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from running_studio import PATIENCE_S, Running, dial, held, opened, part, tab, visit

from pliant.studio.shown_parameters import parameters_in_words, values_of
from pliant.task.schema import load_task

REASON = "why-admittance.mass"


def test_a_slider_changes_what_is_in_force_and_undo_takes_the_whole_drag_back(page: Any, studio: Running) -> None:
    before, adopted = studio.loop.parameters, studio.loop.board.adopted
    slider = part(page, "slider-admittance.mass")
    box = slider.bounding_box()
    at = float(slider.input_value()) / 1000.0
    y = box["y"] + 0.5 * box["height"]
    page.mouse.move(box["x"] + 8 + at * (box["width"] - 16), y)
    page.mouse.down()
    for share in (0.05, 0.1, 0.15):
        seen = studio.loop.board.adopted
        page.mouse.move(box["x"] + 8 + (at + share) * (box["width"] - 16), y, steps=3)
        studio.until(lambda seen=seen: studio.loop.board.adopted > seen)
    page.mouse.up()
    asked = part(page, "number-admittance.mass")  # of many proposals on their way, the last counts
    studio.until(lambda: studio.loop.parameters.admittance.mass[0][0] == float(asked.input_value()))
    after = studio.loop.parameters
    assert studio.loop.board.adopted >= adopted + 3
    assert after.admittance.mass[0][0] > before.admittance.mass[0][0]
    assert after.admittance.mass[0][0] == after.admittance.mass[2][2]
    assert after.admittance.mass[3][3] == before.admittance.mass[3][3]
    part(page, "undo").click()
    studio.until(lambda: studio.loop.parameters == before)
    part(page, "redo").click()
    studio.until(lambda: studio.loop.parameters == after)
    part(page, "undo").click()
    studio.until(lambda: studio.loop.parameters == before)  # the field may still show the undo before
    studio.until(lambda: float(asked.input_value()) == before.admittance.mass[0][0])


def test_a_refused_value_says_why_and_changes_nothing(page: Any, studio: Running) -> None:
    before = studio.loop.board.adopted
    field = part(page, "number-admittance.mass")
    field.fill("-3")
    field.press("Enter")
    studio.until(lambda: part(page, REASON).is_visible())
    assert "mass" in part(page, REASON).text_content()
    assert studio.loop.board.adopted == before
    was = part(page, "slider-admittance.mass").input_value()
    field.fill("8.5")
    field.press("Enter")
    studio.until(lambda: not part(page, REASON).is_visible())
    studio.until(lambda: part(page, "slider-admittance.mass").input_value() != was)  # the hand is still in the field


def other_than(value: Any, kind: str) -> Any:
    """A value near one of its kind, which the checks take as they took the first."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return next(word for word in kind.split(" or ") if word != value)
    if isinstance(value, float | int):
        return 1.02 * value or 0.01
    return [other_than(value[0], kind), *value[1:]]


@pytest.mark.slow
def test_every_live_parameter_can_be_written(page: Any, studio: Running) -> None:
    studio.rest()
    before = values_of(studio.loop.parameters)
    value = lambda name: np.ravel(values_of(studio.loop.parameters)[name]).tolist()  # noqa: E731
    part(page, "all-parameters").locator("summary").click()
    live = [item for item in parameters_in_words() if item["live"]]
    for name, kind in ((item["name"], item["type"]) for item in live):
        wanted = other_than(before[name], kind)
        field = part(page, f"field-{name}")
        field.fill(wanted if isinstance(wanted, str) else json.dumps(wanted))
        field.press("Enter")
        studio.until(lambda name=name, wanted=wanted: value(name) == np.ravel(wanted).tolist())
    studio.loop.set({item["name"]: before[item["name"]] for item in live})
    studio.go_on()


def test_a_value_that_is_none_is_refused_in_the_list_of_all(page: Any, studio: Running) -> None:
    now = studio.loop.parameters.sense.cutoff_hz
    page.evaluate("document.querySelector('[data-testid=all-parameters]').open = true")
    field = part(page, "field-sense.cutoff_hz")
    field.fill("plenty")
    field.press("Enter")
    studio.reads(page, "notice", "'plenty'")
    assert "sense.cutoff_hz" in part(page, "notice").text_content()
    assert studio.loop.parameters.sense.cutoff_hz == now
    studio.until(lambda: float(field.input_value()) == now)
    part(page, "all-parameters").locator("summary").click()


@pytest.mark.slow
def test_text_that_is_being_typed_survives_a_lost_connection(studio: Running, browser: Any) -> None:
    lines: list[Any] = []
    before = studio.loop.parameters.sense.cutoff_hz
    with tab(browser) as page:
        page.route_web_socket(re.compile("/socket"), lambda line: lines.append((line, line.connect_to_server())))
        visit(page, studio.url)
        page.evaluate("document.querySelector('[data-testid=all-parameters]').open = true")
        field = part(page, "field-sense.cutoff_hz")
        field.fill("41")
        lines[0][0].close()
        studio.until(lambda: page.evaluate("0") == 0 and len(lines) == 2)
        time_s = float(page.evaluate("document.body.dataset.time"))
        studio.until(lambda: float(page.evaluate("document.body.dataset.time")) > time_s + 0.5)
        assert field.input_value() == "41"
        field.press("Enter")
        studio.until(lambda: studio.loop.parameters.sense.cutoff_hz == 41.0)
    studio.loop.set({"sense.cutoff_hz": before})
    studio.obeyed()


def test_axes_that_are_not_linked_are_turned_one_by_one(page: Any, studio: Running) -> None:
    part(page, "linked").click()
    field = part(page, "number-admittance.stiffness.1")
    field.fill("123")
    field.press("Enter")
    studio.until(lambda: studio.loop.parameters.admittance.stiffness[1][1] == 123.0)
    assert studio.loop.parameters.admittance.stiffness[0][0] != 123.0
    part(page, "linked").click()
    studio.until(lambda: part(page, "number-admittance.stiffness").is_visible())


def test_two_pages_agree(page: Any, studio: Running, browser: Any) -> None:
    studio.go_on()
    with opened(browser, studio.url) as other:
        field = part(page, "number-sense.deadband_n")
        field.fill("3.25")
        field.press("Enter")
        studio.until(lambda: float(part(other, "number-sense.deadband_n").input_value()) == 3.25)
        assert studio.loop.parameters.sense.deadband_n == 3.25
        part(other, "undo").click()  # it has changed nothing, and takes nothing back of the first
        studio.reads(other, "notice", "Nothing to undo")
        assert studio.loop.parameters.sense.deadband_n == 3.25
        part(page, "stop").click()
        studio.reads(other, "law", "stopped")
        part(other, "resume").click()
        studio.until(lambda: not studio.stopped)
        studio.until(lambda: "stopped" not in part(page, "law").text_content())


def without_answers(page: Any) -> list[tuple[Any, str]]:
    """Let a page hear everything except the answers to its changes; those are returned, with the line they came on."""
    kept: list[tuple[Any, str]] = []

    def relay(line: Any) -> None:
        far = line.connect_to_server()

        def pass_on(data: str | bytes) -> None:
            is_answer = isinstance(data, str) and "revision" in data and json.loads(data)["type"] == "answer"
            kept.append((line, str(data))) if is_answer else line.send(data)

        far.on_message(pass_on)

    page.route_web_socket(re.compile("/socket"), relay)
    return kept


def test_a_slider_in_use_shows_what_another_page_has_set_meanwhile(studio: Running, browser: Any) -> None:
    """The row is marked while its own change is pending; then slider and number show the loop's value."""
    with tab(browser) as page:
        kept = without_answers(page)
        visit(page, studio.url)
        before = studio.loop.parameters.sense.cutoff_hz
        slider, number = part(page, "slider-sense.cutoff_hz"), part(page, "number-sense.cutoff_hz")
        studio.until(lambda: float(number.input_value()) == before)
        rest = slider.input_value()
        slider.press("ArrowRight")  # and it keeps the focus
        studio.until(lambda: page.evaluate("0") == 0 and kept)
        assert "pending" in slider.locator("..").get_attribute("class")
        studio.loop.set({"sense.cutoff_hz": before})
        studio.obeyed()
        line, answer = kept[0]
        time_s = float(page.evaluate("document.body.dataset.time"))
        studio.until(lambda: float(page.evaluate("document.body.dataset.time")) > time_s + 0.5)
        line.send(answer)
        studio.until(lambda: "pending" not in slider.locator("..").get_attribute("class"))
        studio.until(lambda: float(number.input_value()) == before)
        assert slider.input_value() == rest


def test_a_number_that_has_the_focus_shows_what_another_page_sets(page: Any, studio: Running) -> None:
    before = studio.loop.parameters.sense.cutoff_hz
    field = part(page, "number-sense.cutoff_hz")
    field.fill("33")
    field.press("Enter")
    studio.until(lambda: studio.loop.parameters.sense.cutoff_hz == 33.0)
    studio.loop.set({"sense.cutoff_hz": before})
    studio.until(lambda: float(field.input_value()) == before)


def test_an_answer_that_crosses_with_news_of_a_later_change_does_not_hide_it(studio: Running, browser: Any) -> None:
    with tab(browser) as page:
        kept = without_answers(page)
        visit(page, studio.url)
        field = part(page, "number-sense.cutoff_hz")
        field.fill("31")
        field.press("Enter")
        studio.until(lambda: page.evaluate("0") == 0 and kept)
        page.evaluate("document.activeElement.blur()")
        studio.loop.set({"sense.cutoff_hz": 32.0})
        studio.until(lambda: float(field.input_value()) == 32.0)
        (line, answer), time_s = kept[0], page.evaluate("document.body.dataset.time")
        assert json.loads(answer)["values"]["sense.cutoff_hz"] == 31.0
        line.send(answer)
        studio.until(lambda: float(page.evaluate("document.body.dataset.time")) > float(time_s) + 0.5)
        assert float(field.input_value()) == 32.0


def test_values_are_saved_into_the_file_that_is_named(page: Any, studio: Running) -> None:
    file = studio.folder / "mine.yaml"
    file.write_text("law: admittance  # gives way\nparams:\n  sense:\n    cutoff_hz: 50 # soft\n")
    studio.loop.set({"sense.cutoff_hz": 21.0})
    part(page, "save").click()
    part(page, "save-path").fill(str(studio.folder / "nothing.yaml"))
    part(page, "go").click()
    studio.reads(page, "wrong", "There is no task")
    part(page, "save-path").fill(str(file))
    part(page, "go").click()
    studio.until(lambda: part(page, "dialog").count() == 0)
    assert "cutoff_hz: 21" in file.read_text()
    assert "# soft" in file.read_text()
    assert "# gives way" in file.read_text()


def compare(page: Any, studio: Running, name: str) -> str:
    """Select a preset to compare with, and return what its dialog says; a notice instead of one says why."""
    part(page, "preset").select_option(name)
    why = lambda: part(page, "notice").text_content()  # noqa: E731
    before = why()
    studio.until(lambda: part(page, "dialog").count() == 1 or why() != before)
    assert part(page, "dialog").count() == 1, why()
    return part(page, "dialog").text_content()


def test_sets_that_were_kept_can_be_compared_and_taken_over(page: Any, studio: Running) -> None:
    studio.loop.set({"admittance.stiffness": 111.0, "sense.deadband_n": 2.0})
    part(page, "keep").click()
    studio.until(lambda: part(page, "preset").locator("option[value=A]").count() == 1)
    studio.loop.set({"admittance.stiffness": 222.0})
    studio.until(lambda: "Values kept as A" in part(page, "notice").text_content())
    told = compare(page, studio, "A")
    assert "admittance.stiffness" in told
    assert "222" in told
    assert "sense.deadband_n" not in told
    part(page, "go").click()
    studio.until(lambda: studio.loop.parameters.admittance.stiffness[0][0] == 111.0)
    studio.until(lambda: part(page, "dialog").count() == 0)


def test_the_values_of_another_task_are_taken_over_as_one_change(page: Any, studio: Running) -> None:
    before = studio.loop.parameters
    compare(page, studio, "precise_assembly")
    part(page, "go").click()
    studio.until(lambda: part(page, "dialog").count() == 0)
    wanted = load_task("precise_assembly").params.admittance.stiffness
    studio.until(lambda: studio.loop.parameters.admittance.stiffness == wanted)
    part(page, "undo").click()
    studio.until(lambda: studio.loop.parameters == before)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_goal_and_virtual_push_can_be_typed(page: Any, studio: Running, axis: int) -> None:
    studio.go_on()
    goal, push = (lambda: float(studio.loop.state.goal.pose[axis])), (lambda: studio.loop.state.goal.push[:3].tolist())
    goal_field, force_field = (part(page, f"{name}-{'xyz'[axis]}") for name in ("goal", "force"))
    before = studio.loop.state.goal.pose.copy()
    studio.until(lambda: float(goal_field.input_value()) == pytest.approx(goal(), abs=6e-4))
    goal_field.fill(str(round(before[axis] + 0.01, 3)))
    goal_field.press("Enter")
    studio.until(lambda: abs(goal() - before[axis] - 0.01) < 1e-3)
    others = np.delete(studio.loop.state.goal.pose, axis)  # a quaternion is normalised again: its last digit may change
    assert np.abs(others - np.delete(before, axis)).max() < 1e-12
    force_field.fill("4")
    force_field.press("Enter")
    studio.until(lambda: push() == [4.0 * (i == axis) for i in range(3)])
    part(page, "view").focus()  # so that nobody writes there
    studio.until(lambda: force_field.input_value() == "4")
    studio.loop.virtual_push([0.0, 0.0, 0.0])
    studio.until(lambda: force_field.input_value() == "0")
    studio.loop.goal_pose(before)
    studio.obeyed()  # the next axis begins from there


def test_one_number_of_a_goal_or_a_push_leaves_the_others_as_they_are_by_then(studio: Running) -> None:
    before, sent = studio.loop.state.goal.pose.copy(), studio.sent
    with dial(studio) as socket:
        socket.recv(timeout=PATIENCE_S)
        with held(int(studio.loop.board.header.loop_pid)):  # what is asked first does not show before the rest is asked
            for axis in range(3):
                ask_for = {"goal": ("position", float(before[axis]) + 0.01), "virtual_push": ("force", 2.0)}
                for do, (field, value) in ask_for.items():
                    given = [value if i == axis else None for i in range(3)]
                    socket.send(json.dumps({"id": axis, "do": do, field: given}))
        studio.until(lambda: studio.sent == sent + 6)
        studio.obeyed()
    assert studio.loop.state.goal.push[:3].tolist() == [2.0, 2.0, 2.0]
    assert studio.loop.state.goal.pose[:3].tolist() == (before[:3] + 0.01).tolist()
    assert np.array_equal(studio.loop.state.goal.pose[3:], before[3:])
    studio.let_go()
    studio.loop.goal_pose(before)
    studio.obeyed()
