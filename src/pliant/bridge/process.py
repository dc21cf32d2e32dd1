"""``python -m pliant.bridge.process <board>``: the bridge, as long as the loop runs.

It reads the ring of the board and never writes there; what it asks of the loop goes through the queue, like everyone's.
A bridge that is slow, or killed, is nothing to the loop.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from pliant.bridge.beside import beside
from pliant.bridge.publisher import Publisher
from pliant.bridge.requests import Requests, answered
from pliant.ros2.messages import POINT_STAMPED, POSE_STAMPED, STRING, WRENCH_STAMPED, build
from pliant.ros2.node import Node, Reader
from pliant.runtime.board_layout import RUNNING
from pliant.runtime.link import Link

# How often requests are looked for [s].
_LISTEN_S = 0.005
# So many records at most are published at once: one that fell behind catches up, and the last ones count most.
_MOST = 100
# The process of the loop is looked after once in so many rounds.
_LOOKS = 16
# How long the last words may take to arrive [s].
_FAREWELL_S = 1.0


class Ears:
    """Listens for requests in a thread of its own: some take a while, and telemetry goes on meanwhile."""

    def __init__(self, link: Link, node: Node) -> None:
        does = Requests(link)
        streams: dict[str, tuple[str, Callable[[Any], str]]] = {
            "~/goal_pose": (POSE_STAMPED, does.goal_pose),
            "~/goal_wrench": (WRENCH_STAMPED, does.goal_wrench),
            "~/equilibrium": (POINT_STAMPED, does.equilibrium),
            "~/command": (STRING, does.command),
            "~/set": (STRING, does.change),
        }
        self._readers: list[tuple[str, Reader, Callable[[Any], str]]] = [
            (name[2:], node.reader(name, kind), action) for name, (kind, action) in streams.items()
        ]
        self._answers = node.writer("~/answer", STRING, latched=True)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()
        self._answers.flush(_FAREWELL_S)

    def _listen(self) -> None:
        while not self._end.wait(_LISTEN_S):
            for name, reader, action in self._readers:
                for message in reader.messages():
                    done, words = answered(action, message)
                    if not done or name in ("command", "set"):  # goals may come hundreds of times a second
                        text = f"{'done' if done else 'refused'}: {name}: {words}"
                        self._answers.say(build(STRING, {"data": text}))


def serve(link: Link, ready: Callable[[], None], goes_on: Callable[[], bool]) -> None:
    """Publish and listen until the loop has ended, or this process is asked to."""
    config, board = link.task.ros2, link.board
    with Node(config.node, config.namespace) as node:
        publisher, ears = Publisher(link, node), Ears(link, node)
        node.announce()
        ears.start()
        ready()
        at = max(0, board.head - 1)
        while goes_on():
            for _ in range(_LOOKS):
                records, at, _ = board.read(max(at, board.head - _MOST))
                publisher.publish(records)
                time.sleep(link.task.dt)
        ears.stop()
        _say_goodbye(link, publisher, at)


def _say_goodbye(link: Link, publisher: Publisher, at: int) -> None:
    """The last records, and how it ended."""
    records, _, _ = link.board.read(max(at, link.board.head - _MOST))
    publisher.publish(records)
    if link.board.status == RUNNING and not link.running:
        publisher.tell_death()
    elif (latest := link.board.latest()) is not None:
        publisher.tell(latest)
    publisher.texts.flush(_FAREWELL_S)


if __name__ == "__main__":
    sys.exit(beside(sys.argv[1], serve))
