"""A mobile manipulator, and independent libraries to compare with: skipped when absent, required where CI=true."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from pliant.mobile.body import Body


@pytest.fixture(scope="session")
def body() -> Body:
    return Body()


@pytest.fixture
def oracle() -> Callable[[str], Any]:
    """Import a library that only tests use."""

    def find(name: str) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what it cannot do for want of others is not our matter
                return importlib.import_module(name)
        except ImportError as error:
            sentence = f"The package {name!r} is not installed: pip install '.[dev]' brings it."
            if os.environ.get("CI") == "true":
                raise AssertionError(sentence) from error
            pytest.skip(sentence)

    return find
