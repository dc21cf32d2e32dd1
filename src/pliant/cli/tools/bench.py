"""`pliant bench`: how fast Pliant runs on this machine, next to a baseline."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

EXAMPLE = "Example: [bold]pliant bench tick --json[/bold]"


def command(
    what: Annotated[Literal["tick", "loop", "sim", "start", "compile"], typer.Argument(help="What to measure.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    duration: Annotated[float, typer.Option(help="Length of each measurement \\[s], 0.5 to 600.")] = 5.0,
) -> int:
    """Measure how fast Pliant runs on this machine.

    Measures the control tick, the loop, the simulator, the start-up or the first compilation, each against
    a baseline measured in the same run.
    """
    from pliant.cli.show import compile_first, progress, report
    from pliant.compiling.entry_points import ALL_LAWS
    from pliant.experiments import bench
    from pliant.experiments.bench_compile import compile_kernels

    compile_first("loop", "batch", "replay", *ALL_LAWS)
    with progress(f"bench {what}") as update:
        measure = compile_kernels if what == "compile" else getattr(bench, what)
        outcome = measure(duration, update)
    return report(outcome, as_json=as_json, picture=None)
