"""`pliant bench`: how fast Pliant runs on this machine, next to a baseline."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant bench tick --json[/bold]"


def command(
    benchmark: Annotated[str | None, typer.Argument(help="Name of the benchmark; without one, all are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    duration: Annotated[float, typer.Option(help="Length of each measurement \\[s], 0.5 to 600.")] = 5.0,
) -> int:
    """Measure how fast Pliant runs on this machine.

    Measures the control tick, the loop, the simulator, the start-up or the first compilation, each against
    a baseline measured in the same run.
    """
    from pliant.analysis.experiments import benchmarks, find_benchmark
    from pliant.cli.show import compile_first, list_named, progress, report

    if benchmark is None:
        list_named(benchmarks())
        return 0
    chosen = find_benchmark(benchmark)
    compile_first(*chosen.kernels)
    with progress(f"bench {benchmark}") as update:
        outcome = chosen.measure(duration, update)
    return report(outcome, as_json=as_json, picture=None)
