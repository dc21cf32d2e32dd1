"""What can be made to go wrong, in words."""

from __future__ import annotations

import pytest

from pliant.errors import InputError, UnknownNameError
from pliant.robots.emulator.faults import FAULTS, Fault


def test_words_numbers_and_time_are_read() -> None:
    assert Fault.parse("silence 0.5 @ 3") == Fault("silence", (0.5,), 3.0)
    assert Fault.parse(" protective stop ") == Fault("protective stop")
    assert Fault.parse("push 0 0 -4 0 0 0 1.5@2") == Fault("push", (0, 0, -4, 0, 0, 0, 1.5), 2.0)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_can_be_said(name: str) -> None:
    numbers = " ".join(["1"] * FAULTS[name])
    assert Fault.parse(f"{name} {numbers}").name == name


@pytest.mark.parametrize(
    "text",
    [
        *("silence", "silence x", "silence -1", "late 1 2", "clear @ soon", "clear 1"),
        *("silence nan", "late inf", "clear @ -1", "clear @ nan", "silence 1 @ inf"),
        *("push nan 0 0 0 0 0 1", "push 0 0 inf 0 0 0 1", "push 0 0 4 0 0 0 -1", "push 0 0 4 0 0 0 nan"),
    ],
)
def test_wrong_numbers_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="fault is"):
        Fault.parse(text)


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="protective stop"):
        Fault.parse("earthquake")
