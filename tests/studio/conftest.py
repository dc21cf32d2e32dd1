"""A Studio in a process of its own, and a browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pliant.runtime.link import Link, attach

TOKEN = "a-token-for-the-tests"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Running:
    """A Studio that runs: its link, and the end of its loop that does not go through the page."""

    process: subprocess.Popen[str]
    url: str
    loop: Link

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url).group(1))  # type: ignore[union-attr]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def start(task: str, folder: Path, port: int = 0) -> Running:
    """Start `pliant studio` and wait for its link."""
    words = [sys.executable, "-m", "pliant.cli.main", "studio", task, "--port", str(port)]
    environment = {**os.environ, "PLIANT_STUDIO_TOKEN": TOKEN, "PLIANT_OUT": str(folder), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"loop (\S+) at (http\S+)", line):
            return Running(process, found.group(2), attach(found.group(1)))
    raise AssertionError("the Studio ended before it said where it is")


def until(true: Any, seconds: float = 20.0) -> Any:
    """Wait until `true()` is true; returns what it was."""
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return value


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the Studio of this module puts its files."""
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def studio(out: Path) -> Iterator[Running]:
    """A Studio with the task `hand_guiding`."""
    running = start("hand_guiding", out)
    yield running
    running.end()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium; without it these tests skip, and fail where everything must be there."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is missing: .ci/system-packages installs it")
        pytest.skip("needs chromium (Debian: apt install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        found = tools.chromium.launch(executable_path=program, args=FLAGS)
        yield found
        found.close()
