"""`pliant replay`: run recorded inputs through the same control code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant replay push.mcap[/bold]"


def command(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    partial: Annotated[bool, typer.Option("--partial", help="Accept a truncated recording.")] = False,
) -> int:
    """Run a recording through the control code again.

    Prints the largest difference between recorded and recomputed values, which must be exactly zero. Exit code 1 if it
    is not.
    """
    from pliant.cli.show import compile_first, out
    from pliant.record.reader import Recording
    from pliant.session.in_process.rerun import replay

    loaded = Recording.load(recording, partial=partial)
    compile_first("replay")
    result = replay(loaded)
    out.print(f"{result.ticks} ticks replayed, {result.gaps} gaps, largest difference {result.largest:g}.")
    if result.largest != 0.0:
        out.print(f"It is in {result.where}. Compare the versions; recorded with {loaded.meta.get('versions')}")
    return 0 if result.largest == 0.0 else 1
