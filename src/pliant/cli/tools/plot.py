"""`pliant plot`: a recording as a picture and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant plot push.mcap --report push.html[/bold]"


def command(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Picture file (default: next to the recording). Missing folders are created."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="HTML report file (default: next to the recording). Missing folders are created."),
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Accept a truncated recording.")] = False,
) -> int:
    """Draw a recording as a picture and as an HTML page.

    Shows forces, motion, tracking, limits and timing. The page is self-contained.
    """
    from pliant.analysis.pictures.html_report import write_report
    from pliant.analysis.pictures.run_picture import plot_recording
    from pliant.cli.options import PICTURES, must_end
    from pliant.cli.show import claim, out
    from pliant.record.reader import Recording

    must_end("--output", output, *PICTURES)
    must_end("--report", report, ".html", ".htm")
    loaded = Recording.load(recording, partial=partial)
    picture, page = output or recording.with_suffix(".png"), report or recording.with_suffix(".html")
    claim(picture, page)
    plot_recording(loaded, picture)
    write_report(loaded, page)
    out.print(f"Picture: {picture}\nReport: {page}")
    return 0
