"""The watchdog of the emulated controller: how long it waits, and what it tells of itself. No clock is involved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pliant.model.tool import Tool
from pliant.robots.emulator import dashboard
from pliant.robots.emulator.emulated_arm import DT, EmulatedArm
from pliant.robots.emulator.emulated_controller import Controller
from pliant.robots.emulator.urscript_program import KICK, SPEED_J, WATCHDOG
from pliant.world.world_config import SimConfig


@pytest.fixture
def made() -> Controller:
    controller = Controller(EmulatedArm("ur5e", Tool(), SimConfig()), "ur5e", (5, 26, 0, 0))
    controller.program.start()
    return controller


def say(made: Controller, command: int, *doubles: float) -> None:
    values = {f"input_double_register_{i}": value for i, value in enumerate(doubles)}
    made.program.receive({"input_int_register_0": command, **values}, made.now)


def arm(made: Controller, seconds: float) -> None:
    say(made, WATCHDOG, 1.0 / seconds)
    say(made, KICK)


def move(made: Controller) -> None:
    say(made, SPEED_J, 0.01, 0, 0, 0, 0, 0, 1.0)


def acts_after_s(made: Controller) -> float:
    """How long after the last command it stops the program."""
    move(made)
    began = made.now
    while made.program.plays:
        assert made.now - began < 5.0
        made.step()
    return made.now - began - DT  # it looks before a period, which has gone by when it is seen


def state(made: Controller) -> dict[str, Any]:
    return json.loads(dashboard.answer(made, "emulator state"))


def test_a_watchdog_that_is_slow_waits_for_longer_than_it_was_asked_to(made: Controller) -> None:
    assert dashboard.answer(made, "emulator watchdog slow 0.5") == "Done: watchdog slow 0.5"
    arm(made, 0.1)
    assert acts_after_s(made) == pytest.approx(0.5, abs=2 * DT)


def test_it_never_waits_for_less_than_it_was_asked_to(made: Controller) -> None:
    dashboard.answer(made, "emulator watchdog slow 0.1")
    arm(made, 0.3)
    assert acts_after_s(made) == pytest.approx(0.3, abs=2 * DT)


def test_a_slow_one_stays_through_clear_and_a_new_program_until_it_is_told(made: Controller) -> None:
    dashboard.answer(made, "emulator watchdog slow 0.5")
    dashboard.answer(made, "emulator clear")
    made.program.start()
    arm(made, 0.1)
    assert acts_after_s(made) == pytest.approx(0.5, abs=2 * DT)
    dashboard.answer(made, "emulator watchdog slow 0")
    made.program.start()
    arm(made, 0.1)
    assert acts_after_s(made) == pytest.approx(0.1, abs=2 * DT)


def test_it_tells_what_was_asked_of_the_watchdog_and_what_watched_the_first_motion(
    made: Controller,
) -> None:
    assert state(made)["watchdog_s"] == 0.0
    arm(made, 0.25)
    move(made)
    assert (state(made)["watchdog_s"], state(made)["watched_s"]) == (0.25, 0.25)
    made.program.start()  # a new program has no watchdog
    move(made)
    arm(made, 0.25)
    assert (state(made)["watchdog_s"], state(made)["watched_s"]) == (0.25, 0.0)
