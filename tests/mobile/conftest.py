"""A mobile manipulator."""

from __future__ import annotations

import pytest

from pliant.mobile.whole_body.kinematic_body import Body


@pytest.fixture(scope="session")
def body() -> Body:
    return Body()
