"""A real ROS 2 and a network of our own to meet it in: skipped when they cannot be had, required where CI=true."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pliant.experiments.ros2_peer import Peer, PeerMissingError, own_network


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
