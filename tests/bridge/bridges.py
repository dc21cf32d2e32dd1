"""The bridge beside a loop, seen from outside: its process, and how much of the loop was heard without a gap."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from pliant.session.session import Session


def processes() -> dict[int, tuple[int, list[str]]]:
    """Parent and words of every process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            found[int(folder.name)] = parent, (folder / "cmdline").read_text().split("\0")
    return found


def bridge_of(session: Session) -> int:
    """The process of the bridge beside a loop."""
    wanted = {"pliant.bridge.bridge_process", str(session.board.path)}
    return next(pid for pid, (_, words) in processes().items() if wanted <= set(words))


def longest_run(heard: Iterable[set[int]]) -> int:
    """How many messages came in a row of which each is of the tick after the last; each may be of several ticks."""
    longest = length = 0
    last: set[int] = set()
    for ticks in heard:
        after = {tick for tick in ticks if tick - 1 in last}
        length = length + 1 if after else 1
        last, longest = after or ticks, max(longest, length)
    return longest
