"""`pliant cache`: what is kept, and taking it away."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pliant.kernel.code_cache import Cache
from support.words import say


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with an entry of today and one that was not used for a hundred days."""
    made = tmp_path / "kernels"
    made.mkdir(mode=0o700)
    monkeypatch.setenv("PLIANT_CACHE", str(made))
    cache = Cache(made)
    for name in ("new", "old"):
        cache.save(name, bytes(500_000))
    long_ago = (made / "old.kernel").stat().st_mtime - 100 * 86400.0
    os.utime(made / "old.kernel", (long_ago, long_ago))
    return made


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.kernel") if not path.name.startswith("sources-")}


def test_it_shows_where_how_much_and_what_is_ready(folder: Path) -> None:
    done = say("cache")
    assert done.returncode == 0
    assert f"Folder: {folder}" in done.stdout.replace("\n", "")
    assert "100 days ago" in done.stdout
    assert "loop         not compiled yet; compiled on first use" in done.stdout
    shown = json.loads(say("cache", "--json").stdout)
    assert shown["entries"] >= 2
    assert shown["bytes"] >= 1_000_000
    assert shown["ready"]["planner"] is False
    assert names(folder) == {"new.kernel", "old.kernel"}


def test_prune_removes_what_was_not_used_for_long_and_clear_everything(folder: Path) -> None:
    assert "Removed 1 entry, 0.5 MB." in say("cache", "prune").stderr
    assert names(folder) == {"new.kernel"}
    shown = say("cache").stdout
    assert "Last used: today\n" in shown
    assert "Each compilation removes entries unused for 60 days." in shown
    assert say("cache", "clear").returncode == 0
    assert names(folder) == set()


def test_a_folder_that_cannot_be_used_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "file"))
    done = say("cache")
    assert done.returncode == 2
    assert "PLIANT_CACHE" in done.stderr
    assert "Traceback" not in done.stderr
