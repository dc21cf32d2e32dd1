"""`pliant demo`: a complete demonstration in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant demo --folder out[/bold]"


def command(
    folder: Annotated[
        Path, typer.Option(help="Folder for the recording and the picture; it is created if it is missing.")
    ] = Path("out"),
    studio: Annotated[
        bool | None,
        typer.Option("--studio/--no-studio", help="Open the Studio afterwards (default: only in a terminal)."),
    ] = None,
) -> int:
    """Push a simulated UR5e and watch it respond.

    The arm deflects and returns, its spring is stiffened, and it is pushed again while its force sensor drops out.
    Writes a recording and a picture, prints a table, and replays the recording through the same control code.

    In an interactive terminal the Studio starts afterwards: a web page on which you push the arm yourself.
    """
    import sys

    code = _run(folder)
    if studio or (studio is None and sys.stdin.isatty() and sys.stdout.isatty() and _has_page()):
        from pliant.cli.running.studio import show

        show("hand_guiding")
    return code


def _has_page() -> bool:
    """Whether the Studio can be opened; if not, prints why. The demonstration itself has worked."""
    from pliant.cli.show import err
    from pliant.errors import RejectedError
    from pliant.studio.server import static_folder

    try:
        static_folder()
    except RejectedError as error:
        err.print(str(error))
        return False
    return True


def _run(folder: Path) -> int:
    from pliant.loop.processes import LOOP, start_ahead

    start_ahead(LOOP)  # it imports what it needs while this process does
    from pliant.cli.running.run_task import run_paced
    from pliant.cli.show import compile_first, out
    from pliant.compiling.entry_points import law_groups
    from pliant.loop.saving import claim_recording
    from pliant.record.reader import Recording
    from pliant.session.in_process.rerun import replay
    from pliant.task.schema import laws_of, load_task

    path = folder / "demo.mcap"
    claim_recording(path)
    task = load_task("demo")
    compile_first("loop", "replay", *law_groups(laws_of(task)))
    out.print(
        "A simulated UR5e is pushed, deflects and returns. Its spring is made twice as stiff. Then it is pushed again "
        "while its force sensor drops out for a moment."
    )
    run_paced(task, path, meanwhile=_prepare)
    from pliant.analysis.pictures.run_picture import plot_recording

    recording = Recording.load(path)
    plot_recording(recording, folder / "demo.png")
    again = replay(recording)
    out.print(f"Replayed through the same control code: largest difference {again.largest:g}.")
    out.print(f"Picture: {folder / 'demo.png'}\nFor a full report: pliant plot {path}")
    return 0 if again.largest == 0.0 else 1


def _prepare() -> None:
    """Load what is slow to load while the arm moves: Matplotlib and the kernel of the replay."""
    import pliant.analysis.pictures.run_picture  # noqa: F401 (its import is the work)
    from pliant.compiling.ahead import load_group

    load_group("replay")
