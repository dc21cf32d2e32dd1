"""Nothing outside a law knows it by name: what the rooms around the laws need is declared on the `Law` object."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pliant.control.laws.registry import PLIANTS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "pliant"
PAGE = sorted((ROOT / "studio" / "src").glob("*.ts"))
ROOMS = ("studio", "bridge", "loop", "session", "stability", "task", "record", "sensors", "cli")
FILES = [SOURCE / "control" / "tick.py", *(file for room in ROOMS for file in sorted((SOURCE / room).rglob("*.py")))]

# What still knows a law by name, and why.
EXEMPT = {
    "task/ros_parameters.py": "converts the parameters of a ROS 2 admittance controller to those of the admittance",
    "session/law_status.py": "`arm.contact`, a public name: the status of the contact law, with its own fields",
}


def names_in_python(text: str) -> Iterator[str]:
    """Law names in code: in imports, as attributes, and as strings that are a name (not a sentence)."""
    tree = ast.parse(text)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            words = [*re.split(r"[._]", node.module or ""), *(alias.name for alias in node.names)]
            yield from (f"line {node.lineno}: import of {word}" for word in words if word in PLIANTS)
        elif isinstance(node, ast.Attribute) and node.attr in PLIANTS:
            yield f"line {node.lineno}: .{node.attr}"
        elif isinstance(node, ast.Constant) and id(node) not in bare and _names_a_law(node.value):
            yield f"line {node.lineno}: {node.value!r}"


def _names_a_law(value: object) -> bool:
    return isinstance(value, str) and " " not in value and value.split(".")[0] in PLIANTS


def names_in_typescript(text: str) -> Iterator[str]:
    """Law names anywhere but in comments, also as part of a name such as showContact."""
    code = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(code.splitlines(), 1):
        words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"(^|\s)//.*", "", line)).lower())
        yield from (f"line {number}: {word}" for word in words if word in PLIANTS)


@pytest.mark.parametrize("path", PAGE, ids=lambda path: path.name)
def test_the_page_knows_no_law_by_name(path: Path) -> None:
    assert list(names_in_typescript(path.read_text())) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_room_around_the_laws_knows_one_by_name(path: Path) -> None:
    found, name = list(names_in_python(path.read_text())), path.relative_to(SOURCE).as_posix()
    if name in EXEMPT:
        assert found, f"{name} knows no law by name any more: take it out of EXEMPT"
    else:
        assert found == []


def test_the_check_finds_what_it_looks_for() -> None:
    assert list(names_in_python('if law == "contact": p.hold\n"""contact"""\nx = "the contact ended"')) == [
        "line 1: 'contact'",
        "line 1: .hold",
    ]
    assert list(names_in_python("from pliant.control.laws.contact.contact_states import STATES")) != []
    assert list(names_in_typescript("// contact\nshowContact(); /* hold\n */ const a = 'admittance'; // hold")) == [
        "line 2: contact",
        "line 3: admittance",
    ]
