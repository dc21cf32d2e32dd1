"""Users import public names only: on every page, in the README and in the examples."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs_modules import docs_module

ROOT = Path(__file__).parents[2]
MORE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")]
PAGES = [*MORE, *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
PUBLIC = docs_module("generate_api").PUBLIC
_PYTHON = re.compile(r"^```(?:python|py)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def inner_imports(code: str) -> Iterator[str]:
    """What `code` imports from Pliant that is not public."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name for name in names if name.partition(".")[0] == "pliant" and name not in PUBLIC)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "pliant":
            offered = importlib.import_module(node.module).__all__ if node.module in PUBLIC else ()
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name not in offered)


def test_pages_and_examples_import_public_names_only() -> None:
    code = {path.name: path.read_text() for path in EXAMPLES}
    for page in PAGES:
        code |= {f"{page.name} ({i})": text for i, text in enumerate(_PYTHON.findall(page.read_text()))}
    found = [f"{where}: {name}" for where, text in code.items() for name in inner_imports(text)]
    assert len(code) > 30
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "code", ["import pliant.task.schema", "from pliant.task.schema import load_task", "from pliant import task"]
)
def test_an_inner_import_is_found(code: str) -> None:
    assert len([*inner_imports(code)]) == 1


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    assert sorted(module.HOMES) == sorted(module.__all__)
    assert all(getattr(module, each) is not None for each in module.__all__)
