"""What can be made to go wrong, in words."""

from __future__ import annotations

import re

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
    ("text", "said"),
    [
        ("silence", "'silence' needs one number: the duration [s], as in 'silence 0.5 @ 3'."),
        ("silence x", "'silence' needs one number: the duration [s]"),
        ("late 1 2", "'late' needs one number: the delay [s], as in 'late 0.02 @ 3'."),
        (
            "push 1",
            "'push' needs 7 numbers: the wrench [N, N m] and the duration [s], as in 'push 10 0 0 0 0 0 1.5 @ 3'.",
        ),
        ("clear 1", "'clear' takes no number, as in 'clear @ 3'."),
        ("clear @ soon", "'clear' takes no number, as in 'clear @ 3'."),
    ],
)
def test_numbers_that_are_missing_or_too_many_are_explained_with_an_example(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Fault.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "silence -1",
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
