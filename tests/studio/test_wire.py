"""What goes over the wire is JSON that every browser reads, whatever was measured."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pliant.control.laws.contact.contact_states import DONE, DWELL, IDLE, PAUSED, RETRACT, SEEK, SLIDE
from pliant.control.laws.registry import LAWS
from pliant.control.telemetry import TELEMETRY
from pliant.studio.wire import arm_channels, samples_of, text_of


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), float(np.float32("nan"))])
def test_what_is_no_number_is_null(value: float) -> None:
    said = strict(text_of({"one": [1.0, value, {"two": (value, 2)}], "three": value, "four": "NaN"}))
    assert said == {"one": [1.0, None, {"two": [None, 2]}], "three": None, "four": "NaN"}


@pytest.mark.parametrize(
    ("state", "before", "pressing"),
    [(DWELL, SEEK, True), (SLIDE, DWELL, True), (PAUSED, SLIDE, True), (PAUSED, SEEK, False), (SEEK, IDLE, False),
     (RETRACT, SLIDE, False), (DONE, RETRACT, False), (IDLE, IDLE, False)],
)  # fmt: skip
def test_a_force_target_is_plotted_only_while_a_contact_presses(state: int, before: int, pressing: bool) -> None:
    """After it, the state still holds the last target, which a slider may have left long ago."""
    records = TELEMETRY.new()
    contact = records["contact"]
    contact["state"], contact["before"], contact["target_n"] = state, before, 5.0
    records["goal"]["law"] = LAWS["contact"].number
    channels = arm_channels()
    column = [channel.name for channel in channels].index("force target")
    shown = float(samples_of(records, 1, channels)[0, column])
    assert shown == 5.0 if pressing else np.isnan(shown)
    records["goal"]["law"] = LAWS["hold"].number
    assert np.isnan(samples_of(records, 1, channels)[0, column])
