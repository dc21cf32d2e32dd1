"""What goes over the wire is JSON that every browser reads, whatever was measured."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pliant.studio.wire import text_of


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), float(np.float32("nan"))])
def test_what_is_no_number_is_null(value: float) -> None:
    said = strict(text_of({"one": [1.0, value, {"two": (value, 2)}], "three": value, "four": "NaN"}))
    assert said == {"one": [1.0, None, {"two": [None, 2]}], "three": None, "four": "NaN"}
