"""`pliant experiment`: named scenarios with figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant experiment press --plot press.png[/bold]"


def command(
    name: Annotated[str | None, typer.Argument(help="Which one; without a name they are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Picture to make.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Everything random follows from it.")] = 0,
) -> int:
    """Run a named experiment, or list them.

    Each figure is shown beside the bar it must meet; exit code 1 if one does not.
    """
    from rich.text import Text

    from pliant.cli.show import claim, compile_first, out, progress, report
    from pliant.experiments import find, summaries

    if name is None:
        for key, summary in summaries().items():
            out.print(Text.assemble((f"{key:20}", "bold"), f" {summary}"))
        return 0
    chosen = find(name)
    claim(plot)
    compile_first()
    with progress(name) as update:
        outcome = chosen(seed, update)
    return report(outcome, as_json=as_json, picture=plot)
