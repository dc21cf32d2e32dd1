"""How many examples a property tries: the number that it names is for a profile of 100 (see conftest.py)."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(count: int, **more: Any) -> settings:
    """Settings of a property: `count` examples, scaled to the profile that is loaded."""
    return settings(max_examples=max(3, count * settings().max_examples // 100), **more)
