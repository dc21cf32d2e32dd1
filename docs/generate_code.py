"""Writes the reference page of the command line from the code, and pastes the examples into their pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer

from pliant.analysis.experiments import Benchmark, Experiment, benchmarks, experiments
from pliant.cli.help_format import argument_name, argument_word, value_kind
from pliant.cli.main import app

ROOT = Path(__file__).parent.parent
NOTE = "<!-- Written by docs/generate.py (make reference). Do not edit. -->"

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
        opposite = "".join(f" / {option}" for option in parameter.secondary_opts)
        name = ", ".join(parameter.opts) + opposite + (f" {value_kind(parameter)}" if value_kind(parameter) else "")
    default = parameter.default
    if parameter.param_type_name == "option" and parameter.secondary_opts:
        default = None if default is None else (parameter.opts if default else parameter.secondary_opts)[0]
    shown = f"`{default}`" if default not in (None, False, (), "") and not callable(default) else ""
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


# ---- examples ------------------------------------------------------------------------------------------------------

EXAMPLE = re.compile(
    r"^(<!-- The code of (examples/[\w.]+), written by make reference -->\n```python\n)(.*?)^```$", re.M | re.S
)
"""A block that shows an example."""


def with_examples(page: Path) -> str:
    """A page in which every block that shows an example has its present code."""
    return EXAMPLE.sub(lambda found: f"{found[1]}{(ROOT / found[2]).read_text()}```", page.read_text())


def example_pages() -> dict[Path, Callable[[], str]]:
    """The pages that show examples, and how they are brought up to date."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return {page: partial(with_examples, page) for page in found if EXAMPLE.search(page.read_text())}
