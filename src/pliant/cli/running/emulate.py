"""`pliant emulate`: a UR controller without a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant emulate ur5e --task dome --fault 'protective stop @ 5'[/bold]"


def command(
    model: Annotated[str, typer.Argument(help="Arm model: ur3e, ur5e, ur10e or ur16e.")] = "ur5e",
    task: Annotated[str | None, typer.Option(help="Task that defines the tool, start, surfaces and pushes.")] = None,
    host: Annotated[str, typer.Option(help="Loopback address to listen on: 127.0.0.1, 127.0.0.2, …")] = "127.0.0.1",
    version: Annotated[str, typer.Option(help="Software version that the controller reports.")] = "5.26.0.0",
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Fault to inject, such as 'silence 0.5 @ 3': silent for 0.5 s after 3 s. Repeatable."),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="Write the true state in every period to this file (.npy). Missing folders are created."),
    ] = None,
    duration: Annotated[float | None, typer.Option(help="Stop after this time \\[s], 0.1 to 86400.")] = None,
) -> int:
    """Emulate a UR controller that drives a simulated arm.

    Serves the RTDE, dashboard and script ports. Use it to test the protocol and the error handling;
    the dynamics are not those of a real robot. Press Ctrl-C to stop it.
    """
    from pliant.cli.options import must_end
    from pliant.cli.running.emulating import arm_and_task, must_be_loopback, run, version_of
    from pliant.cli.show import claim, compile_first
    from pliant.robots.emulator.emulated_faults import FAULTS, Fault

    must_end("--trace", trace, ".npy")
    claim(trace)
    must_be_loopback(host)
    faults = tuple(Fault.parse(text) for text in fault or ())
    numbers = version_of(version)
    cell = arm_and_task(model, task)
    compile_first("loop")
    return run(cell, host, numbers, faults, trace, duration, tuple(FAULTS), task)
