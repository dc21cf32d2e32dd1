"""Task and map files by name or path: a file of yours, or one that comes with Pliant (`push`, `flat`).

An existing file always wins. Otherwise a name without a slash and without a suffix is looked up among the bundled
files, and so is their path in a clone (`tasks/push.yaml`), so that commands shown for a clone work everywhere. Any
other path is used as given: a misspelt path must never open a different file.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pliant.errors import InputError, RejectedError, UnknownNameError, shortened
from pliant.params.outside_files import is_there, read_outside
from pliant.params.outside_yaml import parse_yaml

_FOLDERS = {"task": "tasks", "map": "tasks/maps"}


def bundled_files(kind: str) -> dict[str, Path]:
    """The YAML files of a kind ("task" or "map") that come with Pliant, by name."""
    folder = resources.files("pliant").joinpath(_FOLDERS[kind])
    return {Path(e.name).stem: Path(str(e)) for e in sorted(folder.iterdir(), key=str) if e.name.endswith(".yaml")}


def find_bundled(kind: str, name: str | Path) -> Path | None:
    """The bundled file that `name` means, or None."""
    text, prefix = str(name), f"{_FOLDERS[kind]}/"
    return bundled_files(kind).get(text.removeprefix(prefix).removesuffix(".yaml") if text.startswith(prefix) else text)


def find_file(kind: str, name: str | Path) -> Path:
    """The existing task or map file that `name` means; otherwise an error that lists the bundled names."""
    if not isinstance(name, str | Path) or not str(name):
        raise InputError(f"the {kind}", name, f"the name of a {kind}, or the path of a {kind} file")
    path, known = Path(name), bundled_files(kind)
    is_folder = is_there(path) and path.is_dir()
    if is_there(path) and not is_folder:  # a pipe too: pliant check <(my-generator)
        return path
    if (found := find_bundled(kind, name)) is not None:
        return found
    if is_folder:
        raise RejectedError(f"{name} is a folder, not a {kind} file. {_listed(kind, known)}", field=f"the {kind}")
    if "/" not in str(name) and not path.suffix:
        beside = path.with_suffix(".yaml")
        hint = f"Did you mean the file {beside}?" if is_there(beside) else ""
        raise UnknownNameError(kind, str(name), known, hint=hint)
    wanted = "an existing YAML file" if kind == "task" else "an existing file"
    text = f"{kind.capitalize()} file {shortened(name)} does not exist. Give the path of {wanted} or the name of a "
    raise RejectedError(f"{text}bundled one. {_listed(kind, known)}", field=f"the {kind}", value=str(name))


def read_yaml(kind: str, path: Path) -> Any:
    """The content of a task or map file, of whatever type; otherwise an error with the line, not with its text."""
    if path.suffix == ".py":
        law = " To use it as a law: pliant run TASK --law FILE." if kind == "task" else ""
        raise RejectedError(f"{path} is a Python file, not a {kind} file.{law}", field=f"the {kind} file")
    try:
        return parse_yaml(read_outside(path), str(path))
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = (error.problem or "not YAML").splitlines()[0].replace("got '<stream end>'", "the file ended")
        if twice := re.match('found duplicate key "(.*?)" with', problem):
            sentence = f"{path.name}:{line}: {twice[1]} is given twice. Remove one."
            raise RejectedError(sentence, field=twice[1]) from None
        sentence = f"{path}:{line} is not valid YAML: {_unquoted(problem)}. Check indentation, brackets and quotes."
    except UnicodeDecodeError:
        sentence = f"{path} is not a text file. Give a {kind} file in YAML."
    except OSError as error:
        sentence = f"{path} cannot be read: {(error.strerror or str(error)).lower()}. Give a {kind} file in YAML."
    except (YAMLError, ValueError) as error:  # an invalid character or an invalid date
        sentence = f"{path} is not valid YAML: {_unquoted(str(error).splitlines()[0])}."
    raise RejectedError(sentence, field=f"the {kind} file", value=str(path))


def _unquoted(problem: str) -> str:
    """A complaint about YAML without the words of the file that it quotes: what is not a task may be private."""
    return re.sub(r" '!*\w[^ ]+'", "", problem)  # a bracket or a comma may stay


def _listed(kind: str, known: dict[str, Path]) -> str:
    return f"{kind.capitalize()}s that come with Pliant: {', '.join(known)}."
