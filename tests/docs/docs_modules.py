"""The scripts in docs/ as modules."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

DOCS = str(Path(__file__).parents[2] / "docs")


def docs_module(name: str) -> ModuleType:
    """The script `name` of docs/, imported."""
    sys.path.insert(0, DOCS)
    try:
        return __import__(name)
    finally:
        sys.path.remove(DOCS)
