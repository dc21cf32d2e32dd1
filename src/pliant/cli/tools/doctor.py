"""`pliant doctor`: what went wrong in a run, from its recording alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.analysis.doctor import Diagnosis, Finding

EXAMPLE = "Example: [bold]pliant doctor push.mcap --plot push-doctor.png[/bold]"

# Of more time spans than this, only the first ones and the number of the others are printed.
_SPANS = 3


def command(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a picture with the findings to this file. Missing folders are created.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Accept a truncated recording.")] = False,
) -> int:
    """Diagnose a recorded run: what went wrong, why, and what to do.

    Checks for commands at a limit, limit cycles, negative damping, lost contacts, a force before the start, a frozen or
    late sensor, commands that the robot did not follow, and delay. Exit code 0 if nothing is wrong, 1 if something is,
    2 if the file is not a recording.
    """
    from pliant.analysis.doctor import Case, examine
    from pliant.analysis.pictures.run_picture import extent, title
    from pliant.cli.options import PICTURES, must_end
    from pliant.cli.show import claim, out, progress
    from pliant.params.outside_files import is_there
    from pliant.record.reader import Recording

    must_end("--plot", plot, *PICTURES)
    if not is_there(recording):
        Recording.load(recording)  # raises, before a progress bar is shown
    with progress("reading") as update:
        loaded = Recording.load(recording, partial=partial, progress=update)
    case = Case.of(loaded)
    claim(plot)
    with progress("examining") as update:
        diagnosis = examine(case, update)
    if plot is not None:
        from pliant.analysis.doctor.diagnosis_picture import save_diagnosis

        save_diagnosis(case, diagnosis, title(loaded), plot)
    if as_json:
        json.dump({"recording": str(recording), **diagnosis.as_dict()}, sys.stdout, indent=1, ensure_ascii=False)
        print()
    else:
        out.print(f"{title(loaded)} · {extent(loaded)}")
        _report(diagnosis)
        if plot is not None:
            out.print(f"Picture: {plot}")
    return 1 if diagnosis.wrong else 0


def _report(diagnosis: Diagnosis) -> None:
    """Print the problems, the most severe first, and then the other checks."""
    from rich.padding import Padding
    from rich.text import Text

    from pliant.cli.show import out

    wrong = diagnosis.wrong
    for finding in wrong:
        style = "bold red" if finding.severity == "alarm" else "bold yellow"
        out.print()
        out.print(Text.assemble((f"{finding.severity.capitalize()}: {finding.name}", style), _when(finding)))
        out.print(Padding(finding.cause, (0, 0, 0, 2)))
        out.print(Padding(f"Remedy: {finding.remedy}", (0, 0, 0, 2)))
    out.print()
    rest = [finding for finding in diagnosis.findings if not finding.wrong]
    said = f"{len(wrong)} problem{'s' * (len(wrong) != 1)} found." if wrong else "No problems found."
    out.print(Text(said, "bold"))
    if rest:
        out.print(_table(rest, "other checks" if wrong else "checks"))


def _when(finding: Finding) -> str:
    if not finding.spans:
        return ""
    shown = ", ".join(f"{span.start_s:.2f}–{span.end_s:.2f} s" for span in finding.spans[:_SPANS])
    more = len(finding.spans) - _SPANS
    return f"  ({shown}{f' and {more} more' if more > 0 else ''})"


def _table(findings: list[Finding], title: str) -> Table:
    from rich.table import Table

    from pliant.cli.show import number

    table = Table(title=title, title_justify="left", title_style="bold")
    for column in ("check", "result", "figures"):
        table.add_column(column)
    for finding in findings:
        figures = [f"{f.name} {number(f.value)} {f.unit}".rstrip() for f in finding.figures]
        text = "; ".join(figures) + (". " if figures and finding.cause else "") + finding.cause
        table.add_row(finding.name, "ok" if finding.severity == "fine" else finding.severity, text)
    return table
