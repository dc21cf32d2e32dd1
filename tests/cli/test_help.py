"""The help of the command line: short enough for a screen, with an example for each command."""

from __future__ import annotations

import pytest

from support.words import say

VERBS = (
    "demo", "run", "check", "info", "set", "goal", "command", "push", "stop", "tare", "identify", "emulate", "plan",
    "plot", "doctor", "replay", "experiment", "bench", "cache", "studio",
)  # fmt: skip


def test_help_names_every_verb_and_fits_a_screen() -> None:
    done = say("--help")
    assert done.returncode == 0
    assert all(verb in done.stdout for verb in VERBS)
    assert len(done.stdout.splitlines()) <= 36


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb_fits_a_screen_and_ends_with_an_example(verb: str) -> None:
    lines = [line for line in say(verb, "--help").stdout.splitlines() if line.strip()]
    assert len(lines) <= 36
    assert any("Example: pliant" in line for line in lines[-2:])
