"""What the tests of the runtime share: compiled kernels, patience, and folders of their own."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pliant.runtime import board as board_module
from pliant.runtime.warm import warm

Until = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Every kernel is in the cache before a test starts a process."""
    warm()


@pytest.fixture(scope="session")
def until() -> Until:
    """`until(condition)`: wait until it is true, however slow the machine; fail when it never becomes true."""

    def wait(condition: Callable[[], Any], within_s: float = 60.0) -> Any:
        deadline = time.monotonic() + within_s
        while not (result := condition()):
            assert time.monotonic() < deadline, "it never happened"
            time.sleep(0.005)
        return result

    return wait


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for black boxes."""
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "out"))
    return tmp_path / "out"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for boards, apart from those of real loops."""
    folder = tmp_path / "boards"
    folder.mkdir()
    monkeypatch.setattr(board_module, "board_folder", lambda: folder)
    return folder
