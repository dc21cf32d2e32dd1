"""The documentation site: built without a warning, searched in a browser, and complete without any other host."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import pliant

ROOT = Path(__file__).parents[2]
PATIENCE_MS = 120_000


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without printing every request."""

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy of its sources in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "src").symlink_to(ROOT / "src")
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "No issues found" in said
    return folder / "site"


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://{server.server_address[0]}:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose requests are collected in `page.asked`."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(PATIENCE_MS)
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    page.close()


def test_searching_for_deadband_finds_a_page_about_it(url: str, page: Any) -> None:
    page.goto(url, wait_until="networkidle")  # the page's script listens to the keyboard by then
    page.keyboard.press("/")
    page.keyboard.type("deadband", delay=20)
    found = page.locator("a[href*='?h=deadband']")
    found.first.wait_for()
    found.first.click()
    page.wait_for_function("location.pathname !== '/'")
    assert "deadband" in page.locator("article").inner_text().lower()


def test_no_request_leaves_this_machine(url: str, page: Any) -> None:
    for path in ("", "laws/admittance/", "reference/api/", "lab/equilibrium/"):
        page.goto(url + path, wait_until="networkidle")
    hosts = {urlsplit(asked).hostname for asked in page.asked if not asked.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}
    assert len(page.asked) > 10


def test_every_public_name_is_in_the_api_reference(site: Path) -> None:
    text = (site / "reference" / "api-pliant" / "index.html").read_text()
    missing = [name for name in pliant.__all__ if f'id="{name.lower()}"' not in text]
    assert missing == []


def test_recipes_show_the_text_of_their_example(site: Path) -> None:
    for example in sorted((ROOT / "examples").glob("*.py")):
        first = example.read_text().splitlines()[0].strip('"')
        shown = [page for page in (site / "howto").rglob("index.html") if first.split(":")[0][:30] in page.read_text()]
        assert shown, f"no recipe shows {example.name}"
