"""Writes the reference pages of the Python API and of the command line, from the code itself."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

import pliant
from pliant.analysis.experiments import Benchmark, Experiment, benchmarks, experiments
from pliant.cli.help_format import argument_name, argument_word, value_kind
from pliant.cli.main import app

ROOT = Path(__file__).parent.parent
NOTE = "<!-- Written by docs/generate.py (make reference). Do not edit. -->"
# Named on the pages, but not imported there.
ALSO = (
    "pliant.mobile.following.followers.RegulatedPurePursuit",
    "pliant.mobile.whole_body.pose_ik.PoseSearch",
    "pliant.mobile.velocity.estimators.LocalPoly",
    "pliant.mobile.velocity.estimators.Stencil",
    "pliant.mobile.mission.mission_link.attach_mission",
    "pliant.testing.Check",
    "pliant.testing.Report",
)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


# ---- Python --------------------------------------------------------------------------------------------------------


def imported() -> dict[str, list[str]]:
    """What the pages and the examples import from submodules of pliant: names by module."""
    texts = [path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        texts += [code for code in _PYTHON.findall(page.read_text()) if "--8<--" not in code]
    found: dict[str, set[str]] = defaultdict(set)
    for name in ALSO:
        module, _, last = name.rpartition(".")
        found[module].add(last)
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pliant."):
                found[node.module] |= {alias.name for alias in node.names}
    return {module: sorted(names) for module, names in sorted(found.items())}


def home(name: str) -> str:
    """The full name under which a public name of `pliant` is defined."""
    return f"{getattr(pliant, name).__module__}.{name}"


def api_page() -> str:
    """Everything that `import pliant` offers, and what the pages import from submodules."""
    parts = [
        NOTE,
        "# Python API",
        "The public API: every name that `import pliant` offers, and every name that these pages and the examples"
        " import from a submodule. Anything else is internal and may change without notice. A shorter overview:"
        " [Python](../python.md).",
        "## pliant",
        *(f"::: {home(name)}" for name in pliant.__all__),
    ]
    public = {home(name) for name in pliant.__all__}
    for module, names in imported().items():
        rest = [f"{module}.{name}" for name in names if f"{module}.{name}" not in public and name not in pliant.__all__]
        if rest:
            parts += [f"## {module}", *(f"::: {name}" for name in rest)]
    return "\n\n".join(parts) + "\n"


# ---- command line --------------------------------------------------------------------------------------------------


def usage(name: str, command: Any) -> str:
    """The usage line of a command."""
    words = [argument_word(each) for each in command.params if each.param_type_name == "argument"]
    return " ".join(["pliant", name, "[OPTIONS]", *words])


def cell(text: str) -> str:
    """Text for a cell of a table."""
    plain = re.sub(r"(?<!\\)\[/?[a-z ]+\]", "", text).replace("\\[", "[")  # \[s] is a unit, not a style
    return " ".join(plain.split()).replace("|", "\\|")


def row(parameter: Any) -> str:
    """A line of the table of options."""
    if parameter.param_type_name == "argument":
        name = argument_name(parameter)
    else:
        name = ", ".join(parameter.opts) + (f" {value_kind(parameter)}" if value_kind(parameter) else "")
    default = parameter.default
    shown = f"`{default}`" if default not in (None, False, ()) and not callable(default) else ""
    return f"| `{cell(name)}` | {shown} | {cell(parameter.help or '')} |"


def verb(name: str, command: Any) -> str:
    """The section of one command."""
    parts = [f"## {name}", f"```text\n{usage(name, command)}\n```", re.sub(r"\[/?bold\]", "`", command.help.strip())]
    rows = [row(parameter) for parameter in command.params if not parameter.hidden]
    if rows:
        parts.append("\n".join(["| Option | Default | Meaning |", "| --- | --- | --- |", *rows]))
    if command.epilog:
        parts.append(re.sub(r"\[/?bold\]", "`", command.epilog))
    return "\n\n".join(parts)


def named(known: Mapping[str, Experiment | Benchmark], head: str) -> str:
    """A table of names and summaries."""
    rows = [f"| `{name}` | {cell(item.summary)} |" for name, item in known.items()]
    return "\n".join([f"| Name | {head} |", "| --- | --- |", *rows])


def cli_page() -> str:
    """The page of all commands, with the experiments and benchmarks."""
    root = typer.main.get_command(app)
    commands: dict[str, Any] = getattr(root, "commands")  # noqa: B009
    parts = [
        NOTE,
        "# Command line",
        re.sub(r"\[/?bold\]", "`", (root.help or "").strip()),
        "Every command takes `--help`.",
        *(verb(name, command) for name, command in commands.items()),
        "## Experiments",
        "`pliant experiment NAME` runs one of these and prints its figures; `--json` prints them as one JSON object,"
        " `--plot FILE` draws them.",
        named(experiments(), "What it shows"),
        "## Benchmarks",
        "`pliant bench NAME` runs one of these and prints its figures.",
        named(benchmarks(), "What it measures"),
    ]
    return "\n\n".join(parts) + "\n"
