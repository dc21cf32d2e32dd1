"""Checks the documentation: links and named files exist, code runs, commands exist, reference pages are up to date.

One line per problem; exit code 1 if there is any. Python blocks run one by one in an empty folder: they
must work from anywhere. Blocks of YAML that name a robot must be valid tasks, those of the kind mission valid
missions. A line ``<!-- not run -->`` before a block of Python keeps it from running; it must compile.
A block under ``<!-- The code of examples/NAME.py, written by make reference -->`` shows an example. It is not run here:
``make examples`` runs every example. Every example must be shown by a page.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import figures
import generate
import typer
from ruamel.yaml import YAML
from typer.exceptions import TyperException

from pliant.cli.main import app
from pliant.errors import PliantError
from pliant.mobile.mission.mission_task import MissionTask
from pliant.params.declare import validated
from pliant.task.schema import MISSION, Task

ROOT = Path(__file__).parent.parent
TIMEOUT_S = 120
NOT_RUN = "<!-- not run -->"

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([\w-]*)[^\n]*\n(.*?)^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^ *\[[^\]]+\]:\s*(\S+)|(?:src|href)=\"([^\"]+)\"", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)
_INCLUDED = re.compile(r"^<!-- The code of (\S+), written by make reference -->$", re.MULTILINE)
_FILE = re.compile(r"`((?:src|benchmarks|docs|tasks|tests|examples|studio|typings|\.ci)/[\w./-]+)`")
_ASSIGNMENT = re.compile(r"\w+=\S*")
_BETWEEN = {"&&", "||", "|", ";", "&"}
_PROGRAMS = {"pliant", "make", "pip", "python", "source", "bash", "ros2"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line on which its text begins, and whether it is to be run."""

    language: str
    text: str
    line: int
    run: bool


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for match in _FENCE.finditer(text):
        before = text[: match.start()].rstrip().rpartition("\n")[2].strip()
        run = before != NOT_RUN and not _INCLUDED.match(before)
        body = "\n".join(line.removeprefix(match[1]) for line in match[4].splitlines())
        yield Block(match[3], body, text.count("\n", 0, match.start(4)) + 1, run)


def prose(text: str) -> str:
    """The page without code, with its lines where they were."""
    text = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    return _CODE.sub("``", text)


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    titles = _HEADING.findall(_FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_links(page: Path, text: str) -> Iterator[str]:
    """Links and pictures that lead nowhere."""
    words = prose(text)
    for match in _LINK.finditer(words):
        target = next(group for group in match.groups() if group)
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        where = words.count("\n", 0, match.start()) + 1
        if not path.exists():
            yield f"{where}: the link {target} leads nowhere"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield f"{where}: {path.name} has no heading #{anchor}"


def check_files(text: str) -> Iterator[str]:
    """Files of the repository that are named or included, and do not exist."""
    shown = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for where, pattern in ((shown, _FILE), (text, _INCLUDED)):
        for match in pattern.finditer(where):
            if not (ROOT / match[1]).exists():
                yield f"{where.count(chr(10), 0, match.start()) + 1}: there is no file {match[1]}"


def check_examples(texts: list[str]) -> Iterator[str]:
    """Examples that no page includes."""
    included = {name for text in texts for name in _INCLUDED.findall(text)}
    for example in sorted((ROOT / "examples").glob("*.py")):
        name = f"examples/{example.name}"
        if name not in included:
            yield f"{name}:1: no page in docs/howto shows this example"


def check_python(page: Path, block: Block) -> Iterator[str]:
    """A block that does not compile, or does not run."""
    # empty lines in front, so that a traceback names the line of the page
    code = "\n" * (block.line - 1) + block.text
    try:
        compile(code, page.name, "exec")
    except SyntaxError as error:
        yield f"{error.lineno}: Python does not understand this: {error.msg}"
        return
    if not block.run:
        return
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, f"{page.stem}.py")
        script.write_text(code)
        env = {**os.environ, "MPLBACKEND": "agg", "MUJOCO_GL": "egl"}
        try:
            done = subprocess.run(
                [sys.executable, script.name], cwd=folder, env=env, capture_output=True, text=True, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            yield f"{block.line}: the code still ran after {TIMEOUT_S} s"
            return
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        lines = re.findall(rf'{re.escape(script.name)}", line (\d+)', done.stderr)
        yield f"{lines[-1] if lines else block.line}: the code ended with {done.returncode}: {last}"


def check_task(page: Path, block: Block) -> Iterator[str]:
    """A block of YAML that is a task, but not a valid one."""
    data = YAML(typ="safe").load(block.text)
    if isinstance(data, dict) and ("robot" in data or data.get("kind") == MISSION):
        try:
            validated(MissionTask if data.get("kind") == MISSION else Task, data, page.name)
        except PliantError as error:
            yield f"{block.line}: this is no valid task: {error}"


@cache
def verbs() -> dict[str, Any]:
    """The commands of `pliant`, by name."""
    return getattr(typer.main.get_command(app), "commands")  # noqa: B009


def wrong_call(words: list[str]) -> str:
    """What is wrong with the verb, the options or the arguments of a `pliant` command; empty if nothing is."""
    if not words or words[0].startswith("-") or "--help" in words:
        return ""
    if words[0] not in verbs():
        return f"there is no command 'pliant {words[0]}'"
    try:
        verbs()[words[0]].make_context(words[0], words[1:])
    except TyperException as error:
        return f"'pliant {' '.join(words)}' is wrong: {error}"
    return ""


def calls(line: str) -> Iterator[list[str]]:
    """The words of every command on a line of a shell, without assignments and redirections."""
    shell = shlex.shlex(line, posix=True, punctuation_chars=True)
    shell.whitespace_split = True
    words: list[str] = []
    for word in [*shell, ";"]:
        if word in _BETWEEN:
            yield words
            words = []
        elif words or not _ASSIGNMENT.fullmatch(word):
            words.append(word)


def check_commands(block: Block) -> Iterator[str]:
    """Lines that are no command, and commands of `pliant` that it would reject.

    Where some lines begin with a prompt, the others are output.
    """
    lines = [(block.line + i, line.strip()) for i, line in enumerate(block.text.splitlines())]
    if any(line.startswith("$ ") for _, line in lines):
        lines = [(number, line[2:]) for number, line in lines if line.startswith("$ ")]
    for number, line in lines:
        for words in filter(None, calls(line)):
            program = words[0].rpartition("/")[2]
            if program not in _PROGRAMS and not words[0].startswith(".ci/"):
                yield f"{number}: '{line}' does not begin with a known command"
                break
            elif program == "pliant" and (wrong := wrong_call(words[1:])):
                yield f"{number}: {wrong}"


def check_page(page: Path) -> Iterator[str]:
    """All problems of a page, each as ``line: problem``."""
    text = page.read_text()
    yield from check_links(page, text)
    yield from check_files(text)
    for block in blocks(text):
        if block.language in ("python", "py"):
            yield from check_python(page, block)
        elif block.language == "yaml":
            yield from check_task(page, block)
        elif block.language in ("console", "sh", "bash", "shell"):
            yield from check_commands(block)


def check_navigation(listed: str) -> Iterator[str]:
    """Pages that the menu of the site does not list."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if f'"{page.relative_to(ROOT / "docs")}"' not in listed:
            yield f"{page.relative_to(ROOT)}:1: this page is missing in nav in zensical.toml"


def pages() -> list[Path]:
    """Every page of the documentation."""
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md")]
    return [*(path for path in top if path.exists()), *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> int:
    problems = [f"{page.relative_to(ROOT)}:{problem}" for page in pages() for problem in check_page(page)]
    problems += check_examples([page.read_text() for page in pages()])
    problems += check_navigation((ROOT / "zensical.toml").read_text())
    for path, make in generate.PAGES.items():
        if not path.exists() or path.read_text() != make():
            problems.append(f"{path.relative_to(ROOT)}:1: out of date; run: make reference")
    if figures.PAGE.read_text() != figures.page():
        problems.append(f"{figures.PAGE.relative_to(ROOT)}:1: out of date; run: python docs/figures.py --page")
    print("\n".join(problems) if problems else f"{len(pages())} pages are in order.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
