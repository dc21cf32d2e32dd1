"""Everything in the API reference says what it is: every class, function, method, property and attribute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
import pytest
from docs_modules import docs_module

ROOT = Path(__file__).parents[2]


def described(thing: Any) -> bool:
    """Whether it has a docstring, or is a parameter with a help text."""
    return bool(thing.docstring) or (thing.is_attribute and "help=" in str(thing.value))


def undescribed(thing: Any) -> Iterator[str]:
    """The full names of all that is public in it and does not say what it is."""
    if not described(thing):
        yield thing.path
    for name, member in thing.members.items() if thing.is_class else ():
        if not name.startswith("_") and not member.is_alias:
            yield from undescribed(member)


@pytest.fixture(scope="module")
def package() -> Any:
    return griffe.load("pliant", search_paths=[ROOT / "src"], resolve_aliases=False)


def test_everything_in_the_reference_has_a_docstring(package: Any) -> None:
    api = docs_module("generate_api")
    names = [
        api.home(module, name).removeprefix("pliant.") for module in api.PUBLIC for name in api.public_things(module)
    ]
    assert len(names) > 50
    missing = [path for name in names for path in undescribed(package[name])]
    assert not missing, "\n".join(missing)


def test_a_missing_docstring_is_found(tmp_path: Path) -> None:
    code = 'class A:\n    """An A."""\n    x: int = 0\n    y = param(1, help="A y.")\n    def f(self): ...\n'
    (tmp_path / "made_up.py").write_text(code)
    assert [*undescribed(griffe.load("made_up", search_paths=[tmp_path])["A"])] == ["made_up.A.x", "made_up.A.f"]
