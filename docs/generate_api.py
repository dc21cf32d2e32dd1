"""Writes the pages of the Python API from the code: each public name with its signature and its docstring."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parent.parent
NOTE = "<!-- Written by docs/generate.py (make reference). Do not edit. -->"
# Every module from which users import, with what it is for.
PUBLIC = {
    "pliant": "Arms: run, simulate, record, diagnose, and add kinds of your own.",
    "pliant.mobile": "Mobile bases, arms on a base, and missions.",
    "pliant.identify": "Identify the weight of a tool.",
    "pliant.bridge": "Connect a running loop to ROS 2.",
    "pliant.analysis": "Declare experiments of your own.",
    "pliant.testing": "Check a robot driver of your own.",
}
# Signatures are broken into lines beyond this width.
_WIDTH = 100


def page_name(module: str) -> str:
    """The file of a module's page, in docs/reference."""
    return f"api-{module.rpartition('.')[2]}.md"


@cache
def package() -> Any:
    """The source of Pliant as a tree of modules, classes and functions."""
    return griffe.load("pliant", search_paths=[ROOT / "src"], resolve_aliases=True, resolve_external=False)


def home(module: str, name: str) -> str:
    """The full name under which a public name of `module` is defined."""
    where, _, other = importlib.import_module(module).HOMES[name].partition(":")
    return f"{where}.{other or name}"


def public_things(module: str) -> dict[str, Any]:
    """Every public name of a module, with its place in the source."""
    names = importlib.import_module(module).__all__
    return {name: package()[home(module, name).removeprefix("pliant.")] for name in names}


def overview_page() -> str:
    """The list of all public names, with links to their pages."""
    parts = [
        NOTE,
        "# Python API",
        "The public API: every name that these modules offer. Anything else is internal and may change without notice."
        " A shorter overview: [Python](../python.md).",
    ]
    for module, purpose in PUBLIC.items():
        names = importlib.import_module(module).__all__
        links = ", ".join(f"[`{name}`]({page_name(module)}#{name.lower()})" for name in names)
        parts += [f"## {module}", purpose, links + "."]
    return "\n\n".join(parts) + "\n"


def module_page(module: str) -> str:
    """The page of one module."""
    parts = [NOTE, f"# {module}", PUBLIC[module]]
    for name, thing in public_things(module).items():
        parts += [f"## {name}", *described(name, thing)]
    return "\n\n".join(parts) + "\n"


def described(name: str, thing: Any) -> Iterator[str]:
    """A class, a function or a value: its signature, its docstring, its fields and its methods."""
    if thing.is_function:
        yield code(signature(name, thing))
    elif thing.is_class and (made := thing.all_members.get("__init__")) is not None and made.is_function:
        yield code(signature(name, made, start="class "))
    elif thing.is_attribute and thing.annotation is not None:
        yield code(f"{name}: {thing.annotation}")
    if text := docstring(thing):
        yield text
    if not thing.is_class:
        return
    members = [(each, member) for each, member in thing.all_members.items() if not each.startswith("_")]
    rows = [row(each, member) for each, member in members if member.is_attribute and described_in_words(member)]
    if rows:
        yield "\n".join(["| Field | Meaning |", "| --- | --- |", *rows])
    for each, member in members:
        if member.is_function and docstring(member):
            yield f"### {name}.{each}"
            yield code(signature(each, member))
            yield docstring(member)


def code(text: str) -> str:
    """A block of code; it shows how something is called, so it is not run."""
    return f"```text\n{text}\n```"


def docstring(thing: Any) -> str:
    """A docstring as Markdown: what stands in angle brackets is text, not a tag."""
    if not thing.docstring:
        return ""
    lines = thing.docstring.value.replace("``", "`").splitlines()
    return "\n".join(line if line.startswith("    ") else escaped(line) for line in lines).strip()


def escaped(text: str) -> str:
    """Text in which only code keeps its angle brackets."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def described_in_words(member: Any) -> str:
    """What an attribute is: its docstring, or the help text of a parameter."""
    if member.docstring:
        return str(member.docstring.value)
    try:
        call = ast.parse(str(member.value), mode="eval").body
    except SyntaxError:
        return ""
    keywords = call.keywords if isinstance(call, ast.Call) else ()
    return next((str(ast.literal_eval(one.value)) for one in keywords if one.arg == "help"), "")


def row(name: str, member: Any) -> str:
    """A line of the table of fields."""
    kind = "" if str(member.annotation) in ("None", "Any") else f": {member.annotation}"
    words = " ".join(escaped(described_in_words(member)).split())
    return f"| `{name}{kind}` | {words} |".replace(" | None", " or None").replace("\\|", "|")


def signature(name: str, function: Any, start: str = "def ") -> str:
    """A function as it is called, one line if it is short."""
    if "property" in function.labels:
        return f"{name}: {function.returns}"
    shown = [
        word for word in (parameter(one) for one in function.parameters if one.name not in ("self", "cls")) if word
    ]
    kinds = [one.kind for one in function.parameters if one.name not in ("self", "cls")]
    keyword = griffe.ParameterKind.keyword_only
    if keyword in kinds and griffe.ParameterKind.var_positional not in kinds:
        shown.insert(kinds.index(keyword), "*")
    result = "" if start != "def " or function.returns is None else f" -> {function.returns}"
    line = f"{start}{name}({', '.join(shown)}){result}"
    if len(line) <= _WIDTH:
        return line
    return f"{start}{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){result}"


def parameter(one: Any) -> str:
    """A parameter with its type and its default."""
    stars = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(one.kind, "")
    kind = "" if one.annotation is None else f": {one.annotation}"
    default = "" if one.default is None or stars else f" = {one.default}" if kind else f"={one.default}"
    return f"{stars}{one.name}{kind}{default}"


def api_pages(folder: Path) -> dict[Path, Callable[[], str]]:
    """All pages of the API and how they are made."""
    modules = {folder / page_name(module): partial(module_page, module) for module in PUBLIC}
    return {folder / "api.md": overview_page, **modules}
