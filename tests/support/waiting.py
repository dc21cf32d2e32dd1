"""Waiting for something to happen, however slow the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], within_s: float = 120.0) -> Any:
    """Wait until the condition is true, and return its value; fail if it never becomes true."""
    deadline = time.monotonic() + within_s
    while not (result := condition()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)
    return result
