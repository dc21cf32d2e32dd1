"""`pliant check`: what to expect of a contact before anything moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant check dome --plot check.png[/bold]"


def command(
    task: Annotated[str, typer.Argument(help="Task file, or the name of a task that comes with Pliant.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change a parameter: name=value. Repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a picture to this file. Missing folders are created.")
    ] = None,
) -> int:
    """Predict whether a contact will settle, before the robot moves.

    Prints margins, peak force and settling time for each declared surface. Exit code 1 if any value misses its target.
    """
    from pliant.analysis.checks.task_check import check
    from pliant.cli.loading import load_arm_task
    from pliant.cli.options import PICTURES, must_end
    from pliant.cli.show import claim, compile_first, out, report
    from pliant.compiling.entry_points import law_groups
    from pliant.params.declare import changed, parse_assignment
    from pliant.task.bundled_files import find_file
    from pliant.task.schema import arm_of, check_fits, laws_of

    chosen = load_arm_task(task, "check")
    values = dict(parse_assignment(text) for text in settings or ())
    chosen = chosen.model_copy(update={"params": changed(chosen.params, values)})
    arm = arm_of(chosen)
    check_fits(chosen, arm, where=find_file("task", task).name)
    if not as_json:
        for note in arm.notes:
            out.print(f"  {note}")
    must_end("--plot", plot, *PICTURES)
    claim(plot)
    compile_first("batch", *law_groups(laws_of(chosen)))
    return report(check(chosen), as_json=as_json, picture=plot)
