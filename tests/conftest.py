"""What all tests share: Ctrl-C, and a real ROS 2 to meet in a network of our own.

That ROS 2 is skipped when it cannot be had, and required where CI=true.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from pliant.experiments.ros2_peer import Peer, PeerMissingError, own_network


def pytest_configure() -> None:
    # who starts the tests in the background may have Ctrl-C ignored, and what they start would inherit that
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _missing(error: PeerMissingError) -> None:
    if os.environ.get("CI") == "true":
        raise AssertionError(str(error)) from error
    pytest.skip(str(error))


@pytest.fixture
def network() -> Iterator[None]:
    """A network with nothing but a loopback, for everything that the test starts."""
    try:
        with own_network():
            yield
    except PeerMissingError as error:
        _missing(error)


@pytest.fixture
def peer(network: None) -> Iterator[Peer]:
    """A node of a real ROS 2 in that network."""
    try:
        node = Peer()
    except PeerMissingError as error:
        _missing(error)
        raise
    with node:
        yield node
