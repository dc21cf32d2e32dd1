"""Change values in a YAML file and nothing else: comments, order, spaces and line ends stay as they are.

The parser reports where in the text each value is, and only that part is replaced. A missing value is added at the end
of its mapping. Before the file is replaced, in one step, the new text is parsed again: it must hold the requested
values and otherwise be unchanged.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from pliant.errors import InputError
from pliant.params.outside_files import read_outside
from pliant.params.outside_yaml import parse_yaml


def update_file(
    path: Path | str, values: Mapping[str, Any], *, check: Callable[[dict[str, Any]], object] = lambda data: None
) -> None:
    """Set dotted names to numbers, words, flags or lists of them: ``update_file("a.yaml", {"tool.mass_kg": 1.2})``.

    `check` is called with the new content before the file is replaced, and rejects it by raising.
    """
    path = Path(path).resolve()
    text = _read(path)
    wanted = _load(path, text)
    for dotted, value in values.items():
        text = _with_value(path, text, dotted.split("."), value)
        _put(path, wanted, dotted, value)
    if _load(path, text) != wanted:
        raise InputError("the file", str(path), "YAML without anchors and merge keys, to be changed by a program")
    check(_copy(wanted))
    _replace(path, text)


def _read(path: Path) -> str:
    try:
        return read_outside(path)
    except FileNotFoundError:
        raise InputError("the file", str(path), "an existing YAML file") from None
    except (OSError, UnicodeDecodeError):
        raise InputError("the file", str(path), "a readable text file in YAML") from None


def _load(path: Path, text: str) -> dict[str, Any]:
    try:
        data = parse_yaml(text, str(path))
    except (YAMLError, ValueError) as error:
        raise InputError("the file", str(path), f"valid YAML ({str(error).splitlines()[0]})") from None
    if data is not None and not isinstance(data, dict):
        raise InputError("the file", str(path), "a YAML mapping")
    return _copy(data or {})


def _copy(data: Any) -> Any:
    """The same values without shared parts: an alias is one object, but must not change in two places."""
    if isinstance(data, dict):
        return {key: _copy(value) for key, value in data.items()}
    return [_copy(value) for value in data] if isinstance(data, list | tuple) else data


def _put(path: Path, data: dict[str, Any], dotted: str, value: Any) -> None:
    """The same change on plain data."""
    *parents, last = dotted.split(".")
    for name in parents:
        data[name] = data.get(name) or {}
        data = data[name]
        if not isinstance(data, dict):
            raise InputError(dotted, value, f"left out: {name} in {path.name} is not a mapping")
    data[last] = _copy(value)


def _replace(path: Path, text: str) -> None:
    """Write beside the file, then take its place: even if the power fails, the file is the old or the new one.

    The new text is on the disk before it takes the place of the old one, and then the name is.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(path.stat().st_mode & 0o7777)
            Path(name).replace(path)
            _sync_folder(path.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError("the file", str(path), f"a file in a writable folder ({error.strerror})") from None


def _sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, if its file system can do that."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


# ---- where the text changes ----------------------------------------------------------------------------------------


def _with_value(path: Path, text: str, names: list[str], value: Any) -> str:
    """The text with one value set."""
    node: Any = YAML().compose(text)
    if node is None:
        return text + ("" if not text or text.endswith("\n") else "\n") + _block(names, value, 0, "\n")
    for depth, name in enumerate(names):
        if not isinstance(node, MappingNode):
            raise InputError(".".join(names), value, f"left out: {names[depth - 1]} in {path.name} is not a mapping")
        found = next((pair for pair in node.value if pair[0].value == name), None)
        if found is None:
            return _inserted(text, node, names[depth:], value)
        key: Node = found[0]
        node = found[1]
        if _is_empty(node):  # a key without a value
            return _filled(text, key, names[depth + 1 :], value)
    for start, end, new in reversed(list(_replacements(node, value))):
        text = text[:start] + new + text[end:]
    return text


def _replacements(node: Node, value: Any) -> Iterator[tuple[int, int, str]]:
    """What of the text becomes what: of a list as long as before, each item by itself, so that its comments stay."""
    if isinstance(node, SequenceNode) and isinstance(value, list | tuple) and len(node.value) == len(value) > 0:
        for item, new in zip(node.value, value, strict=True):
            yield from _replacements(item, new)
    else:
        yield node.start_mark.index, _end(node), _flow(value)


def _is_empty(node: Node) -> bool:
    return node.tag.endswith(":null") and node.start_mark.index == node.end_mark.index


def _filled(text: str, key: Node, rest: list[str], value: Any) -> str:
    """Give a key that has no value one, on its own line."""
    at = text.index(":", key.end_mark.index) + 1
    return f"{text[:at]} {_nested(rest, value)}{text[at:]}"


def _inserted(text: str, node: MappingNode, names: list[str], value: Any) -> str:
    """A new entry at the end of a mapping, in the mapping's own style."""
    if node.flow_style:
        entry = f"{names[0]}: {_nested(names[1:], value)}"
        if not node.value:
            at = _end(node) - 1
            return f"{text[:at]}{entry}{text[at:]}"
        last = _end(node.value[-1][1])
        return f"{text[:last]}, {entry}{text[last:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    end = text.find("\n", _end(node.value[-1][1]))
    head, tail = (text, "") if end < 0 else (text[: end + 1], text[end + 1 :])
    if not head.endswith("\n"):
        head += newline
    return head + _block(names, value, node.value[0][0].start_mark.column, newline) + tail


def _end(node: Node) -> int:
    """Where a node's own text ends; that of a block ends with its last entry, not with the comments behind it."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return node.end_mark.index


def _block(names: list[str], value: Any, indent: int, newline: str) -> str:
    """Nested entries, two spaces deeper each."""
    lines = [f"{' ' * (indent + 2 * i)}{name}:" for i, name in enumerate(names)]
    lines[-1] += f" {_flow(value)}"
    return "".join(line + newline for line in lines)


def _nested(names: list[str], value: Any) -> str:
    """Nested entries in braces."""
    text = _flow(value)
    for name in reversed(names):
        text = f"{{{name}: {text}}}"
    return text


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_][\w./-]*", value) and YAML(typ="safe").load(value) == value
        return value if plain else json.dumps(value, ensure_ascii=False)
    text = repr(float(value)) if isinstance(value, float) else repr(int(value))
    # older readers of YAML take 1e-05 for a word
    return re.sub(r"^(-?\d+)e", r"\1.0e", text)
