"""What all tests share: Ctrl-C, what they need, how many examples properties try, a browser, and a real ROS 2."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from pliant.control.laws.registry import LAWS, PLIANTS
from pliant_experiments.robots.ros2_peer import Peer, own_network
from support.needs import chromium, needs_of, require

CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=500)


def pytest_configure() -> None:
    # hundreds of processes are started: without bytecode on disk, each of them would compile every package again
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # tests started in the background may ignore Ctrl-C, and their child processes would inherit that
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    gc.disable()  # whatever is imported stays


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if needs_of(item):
            item.add_marker("optional")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    require(*needs_of(item))


@pytest.fixture(autouse=True, scope="module")
def _only_pliants_laws() -> Iterator[None]:
    """Laws from outside the package, which a process keeps, are gone after the tests of a file."""
    yield
    for name in [name for name in LAWS if name not in PLIANTS]:
        del LAWS[name]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by playwright: one for all tests of a process, which can drive only one."""
    require("chromium")  # a test that asks for the fixture while it runs is not marked as needing it
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        found = tools.chromium.launch(executable_path=chromium(), args=CHROMIUM)
        yield found
        found.close()


@pytest.fixture
def network() -> Iterator[None]:
    """A network with nothing but a loopback, for everything that the test starts."""
    require("network")
    with own_network():
        yield


@pytest.fixture
def peer(network: None) -> Iterator[Peer]:
    """A node of a real ROS 2 in that network."""
    require("ros2-peer")
    with Peer() as node:
        yield node
