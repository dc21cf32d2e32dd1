"""Studios and a browser for the tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running_studio import Running, start

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
