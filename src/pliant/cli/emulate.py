"""`pliant emulate`: a UR controller without a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant emulate ur5e --task dome --fault 'protective stop @ 5'[/bold]"


def command(
    model: Annotated[str, typer.Argument(help="Which arm: ur3e, ur5e, ur10e or ur16e.")] = "ur5e",
    task: Annotated[str | None, typer.Option(help="Task whose tool, start, surfaces and pushes are there.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on, of this machine: 127.0.0.1, 127.0.0.2, …")
    ] = "127.0.0.1",
    version: Annotated[str, typer.Option(help="Version of the software that it says it runs.")] = "5.26.0.0",
    fault: Annotated[
        list[str] | None, typer.Option(help="What goes wrong, as in 'silence 0.5 @ 3'; may be repeated.")
    ] = None,
    trace: Annotated[Path | None, typer.Option(help="File for what really happened in each period (.npy).")] = None,
    duration: Annotated[float | None, typer.Option(min=0.1, help="Seconds until it ends by itself.")] = None,
) -> int:
    """Emulate a UR controller in front of a simulated arm.

    RTDE, dashboard and script ports: it proves protocol and error paths, not the dynamics of a real robot.
    It ends with Ctrl-C.
    """
    from pliant.cli.emulating import cell_of, must_be_here, run, version_of
    from pliant.cli.show import claim, compile_first
    from pliant.robots.emulator.faults import FAULTS, Fault

    claim(trace)
    must_be_here(host)
    faults = tuple(Fault.parse(text) for text in fault or ())
    numbers = version_of(version)
    cell = cell_of(model, task)
    compile_first("loop")
    return run(cell, host, numbers, faults, trace, duration, tuple(FAULTS), task)
