"""`pliant cache`: the cache of compiled code."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

EXAMPLE = "Example: [bold]pliant cache prune[/bold]"


def command(
    action: Annotated[
        Literal["show", "warm", "prune", "clear"],
        typer.Argument(
            help="show, warm (compile everything now), prune (remove unused entries) or clear (remove all)."
        ),
    ] = "show",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> int:
    """Show, warm, prune or clear the cache of compiled code.

    The first start compiles the control code and caches it. Set PLIANT_CACHE to use another folder. Clearing is safe:
    the next start compiles again.
    """
    from pliant.cli.show import compile_first, err
    from pliant.compiling.entry_points import GROUPS
    from pliant.kernel.code_cache import open_cache

    cache = open_cache()
    if action == "warm":
        compile_first(*GROUPS)
    elif action in ("prune", "clear"):
        removed = cache.prune() if action == "prune" else cache.clear()
        count = "1 entry" if len(removed) == 1 else f"{len(removed)} entries"
        err.print(f"Removed {count}, {sum(entry.bytes for entry in removed) / 1e6:.1f} MB.")
    _show(as_json)
    return 0


def _show(as_json: bool) -> None:
    import json

    from pliant.cli.show import out
    from pliant.compiling.ahead import is_ready
    from pliant.compiling.entry_points import GROUPS
    from pliant.kernel.code_cache import MAX_AGE_S, MAX_BYTES, open_cache

    cache = open_cache()
    entries = cache.entries()
    ready = {group: is_ready(group) for group in GROUPS}
    size = sum(entry.bytes for entry in entries)
    if as_json:
        folder = None if cache.folder is None else str(cache.folder)
        print(json.dumps({"folder": folder, "entries": len(entries), "bytes": size, "ready": ready}, indent=1))
        return
    out.print(f"Folder: {cache.folder or 'none; compiled code is kept in memory'}")
    if cache.problem:
        out.print(f"It is temporary and removed when this command ends, because {cache.problem}.")
    out.print(f"{len(entries)} entries, {size / 1e6:.1f} MB")
    if entries:
        first, last = _ago(entries[0].used_s), _ago(entries[-1].used_s)
        out.print(f"Last used: {first}" if first == last else f"Last used: {first} to {last}")
    for group, is_there in ready.items():
        out.print(f"  {group:12} {'compiled' if is_there else 'not compiled yet; compiled on first use'}")
    out.print(
        f"Each compilation removes entries unused for {MAX_AGE_S / 86400:.0f} days. If the cache exceeds "
        f"{MAX_BYTES / 2**20:.0f} MB, it also removes the oldest ones."
    )


def _ago(when_s: float) -> str:
    days = int((time.time() - when_s) / 86400)
    return "today" if days <= 0 else "a day ago" if days == 1 else f"{days} days ago"
