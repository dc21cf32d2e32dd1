"""`pliant experiment`: named scenarios with figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant experiment compare --rival saturated --plot compare.png[/bold]"


def command(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Name of the experiment; without one, all are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a picture to this file. Missing folders are created.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers, 0 to 2147483647.")] = 0,
) -> int:
    """Run a named experiment, or list them.

    Prints every result with its target. Exit code 1 if a target is missed.
    Some experiments have further options; the list shows them.
    """
    from pliant.analysis.experiment_options import parse
    from pliant.analysis.experiments import experiments, find_experiment
    from pliant.cli.options import PICTURES, must_end
    from pliant.cli.show import claim, compile_first, list_named, progress, report
    from pliant.errors import RejectedError

    if name is not None and name.startswith("-"):
        raise RejectedError(f"Option {name} needs the name of an experiment before it.", field=name)
    if name is None:
        list_named(experiments())
        return 0
    chosen = find_experiment(name)
    more = parse(name, chosen.options, context.args)
    must_end("--plot", plot, *PICTURES)
    claim(plot)
    compile_first(*chosen.kernels)
    with progress(name) as update:
        outcome = chosen.run(seed, update, **more)
    return report(outcome, as_json=as_json, picture=plot)
