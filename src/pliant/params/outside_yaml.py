"""YAML from outside: parsed only if it is of a size that a task or a map can have.

A short text can stand for a huge value, because an alias repeats a part, or for a very deep one. Both are rejected
before anything else looks at the value: a message that quotes it would be as large.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML

from pliant.errors import RejectedError

# The longest task has some hundred values in at most ten levels; a list of events may have thousands.
MOST_VALUES, MOST_LEVELS = 8_000, 40
# The longest text in it: as long as the longest path.
MOST_CHARACTERS = 4096


def parse_yaml(text: str, name: str) -> Any:
    """The value of a YAML text, of whatever type. `name` is its file, for messages.

    Raises `RejectedError` for one that is too large, and the errors of the parser for anything that is not YAML.
    """
    # every value but the first follows one of these: too many of them need not be parsed, which is slow
    if sum(map(text.count, (",", "\n", "- "))) > 2 * MOST_VALUES:
        raise _too_large(name, f"has more than {MOST_VALUES} values")
    if _levels(text) > MOST_LEVELS:
        raise _too_large(name, f"is nested more than {MOST_LEVELS} levels deep")
    try:
        value = YAML(typ="safe").load(text)
        count = _count(value, name, {}, 0)
    except RecursionError:
        raise _too_large(name, f"is nested more than {MOST_LEVELS} levels deep") from None
    if count > MOST_VALUES:
        raise _too_large(name, f"has more than {MOST_VALUES} values")
    return value


def _levels(text: str) -> int:
    """How many brackets are open at once at most; the parser takes long for many."""
    level = most = 0
    for character in text:
        if character in "[{":
            level += 1
            most = max(most, level)
        elif character in "]}":
            level -= 1
    return most


def _count(value: Any, name: str, known: dict[int, int], level: int) -> int:
    """How many values it holds, each as often as aliases repeat it; every part is looked at only once."""
    if level > MOST_LEVELS:
        raise _too_large(name, f"is nested more than {MOST_LEVELS} levels deep")
    if isinstance(value, str | bytes) and len(value) > MOST_CHARACTERS:
        raise _too_large(name, f"contains a text of {len(value)} characters; at most {MOST_CHARACTERS} are allowed")
    if not isinstance(value, dict | list | tuple | set):
        return 1
    if id(value) not in known:
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)
        known[id(value)] = 1 + sum(_count(part, name, known, level + 1) for part in parts)
    return known[id(value)]


def _too_large(name: str, why: str) -> RejectedError:
    return RejectedError(f"{name} {why}. No task or map is that large.", field="the file", value=name)
