"""`pliant goal`: move the goal of a loop that runs in another terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from pliant.cli.options import LOOP_HELP

EXAMPLE = "Example: [bold]pliant goal --by 0 0 0.05[/bold]"

# A smoothed goal faster than this still moves [m/s].
_MOVES = 1e-4


def command(
    position: Annotated[
        list[float] | None,
        typer.Argument(help="x y or x y z \\[m] in the base frame; without them, shows the goal."),
    ] = None,
    by: Annotated[bool, typer.Option("--by", help="Add the numbers to the current goal.")] = False,
    loop: Annotated[str | None, typer.Option(help=LOOP_HELP)] = None,
) -> int:
    """Move the goal of a running loop, or show it.

    The goal is the equilibrium of a compliant law. Only its position changes. A torque law moves a goal that is out of
    reach to the nearest reachable point.
    """
    import numpy as np

    from pliant.cli.show import out
    from pliant.control.laws.registry import law_of
    from pliant.errors import RejectedError
    from pliant.params.matrix import shown
    from pliant.records import LIMIT_REACH, LIMIT_WORKSPACE
    from pliant.session.link import attach

    if by and not position:
        raise RejectedError("--by needs the numbers to add, as in pliant goal --by 0 0 0.05.", field="--by")
    link = attach(loop)
    now = link.state
    if position:
        if len(position) not in (2, 3):
            said = f"The position is {shown(position)}, but it must be two or three numbers [m]: x y, or x y z."
            raise RejectedError(said, field="position", value=position)
        start = now.goal.pose if by else [0.0] * 3
        link.goal_position([float(a + b) for a, b in zip(start[:3], position, strict=False)])
        link.wait(3 * link.task.dt)
        now = link.state
        then = " The robot is stopped and moves there after pliant stop --resume." if now.goal.stop else ""
        out.print(f"{link.title}: the goal was moved.{then}")
    for name, place in (("goal", now.goal.pose), ("tool", now.observed.pose)):
        out.print(f"{name} at {place[0]:.4f} {place[1]:.4f} {place[2]:.4f} m")
    law = law_of(now.goal.law)
    if now.observed.limits & (LIMIT_REACH | LIMIT_WORKSPACE) and law.is_torque:
        led, moving = now[law.name].led, np.linalg.norm(now[law.name].led_twist[:3]) > _MOVES
        out.print(
            "The goal, or the path to it, is out of reach or outside the workspace. The law moves its goal to the "
            f"nearest position the arm can hold. It is now at {led[0]:.4f} {led[1]:.4f} {led[2]:.4f} m"
            f"{' and still moving' if moving else ''}."
        )
    return 0
