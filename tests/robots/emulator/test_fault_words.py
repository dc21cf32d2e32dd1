"""What can be made to go wrong, in words."""

from __future__ import annotations

import re

import pytest

from pliant.errors import InputError, UnknownNameError
from pliant.robots.emulator.emulated_faults import FAULTS, Fault


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
        ("silence nan", "'silence' needs one number: the duration [s]"),
        ("push nan 0 0 0 0 0 1", "'push' needs 7 numbers"),
        ("clear @ soon", "The time after @ is 'soon', but it must be a number [s], as in 'silence 0.5 @ 3'."),
        ("silence 1 @ inf", "The time after @ is 'inf', but it must be a number [s]"),
        ("clear @ -1", "The time after @ is -1 s, but it must be 0 s or more."),
        ("silence -3 @ 2", "The duration in 'silence -3 @ 2' is -3 s, but it must be 0 s or more."),
        ("speed slider -1", "The position in 'speed slider -1' is -1, but it must be 0 or more."),
        ("push 0 0 4 0 0 0 -1", "The duration in 'push 0 0 4 0 0 0 -1' is -1 s, but it must be 0 s or more."),
    ],
)
def test_wrong_numbers_are_explained_with_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Fault.parse(text)


@pytest.mark.parametrize("text", ["late inf", "clear @ nan", "push 0 0 inf 0 0 0 1", "push 0 0 4 0 0 0 nan"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"needs|must be a number"):
        Fault.parse(text)


def test_a_fault_says_what_it_does_and_when() -> None:
    assert str(Fault.parse("silence 0.5")) == "silence 0.5, at once"
    assert str(Fault.parse("protective stop @ 3")) == "protective stop, 3 s after the first motion command"


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="protective stop"):
        Fault.parse("earthquake")
