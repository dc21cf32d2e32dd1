"""`pliant replay`: recorded inputs through the same tick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant replay push.mcap[/bold]"


def command(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    partial: Annotated[bool, typer.Option("--partial", help="Accept a truncated recording.")] = False,
) -> int:
    """Run a recording through the tick again.

    Reports the largest difference: it must be exactly zero.
    """
    from pliant.cli.show import compile_first, out
    from pliant.record.reader import Recording
    from pliant.runtime.replay import replay

    loaded = Recording.load(recording, partial=partial)
    compile_first("replay")
    result = replay(loaded)
    out.print(f"{result.ticks} ticks replayed, {result.gaps} gaps, largest difference {result.largest:g}.")
    if result.largest != 0.0:
        out.print(f"It is in {result.where}. Was it recorded with other software? {loaded.meta.get('versions')}")
    return 0 if result.largest == 0.0 else 1
