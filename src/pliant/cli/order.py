"""`pliant order`: start, pause, stop or abort a contact in a loop that runs in another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pliant.runtime.link import Link

EXAMPLE = "Example: [bold]pliant order set_start && pliant order start[/bold]"


def command(
    orders: Annotated[
        list[str] | None,
        typer.Argument(help="set_start, start, pause, resume, stop or abort; several are given one after the other."),
    ] = None,
    loop: Annotated[str | None, typer.Option(help="Which loop, if several run.")] = None,
) -> int:
    """Give the contact of a running loop an order, or show its state.

    `set_start` means here and along the tool's axis. Exit code 1: an order was refused, which is said with its reason.
    """
    from pliant.cli.show import out
    from pliant.contact.states import EVENTS, ORDERS, STATES
    from pliant.errors import RefusedError, UnknownNameError
    from pliant.laws import LAWS
    from pliant.runtime.link import attach

    for name in orders or ():  # all of them before the first is given
        if name not in ORDERS:
            raise UnknownNameError("order", name, ORDERS)
    link = attach(loop)
    if link.state.goal.law != LAWS["hybrid"]:
        law = next(name for name, number in LAWS.items() if number == link.state.goal.law)
        raise RefusedError(f"Loop {link.name} runs the law {law}: only the law hybrid takes orders.", field="order")
    refused = False
    for name in orders or ():
        given, first = int(link.state.goal.orders), link.board.head
        link.order(name)
        while link.running and not given < int(link.state.goal.orders) == int(link.state.state.contact.orders):
            link.wait(link.task.dt)
        if why := _refusal(link, first, given):
            refused = True
            out.print(f"{name}: refused: {EVENTS[why]}.")
            break
        out.print(f"{name}: heard.")
    contact = link.state.state.contact
    out.print(
        f"Loop {link.name}: {STATES[int(contact.state)]}, because {EVENTS[int(contact.reason)]}; "
        f"{float(contact.force_n):.2f} N along the normal."
    )
    return int(refused)


def _refusal(link: Link, first: int, given: int) -> int:
    """Why the order after the `given` ones was refused, 0 if it was not: in the tick that heard it.

    A tick later the state may have changed, and the refusal with it.
    """
    contact = link.board.read(first)[0]["state"]["contact"]
    heard = contact[contact["orders"] > given]
    return int(heard["refused"][0]) if len(heard) else int(link.state.state.contact.refused)
