"""A Studio in a process of its own, and what is read from its pages and its loop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.runtime.link import attach

TOKEN = "a-token-for-the-tests"


@dataclass
class Running:
    """A Studio that runs: its link, and the end of its loop that does not go through the page."""

    process: subprocess.Popen[str]
    url: str
    loop: Any
    """A `Link`, or a `MissionLink`."""

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url).group(1))  # type: ignore[union-attr]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def start(task: str, folder: Path, port: int = 0, connect: Callable[[str], Any] = attach) -> Running:
    """Start `pliant studio` and wait for its link; `connect` goes to its loop by another way."""
    words = [sys.executable, "-m", "pliant.cli.main", "studio", task, "--port", str(port)]
    environment = {**os.environ, "PLIANT_STUDIO_TOKEN": TOKEN, "PLIANT_OUT": str(folder), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"loop (\S+) at (http\S+)", line):
            return Running(process, found.group(2), connect(found.group(1)))
    raise AssertionError("the Studio ended before it said where it is")


def until(true: Any, seconds: float = 90.0) -> Any:
    """Wait until `true()` is true; returns what it was."""
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return value


def ready(page: Any) -> None:
    """Wait until the page shows frames."""
    until(lambda: float(page.evaluate("document.body.dataset.time ?? 0")) > 0.0)


def part(page: Any, name: str) -> Any:
    """An element by the name that it has for tests."""
    return page.get_by_test_id(name)
