"""`pliant command`: start, pause, stop or abort the contact of a loop that runs in another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pliant.session.link import Link

EXAMPLE = "Example: [bold]pliant command set_start && pliant command start[/bold]"


def command(
    commands: Annotated[
        list[str] | None,
        typer.Argument(
            help="set_start, start, pause, resume, stop or abort; several are sent in sequence until one is rejected."
        ),
    ] = None,
    loop: Annotated[str | None, typer.Option(help="Name of the loop, if several are running.")] = None,
) -> int:
    """Send a command to a running contact law, or show its state.

    `set_start` makes the current pose the start, with the approach along the tool axis. Exit code 2 if a command is
    rejected; the reason is printed.
    """
    from pliant.cli.show import out
    from pliant.control.laws.contact.contact_states import COMMANDS, EVENTS, STATES
    from pliant.control.laws.registry import LAWS, law_of
    from pliant.errors import RejectedError, UnknownNameError
    from pliant.session.link import attach

    for name in commands or ():  # check all before the first is sent
        if name not in COMMANDS:
            raise UnknownNameError("command", name, COMMANDS)
    link = attach(loop)
    law = law_of(link.state.goal.law).name
    if not commands and not LAWS[law].takes_commands:
        raise RejectedError(
            f"Loop {link.name} runs the law {law}; only contact takes commands. Start a loop with law: contact, such "
            "as pliant run dome.",
            field="command",
        )
    rejected = False
    for name in commands or ():
        given, first = int(link.state.goal.commands), link.board.head
        link.command(name)
        while link.running and not given < int(link.state.goal.commands) == int(link.state.state.commands):
            link.wait(link.task.dt)
        if why := _rejection(link, first, given):
            rejected = True
            out.print(_sentence(name, *why, halted=bool(link.state.goal.stop)))
            break
        out.print(f"`{name}` accepted.")
    contact = link.state.contact
    out.print(
        f"{link.title}: {STATES[int(contact.state)]}, because {EVENTS[int(contact.reason)]}; "
        f"{float(contact.force_n):.2f} N along the normal."
    )
    return 2 if rejected else 0


def _sentence(name: str, event: int, state: int, *, halted: bool) -> str:
    """The sentence about a command that was rejected."""
    from pliant.analysis.transitions import rejection, valid_commands
    from pliant.control.laws.contact.contact_states import COMMANDS, HALTED, SENSELESS, STATES

    if event == HALTED:
        return f"`{name}` rejected: the robot was stopped. To let it continue: pliant stop --resume"
    if event != SENSELESS:
        return f"`{name}` rejected: {rejection(event, state, COMMANDS[name])}."
    valid = ", ".join(each for each in valid_commands(state) if not (halted and each in ("start", "resume")))
    return f"`{name}` rejected: the contact is in the state {STATES[state]}. Valid now: {valid}."


def _rejection(link: Link, first: int, given: int) -> tuple[int, int] | None:
    """Why the command after the `given` ones was rejected, and in which state; None if it was accepted.

    Both are from the tick that read it: a tick later the state may have changed, and the reason with it.
    """
    records = link.board.read(first)[0]
    heard = records[records["state"]["commands"] > given]
    at = (heard[0] if len(heard) else link.state)["contact"]
    return (int(at["rejected"]), int(at["state"])) if int(at["rejected"]) else None
