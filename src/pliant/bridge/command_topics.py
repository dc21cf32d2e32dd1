"""Command topics that an arm or base may follow: commands are sent only with consent, and end with zero.

A subscriber of such a topic moves. So nothing is sent before the user agrees, and subscribers are reported meanwhile.
A velocity controller continues with its last command when no other arrives. So zero is sent when the loop ends for any
reason, and while it hangs.
"""

from __future__ import annotations

import time

from pliant.control.telemetry import TELEMETRY
from pliant.ros2.message_types import JOINT_TRAJECTORY
from pliant.ros2.node import Node, Writer
from pliant.ros2.templates import Stencil
from pliant.ros2.watchdog import PAUSE_S, TIMES, Guard

# How long the last zero may take to arrive [s], and after how long without a heartbeat the bridge counts as hung.
_FLUSH_S, _HUNG_S = 0.5, 0.3


class Drive:
    """The command topics of a loop. Use it as a context manager: it sends zero on exit."""

    def __init__(self, node: Node, stencils: list[Stencil], *, agreed: bool) -> None:
        self._pairs = [(each, node.writer(each.topic.name, each.topic.message_type)) for each in stencils]
        self._names = [node.full_name(each.topic.name) for each in stencils]
        self._node = node
        self._guard: Guard | None = None
        self.agreed = agreed
        self.held: list[str] = []
        """Topics with a subscriber on which nothing is sent."""
        self.news: list[str] = []
        """Notes for the user."""
        nothing = TELEMETRY.new().tobytes()
        # a trajectory of one point ends at rest by itself
        self._rests = [
            (name, stencil.topic.message_type, bytes(stencil.fill(memoryview(nothing), 0)), writer)
            for name, (stencil, writer) in zip(self._names, self._pairs, strict=True)
            if stencil.topic.message_type != JOINT_TRAJECTORY
        ]
        self._known: set[str] = set()
        self._must_send_zero = False

    @property
    def pairs(self) -> list[tuple[Stencil, Writer]]:
        """The messages to send and their writers; empty without consent."""
        return self._pairs if self.agreed else []

    def look(self) -> None:
        """Find subscribers of topics on which nothing is sent, and report them once."""
        heard = [name for name, (_, writer) in zip(self._names, self._pairs, strict=True) if writer.listeners]
        self.held = [] if self.agreed else heard
        new = [name for name in self.held if name not in self._known]
        self._known.update(new)
        if new:
            self.news.append(
                f"Commands are withheld: a subscriber on {' and '.join(new)} would move. Use --yes to allow that."
            )

    def beat(self) -> None:
        """Send a heartbeat to the watchdog; without a watchdog no commands are sent."""
        if self._guard is not None and self._guard.beat():
            self.agreed, self._guard, self._must_send_zero = False, None, True
            self._must_send_zero = not self._send_zeros()
            said = "is sent until all subscribers have it" if self._must_send_zero else "was sent"
            self.news.append(
                f"The watchdog of the bridge has exited. Zero {said}, and commands are withheld from now on."
            )
        elif self._must_send_zero and not self.agreed:
            self.send_zero()
            self._must_send_zero = not self._is_taken(0.0)

    def send_zero(self) -> None:
        """Send zero once on velocity topics; nothing if no commands were sent."""
        if self.agreed or self._must_send_zero:
            for _, _, data, writer in self._rests:
                writer.send(data)

    def _send_zeros(self) -> bool:
        """Send zero several times; returns whether all reliable subscribers have received it."""
        for _ in range(TIMES):
            self.send_zero()
            if self._guard is not None:
                self._guard.beat()
            time.sleep(PAUSE_S)
        return self._is_taken(_FLUSH_S)

    def _is_taken(self, within_s: float) -> bool:
        """Whether all reliable subscribers have received the last message."""
        taken = [writer.flush(within_s) for _, _, _, writer in self._rests]
        return all(taken)

    def __enter__(self) -> Drive:
        if self.agreed and self._rests:
            rests = [(name, kind, data) for name, kind, data, _ in self._rests]
            name = f"{self._node.name}_bridge_guard"
            self._guard = Guard(name, self._node.namespace, rests, _HUNG_S, forgives=True)
            self._guard.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._rests and (self.agreed or self._must_send_zero):
            self._send_zeros()
        if self._guard is not None:
            self._guard.release()
            self._guard.wait()
