"""`pliant command`: send commands, such as start, pause or stop, to the law of a loop that runs in another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.options import LOOP_HELP

if TYPE_CHECKING:
    from pliant.control.laws.law import Law
    from pliant.session.link import Link

EXAMPLE = "Example: [bold]pliant command set_start && pliant command start[/bold]"


def command(
    commands: Annotated[
        list[str] | None,
        typer.Argument(
            help="Commands that the law takes, to a contact: set_start, start, pause, resume, stop or abort; several "
            "are sent in sequence until one is rejected."
        ),
    ] = None,
    loop: Annotated[str | None, typer.Option(help=LOOP_HELP)] = None,
) -> int:
    """Send a command to the running law, or show its state.

    To a contact, `set_start` makes the current pose the start, with the approach along the tool axis. Exit code 2 if a
    command is rejected; the reason is printed.
    """
    from pliant.cli.show import out
    from pliant.control.laws.registry import law_of
    from pliant.session.link import attach
    from pliant.task.schema import check_takes_commands, must_take_commands

    link = attach(loop)
    law = law_of(link.state.goal.law)
    if not commands:
        must_take_commands(law.name)
    for name in commands or ():  # check all before the first is sent
        check_takes_commands(law.name, name)
    rejected = False
    for name in commands or ():
        if why := _send(link, law, name):
            rejected = True
            out.print(why)
            break
        out.print(f"`{name}` accepted.")
    out.print(_state_words(link, law))
    return 2 if rejected else 0


def _send(link: Link, law: Law, name: str) -> str:
    """Send a command and wait until the law has read it; returns why it was rejected, "" if it was not."""
    sent, first = int(link.state.goal.commands), link.board.head
    link.command(name)
    link.settle()
    while link.running and int(link.state.state.commands) < int(link.state.goal.commands):
        link.wait(link.task.dt)
    # from the tick that read it: a tick later the state may have changed, and the reason with it
    records = link.board.read(first)[0]
    heard = records[records["state"]["commands"] > sent]
    state, _, reason = (int(one) for one in law.state_numbers(heard[0] if len(heard) else link.state))
    return _sentence(law, name, reason, state, halted=bool(link.state.goal.stop)) if reason else ""


def _state_words(link: Link, law: Law) -> str:
    """The state of the law, why it is in it, and its most important figure."""
    record: Any = link.state
    status = law.status_of(record)
    if status is None or law.states is None:
        return f"{link.title}: {law.name} is running."
    because = f", because {status.reason}" if status.reason else ""
    if law.takes_commands and not int(record.state.commands):
        because = ", no command received yet"
    figure = f"; {law.states.figure(record)}" if law.states.figure else ""
    return f"{link.title}: {status.state}{because}{figure}."


def _sentence(law: Law, name: str, reason: int, state: int, *, halted: bool) -> str:
    """The sentence about a command that was rejected."""
    from pliant.analysis.transitions import rejection, valid_commands

    commands, states = law.commands, law.states
    assert commands is not None
    assert states is not None
    if reason == commands.halted:
        return f"`{name}` rejected: the robot was stopped. To let it continue: pliant stop --resume"
    if reason != commands.invalid:
        return f"`{name}` rejected: {rejection(law, reason, state, commands.numbers[name])}."
    valid = ", ".join(valid_commands(commands, states.names[state], halted=halted)) or "none"
    return f"`{name}` rejected: the {law.subject} is {states.names[state]}. Valid now: {valid}."
