"""``python -m pliant.bridge.bridge_process <board> [agreed]``: the bridge, as long as the loop runs.

It reads the ring of the board and never writes to it; its requests to the loop go through the queue, like all others.
A slow or killed bridge does not affect the loop. Commands that an arm or base may follow are sent only with `agreed`.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import Empty, Full, Queue
from typing import Any

from pliant.bridge.helper_process import AGREED, AnyLink, helper_main
from pliant.bridge.mission_requests import MissionRequests
from pliant.bridge.publisher import Publisher
from pliant.bridge.request_order import Turns, is_stop, word_of
from pliant.bridge.requests import Requests, answered
from pliant.loop.board_layout import RUNNING
from pliant.mobile.mission.mission_link import MissionLink, attach_any
from pliant.ros2.message_types import POINT_STAMPED, POSE_STAMPED, STRING, WRENCH_STAMPED, build
from pliant.ros2.node import Node, Reader
from pliant.session.link import Link

# How often to check for requests [s].
_LISTEN_S = 0.005
# How many requests may be pending.
_MOST_WAITING = 100
# How many records are published at once, at most: a bridge that fell behind skips to the newest ones.
_MOST = 100
# Subscribers are looked for once in this many rounds.
_LOOKS = 16
# How long the last messages may take to arrive [s].
_FAREWELL_S = 5.0


class RequestReceiver:
    """Receives requests while telemetry is published: stops are carried out at once, others in a separate thread."""

    def __init__(self, link: AnyLink, node: Node) -> None:
        is_mission = isinstance(link, MissionLink)
        streams = _mission_streams(link) if isinstance(link, MissionLink) else _streams(link)
        self._readers: list[tuple[str, Reader, Callable[[Any], str]]] = [
            (name[2:], node.reader(name, kind), action) for name, (kind, action) in streams.items()
        ]
        self._takes_a_while = () if is_mission else ("command", "set")
        self._turns, self._later = Turns(), Queue[tuple[str, Callable[[Any], str], Any, int]](_MOST_WAITING)
        self._answers, self._one = node.writer("~/answer", STRING, latched=True), threading.Lock()
        self._end = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._work)]

    def start(self) -> None:
        """Begin to receive."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop receiving, once the last answers have arrived."""
        self._end.set()
        for thread in self._threads:
            thread.join()
        self._answers.flush(_FAREWELL_S)

    def _listen(self) -> None:
        while not self._end.wait(_LISTEN_S):
            for name, reader, action in self._readers:
                for message in reader.messages():
                    self._receive(name, action, message)

    def _receive(self, name: str, action: Callable[[Any], str], message: Any) -> None:
        """Carry out a request at once, or queue it."""
        if name not in self._takes_a_while:
            self._answer(name, *answered(action, message))
        elif name == "command" and is_stop(word_of(str(message.data))):
            self._answer(name, *self._turns.at_once(action, message))
        else:
            try:
                self._later.put_nowait((name, action, message, self._turns.stops))
            except Full:
                self._answer(name, False, f"{_MOST_WAITING} requests are already waiting. Send them more slowly.")

    def _work(self) -> None:
        while not self._end.is_set():
            with contextlib.suppress(Empty):
                name, action, message, stops = self._later.get(timeout=_LISTEN_S)
                word = word_of(str(message.data)) if name == "command" else name
                self._answer(name, *self._turns.in_turn(word, action, message, stops))

    def _answer(self, name: str, done: bool, words: str) -> None:
        if not done or name in ("command", "set"):  # goals may arrive hundreds of times a second
            with self._one:
                self._answers.say(build(STRING, {"data": f"{'done' if done else 'rejected'}: {name}: {words}"}))


Streams = dict[str, tuple[str, Callable[[Any], str]]]


def _streams(link: Link) -> Streams:
    does = Requests(link)
    return {
        "~/goal_pose": (POSE_STAMPED, does.goal_pose),
        "~/goal_wrench": (WRENCH_STAMPED, does.goal_wrench),
        "~/equilibrium": (POINT_STAMPED, does.equilibrium),
        "~/command": (STRING, does.command),
        "~/set": (STRING, does.change),
    }


def _mission_streams(link: MissionLink) -> Streams:
    return {"~/command": (STRING, MissionRequests(link).command)}


def serve(link: AnyLink, ready: Callable[[], None], goes_on: Callable[[], bool], *, agreed: bool = False) -> None:
    """Publish and receive until the loop has ended, or this process receives a signal to stop."""
    config = link.task.ros2
    with Node(config.node, config.namespace) as node:
        publisher, ears = Publisher(link, node, agreed=agreed), RequestReceiver(link, node)
        node.announce()
        with publisher.drive:  # zero comes first: closing the requests may take a while
            ears.start()
            ready()
            _follow(link, publisher, goes_on)
        ears.stop()
        _publish_end(link, publisher)


def _follow(link: AnyLink, publisher: Publisher, goes_on: Callable[[], bool]) -> None:
    """Publish all records of a loop, including the last ones. While there are none, zero is sent on command topics."""
    board, drive = link.board, publisher.drive
    at, fresh_s = max(0, board.head - 1), time.monotonic()
    rounds = 0
    while goes_on():
        records, at, _ = board.read(max(at, board.head - _MOST))
        publisher.publish(records)
        drive.beat()
        now = time.monotonic()
        fresh_s = now if len(records) else fresh_s
        if now - fresh_s > link.task.ros2.stale_s:
            drive.send_zero()
        rounds += 1
        if rounds % _LOOKS == 0:
            drive.look()
        _print_notes(drive.news)
        time.sleep(link.task.dt)
    records, _, _ = board.read(max(at, board.head - _MOST))
    publisher.publish(records)


def _print_notes(news: list[str]) -> None:
    with contextlib.suppress(OSError):  # the reader may have exited
        while news:
            print(news.pop(0), flush=True)


def _publish_end(link: AnyLink, publisher: Publisher) -> None:
    """Report how the loop ended."""
    if link.board.status == RUNNING and not link.running:
        publisher.publish_crash()
    elif (latest := link.board.latest()) is not None:
        publisher.tell(latest)
    publisher.texts.flush(_FAREWELL_S)


if __name__ == "__main__":
    sys.exit(helper_main(sys.argv[1], partial(serve, agreed=sys.argv[2:] == [AGREED]), attach_any))
