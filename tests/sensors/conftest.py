"""Boxes that end with the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streaming_box import Box, StreamingBox


@pytest.fixture
def box() -> Iterator[Box]:
    made = Box()
    yield made
    made.close()


@pytest.fixture
def streaming() -> Iterator[StreamingBox]:
    made = StreamingBox()
    yield made
    made.close()
