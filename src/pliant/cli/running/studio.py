"""`pliant studio`: a loop on a web page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pliant.task.schema import Task

EXAMPLE = "Example: [bold]pliant studio hand_guiding[/bold]"


def command(
    task: Annotated[str, typer.Argument(help="Task file, or the name of a task that comes with Pliant.")] = (
        "hand_guiding"
    ),
    loop: Annotated[
        str | None, typer.Option(help="Show the running loop with this name instead of starting a task.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on, up to 65535; 0 takes any free port.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on (default: this machine only); any other address needs --expose.")
    ] = "",
    expose: Annotated[
        bool,
        typer.Option("--expose", help="Allow access from other machines. Anyone with the link can move the robot."),
    ] = False,
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder whose tasks and maps the page may use, besides the working folder and that of the task. "
            "Repeatable."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a real robot moves.")] = False,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Record the run from its start to a file.")
    ] = True,
) -> int:
    """Watch a loop in the browser, push its arm and tune it.

    Prints a link; a simulated task starts when you open it. Ctrl-C ends the Studio and the run it started.

    By default the page can be reached only from this machine. It always needs the token in the link.
    """
    show(task, loop, host, port, folders=folder or (), expose=expose, yes=yes, record=record)
    return 0


def _ask(task: Task, *, yes: bool) -> None:
    """Print what a real robot will do and how fast, and ask once."""
    from pliant.cli.running.run_task import say_start
    from pliant.cli.show import ask_once
    from pliant.robots import is_simulated
    from pliant.task.schema import arm_of

    if not is_simulated(task.robot):
        say_start(task, arm_of(task))
        ask_once(task, yes=yes)


def show(
    task: str,
    loop: str | None = None,
    host: str = "",
    port: int = 0,
    *,
    folders: Iterable[Path] = (),
    expose: bool = False,
    yes: bool = False,
    record: bool = True,
) -> None:
    """Serve the Studio until Ctrl-C, for a task that is started here or for a running loop."""
    from pliant.cli.show import compile_first, err, out
    from pliant.compiling.entry_points import law_groups
    from pliant.studio.listening import is_exposed, listen, serve
    from pliant.studio.server import static_folder
    from pliant.studio.stage.stage import Stage
    from pliant.task.schema import is_mission, laws_of, load_task

    mission = loop is None and is_mission(task)
    wanted = None if loop is not None or mission else load_task(task)
    static_folder()  # without a page nothing is started
    socket = listen(host, port, expose=expose)
    if is_exposed(socket):
        err.print("Other machines can reach the Studio, unencrypted. Anyone with the link can move the robot.")
    stage = Stage()
    for folder in folders:
        stage.folders.add(folder)
    if loop is not None:
        stage.attach(loop)
    err.print("Starting the Studio. The link appears in a few seconds.")
    if wanted is not None:
        compile_first("loop", "batch", *law_groups(laws_of(wanted)), task=wanted)
        _ask(wanted, yes=yes)
    elif mission:
        compile_first("loop", "batch", "body", "planner")
    if loop is None:
        stage.begin(task, record=record)
    shown = (
        "The task starts when you open the page"
        if stage.scene is None
        else f"The Studio shows loop {stage.shown().name}"
    )
    words = f"{shown}: {{link}}\nPress Ctrl-C to stop."
    with contextlib.suppress(KeyboardInterrupt):  # which is how it is ended
        serve(stage, socket, lambda link: out.print(words.format(link=link), soft_wrap=True, highlight=False))
    err.print("The Studio and everything that it started have stopped.")
