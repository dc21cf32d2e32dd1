"""Generates the page's TypeScript types from the messages that are declared in src/pliant/studio/page_*.py.

    python -I -S studio/page_types.py src studio/out/messages.ts

The page is built before anything is installed, so this runs with the standard library alone.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import struct
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SCALARS = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
_READS = {"I": "getUint32", "d": "getFloat64"}


class Types:
    """The TypeScript text of declared types; those that are referred to are declared too, each once."""

    def __init__(self, plain: type) -> None:
        self._plain, self._found = plain, dict[str, Any]()

    def name(self, kind: Any) -> str:
        """How a type is written where it is used."""
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return "Value" if isinstance(parts[1], self._plain) else self.name(parts[0])
        if origin is typing.Literal:
            return " | ".join(json.dumps(choice) for choice in parts)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(self.name(part) for part in parts))
        if origin is list or (origin is tuple and parts[-1] is Ellipsis):
            item = self.name(parts[0])
            return f"({item})[]" if " | " in item else f"{item}[]"
        if origin is tuple:
            return f"[{', '.join(self.name(part) for part in parts)}]"
        if origin is dict:
            return f"Record<{', '.join(self.name(part) for part in parts)}>"
        if kind in _SCALARS:
            return _SCALARS[kind]
        if isinstance(kind, type) and (typing.is_typeddict(kind) or dataclasses.is_dataclass(kind)):
            self._found.setdefault(kind.__name__, kind)
            return kind.__name__
        raise TypeError(f"{kind} cannot be written in TypeScript: use texts, numbers, lists, dictionaries or messages.")

    def fields(self, kind: Any, optional: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Iterator[str]:
        """The fields of a message; `optional` ones may be left out."""
        for name, hint in typing.get_type_hints(kind, include_extras=True).items():
            if name in without or typing.get_origin(hint) is typing.ClassVar:
                continue
            absent = typing.get_origin(hint) is typing.NotRequired
            inner = typing.get_args(hint)[0] if absent else hint
            yield f"{name}{'?' if absent or name in optional else ''}: {self.name(inner)};"

    def declared(self) -> Iterator[str]:
        """Every type that was referred to, and those that they refer to."""
        done = set[str]()
        while missing := [name for name in self._found if name not in done]:
            for name in missing:
                done.add(name)
                yield _interface(name, self._found[name], list(self.fields(self._found[name])))


def _interface(name: str, kind: Any, fields: list[str]) -> str:
    return f"{_comment(kind)}export interface {name} {{\n" + "".join(f"  {field}\n" for field in fields) + "}\n"


def _comment(kind: Any, indent: str = "") -> str:
    text = " ".join((inspect.getdoc(kind) or "").split())
    return f"{indent}/** {text} */\n" if text and not text.startswith(f"{kind.__name__}(") else ""


def _header(kind: Any, types_: Types) -> Iterator[str]:
    """The header of a frame, and how it is read: its fields have the places that `struct` gives them."""
    yield _interface(kind.__name__, kind, list(types_.fields(kind)))
    formats = {name: hint.__metadata__[0] for name, hint in typing.get_type_hints(kind, include_extras=True).items()}
    order = list(formats)
    places = {name: struct.calcsize("<" + "".join(formats[n] for n in order[:i])) for i, name in enumerate(order)}
    yield f"export const HEADER_BYTES = {struct.calcsize('<' + ''.join(formats.values()))};\n"
    reads = "".join(f"    {name}: data.{_READS[formats[name]]}({places[name]}, true),\n" for name in order)
    yield f"export function readHeader(data: DataView): {kind.__name__} {{\n  return {{\n{reads}  }};\n}}\n"


def _requests(requests: dict[str, Any], types_: Types) -> str:
    """Every request by its name: its fields and its answer."""
    parts = []
    for name, kind in requests.items():
        optional = tuple(field.name for field in dataclasses.fields(kind) if field.default is not dataclasses.MISSING)
        fields = " ".join(types_.fields(kind, optional, without=("id", "run")))
        asks = f"{{ {fields} }}" if fields else "Record<string, never>"
        parts.append(f"{_comment(kind, '  ')}  {name}: {{ asks: {asks}; answers: {types_.name(kind.answer)} }};\n")
    return f"export interface Requests {{\n{''.join(parts)}}}\n"


def generated(messages: Any, requests: Any) -> str:
    """The TypeScript module."""
    types_ = Types(messages.Plain)
    parts = [
        "// Generated by studio/page_types.py from the messages that are declared in Python. Do not edit.\n",
        "export type Value = number | boolean | string | null | Value[];\n",
        f"export type Values = {types_.name(messages.Values)};\n",
        f"export type HeadField = {types_.name(messages.HeadField)};\n",
        f"export type Message = {' | '.join(types_.name(kind) for kind in messages.MESSAGES)};\n",
        f"export const FRAME = {messages.FRAME};\n",
        f"export const MOST_VALUES = {requests.MOST_VALUES};\n",
        *_header(messages.FrameHeader, types_),
        _requests(requests.REQUESTS, types_),
    ]
    types_.name(requests.Refusal)
    return "\n".join([*parts, *types_.declared()])


def main(source: str, to: str) -> None:
    sys.path.insert(0, source)
    from pliant.studio import page_messages, page_requests

    file = Path(to)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = generated(page_messages, page_requests)
    if not file.is_file() or file.read_text() != text:
        file.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
