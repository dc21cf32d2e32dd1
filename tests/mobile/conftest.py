"""A mobile manipulator."""

from __future__ import annotations

import pytest

from pliant.mobile.body import Body


@pytest.fixture(scope="session")
def body() -> Body:
    return Body()
