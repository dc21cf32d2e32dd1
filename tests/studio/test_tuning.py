"""Tuning on the page: what is turned, typed, taken back, kept and saved is in force, read from the board of a loop."""

from __future__ import annotations

from typing import Any

from running_studio import Running, opened, part

from pliant.runtime.task import find_task

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


def test_every_live_parameter_can_be_written(page: Any, studio: Running) -> None:
    part(page, "all-parameters").locator("summary").click()
    field = part(page, "field-sense.cutoff_hz")
    field.fill("17.5")
    field.press("Enter")
    studio.until(lambda: studio.loop.parameters.sense.cutoff_hz == 17.5)
    field.fill("plenty")
    field.press("Enter")
    studio.until(lambda: "sense.cutoff_hz" in part(page, "notice").text_content())
    assert studio.loop.parameters.sense.cutoff_hz == 17.5
    part(page, "all-parameters").locator("summary").click()


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
        studio.until(lambda: "nothing to undo" in part(other, "notice").text_content())
        assert studio.loop.parameters.sense.deadband_n == 3.25
        part(page, "stop").click()
        studio.until(lambda: "stopped" in part(other, "law").text_content())
        part(other, "resume").click()
        studio.until(lambda: not studio.stopped)
        studio.until(lambda: "stopped" not in part(page, "law").text_content())


def test_values_are_saved_into_the_file_that_is_named(page: Any, studio: Running) -> None:
    file = studio.folder / "mine.yaml"
    file.write_text("law: admittance  # gives way\nparams:\n  sense:\n    cutoff_hz: 50 # soft\n")
    studio.loop.set({"sense.cutoff_hz": 21.0})
    part(page, "save").click()
    part(page, "save-path").fill(str(studio.folder / "nothing.yaml"))
    part(page, "go").click()
    studio.until(lambda: "existing file" in part(page, "wrong").text_content())
    part(page, "save-path").fill(str(file))
    part(page, "go").click()
    studio.until(lambda: part(page, "dialog").count() == 0)
    assert "cutoff_hz: 21" in file.read_text()
    assert "# soft" in file.read_text()
    assert "# gives way" in file.read_text()


def test_sets_that_were_kept_can_be_compared_and_taken_over(page: Any, studio: Running) -> None:
    studio.loop.set({"admittance.stiffness": 111.0, "sense.deadband_n": 2.0})
    part(page, "keep").click()
    studio.until(lambda: part(page, "preset").locator("option[value=A]").count() == 1)
    studio.loop.set({"admittance.stiffness": 222.0})
    part(page, "preset").select_option("A")
    studio.until(lambda: part(page, "dialog").count() == 1)
    told = part(page, "dialog").text_content()
    assert "admittance.stiffness" in told
    assert "222" in told
    assert "sense.deadband_n" not in told
    part(page, "go").click()
    studio.until(lambda: studio.loop.parameters.admittance.stiffness[0][0] == 111.0)
    studio.until(lambda: part(page, "dialog").count() == 0)


def test_the_values_of_another_task_are_taken_over_as_one_change(page: Any, studio: Running) -> None:
    before = studio.loop.parameters
    part(page, "preset").select_option("precise_assembly")
    studio.until(lambda: part(page, "dialog").count() == 1)
    part(page, "go").click()
    studio.until(lambda: part(page, "dialog").count() == 0)
    wanted = find_task("precise_assembly").params.admittance.stiffness
    studio.until(lambda: studio.loop.parameters.admittance.stiffness == wanted)
    part(page, "undo").click()
    studio.until(lambda: studio.loop.parameters == before)


def test_goal_and_virtual_push_can_be_typed(page: Any, studio: Running) -> None:
    studio.go_on()
    x = float(studio.loop.state.goal.pose[0])
    part(page, "goal-x").fill(str(round(x + 0.01, 3)))
    part(page, "goal-x").press("Enter")
    studio.until(lambda: abs(studio.loop.state.goal.pose[0] - x - 0.01) < 1e-3)
    part(page, "force-y").fill("4")
    part(page, "force-y").press("Enter")
    studio.until(lambda: studio.loop.state.goal.push[1] == 4.0)
    studio.loop.virtual_push([0.0, 0.0, 0.0])
    studio.until(lambda: part(page, "force-x").input_value() == "0")
