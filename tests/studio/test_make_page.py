"""Making the page: not twice from the same sources, and what is said where it cannot be made."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from pliant.errors import PliantError
from pliant.studio import server

MAKER = runpy.run_path(str(Path(__file__).parents[2] / "studio" / "make_page.py"))


def test_a_page_that_cannot_be_made_says_why_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, package = tmp_path / "studio", tmp_path / "package"
    source.mkdir()
    (source / "package.json").write_text('{"name": "page", "private": true}')  # without a lock file npm refuses
    MAKER["make_page"](source, package / "static")
    assert (package / "static" / "not-made").read_text().startswith("npm ci failed (exit code ")
    monkeypatch.setattr(server.resources, "files", lambda _: package)
    with pytest.raises(PliantError, match=r"was not built .*\(npm ci failed \(exit code \d+\)\).*install Pliant again"):
        server.static_folder()


def test_a_page_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    source, static = tmp_path / "studio", tmp_path / "static"
    (source / "src").mkdir(parents=True)
    (source / "src" / "main.ts").write_text("export {};")
    static.mkdir()
    (static / "made-from").write_text(MAKER["_digest"](source, MAKER["_SOURCES"]))
    (static / "index.html").write_text("made before")
    MAKER["make_page"](source, static)
    assert (static / "index.html").read_text() == "made before"
    (source / "src" / "main.ts").write_text("export {}; // another")
    MAKER["make_page"](source, static)
    assert not (static / "index.html").exists()
