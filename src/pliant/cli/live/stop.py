"""`pliant stop`: stop the robot of a loop that runs in another terminal."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLE = "Example: [bold]pliant stop[/bold]"
# How long to wait until the loop confirms a stop [s]: one that ticks takes milliseconds.
_CONFIRMED_S = 5.0


def command(
    resume: Annotated[bool, typer.Option("--resume", help="Let the robot continue after a stop.")] = False,
    loop: Annotated[str | None, typer.Option(help="Name of the loop. Without it: the only running loop.")] = None,
) -> int:
    """Stop the robot of a running loop, or let it continue (--resume).

    The robot brakes within its limits and holds its position; in contact it holds its force. The loop keeps running:
    press Ctrl-C in its terminal to end it. Exit code 3 if the loop does not confirm the stop. This is no substitute for
    an emergency stop.
    """
    import time

    from pliant.cli.show import out
    from pliant.errors import LoopError
    from pliant.mobile.mission.mission_link import MissionLink, attach_any
    from pliant.session.board_link import SILENT
    from pliant.session.stop_request import Brake

    link = attach_any(loop, may_be_real=not resume)  # to stop the wrong robot is safe; to move one is not
    if resume:
        if isinstance(link, MissionLink):
            link.begin()
        elif not link.state.goal.stop:
            out.print(f"{link.title}: the robot was not stopped; nothing has changed.")
            return 0
        else:
            link.resume()
        out.print(f"{link.title}: the robot may move again.")
        return 0
    brake = Brake(link)
    out.print(f"{link.title}: stop sent.")
    if not brake.is_heard(time.monotonic() + _CONFIRMED_S):
        raise LoopError("it did not confirm the stop. Use the robot's own stop", headline=SILENT)
    out.print(f"{link.title}: stop confirmed. To continue: pliant stop --resume")
    return 0
