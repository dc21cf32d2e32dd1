"""A contact that is driven from the page, slow enough to be at work for as long as any test takes."""

from __future__ import annotations

from typing import Any

from running_studio import Running, part

from pliant.control.laws.contact.contact_states import DONE, READY, SEEK, SLIDE, is_at_work

_SLOW_M_S = 0.001
"""The path of the task `plane` then takes two minutes."""


class Visited:
    """The states that a contact goes through from now on, in their order, read from the records of its loop."""

    def __init__(self, loop: Any) -> None:
        self._board, self._at, self._states = loop.board, loop.board.head, list[int]()

    @property
    def states(self) -> list[int]:
        records, self._at, lost = self._board.read(self._at)
        assert lost == 0
        for state in records["contact"]["state"].tolist():
            if self._states[-1:] != [state]:
                self._states.append(state)
        return self._states


def lift_off(page: Any, studio: Running) -> None:
    """Let the contact that the task has begun end by Retract."""
    contact = lambda: studio.loop.state.contact  # noqa: E731
    studio.until(lambda: is_at_work(contact()) or contact().state == DONE)
    part(page, "retract").click()
    studio.until(lambda: contact().state == DONE)


def seek(page: Any, studio: Running) -> None:
    """Seek the surface by the button, and wait until the tool slides along it."""
    studio.loop.set({"contact.speed_m_s": _SLOW_M_S})
    visited = Visited(studio.loop)
    part(page, "seek").click()
    studio.until(lambda: visited.states[-1:] == [SLIDE])
    assert visited.states[1:3] == [READY, SEEK]
