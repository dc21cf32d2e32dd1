"""Studios and their pages for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from running_studio import Running, ready, start, tab, visit


@pytest.fixture(scope="session")
def _studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """To start one takes seconds: one serves all tests that do not need another."""
    running = start("hand_guiding", tmp_path_factory.mktemp("studio"))
    yield running
    running.end()


@pytest.fixture(scope="module")
def studio(_studio: Running) -> Running:
    """A Studio that shows the task `hand_guiding` when the module begins, whatever the last one left."""
    _studio.show("hand_guiding")
    return _studio


@pytest.fixture(scope="session")
def _tab(browser: Any) -> Iterator[Any]:
    with tab(browser) as page:
        yield page


@pytest.fixture(scope="module")
def _shown(studio: Running, _tab: Any) -> Iterator[Any]:
    visit(_tab, studio.url)
    yield _tab
    _tab.goto("about:blank")  # what nobody looks at costs nothing


@pytest.fixture
def page(_shown: Any, request: pytest.FixtureRequest, _failures: list[int]) -> Any:
    """The page of the Studio, showing frames: one for all tests of a module, loaded anew where one has failed."""
    if request.session.testsfailed != _failures[0]:
        _failures[0] = request.session.testsfailed
        _shown.reload()
        ready(_shown)
    return _shown


@pytest.fixture(scope="session")
def _failures() -> list[int]:
    return [0]
