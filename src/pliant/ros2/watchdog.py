"""A watchdog for robots driven over ROS 2: it sends zero when the driving process dies or hangs.

A velocity controller continues with its last command when no other arrives. So a separate process waits at the end of a
pipe into which the driving process writes bytes. A driving process that ends properly writes a release first. If the
pipe breaks without a release, or no byte arrives within the timeout, the guard sends zero and exits; a process that
hung finds the pipe closed when it continues. A guard that `forgives` sends zero only until the next byte.

``python -m pliant.ros2.watchdog <settings as JSON>`` is that process.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import IO, Any, Literal

from pliant.errors import RobotError
from pliant.ros2.node import Node, Writer

Rest = tuple[str, str, bytes]
"""Topic, message type and the zero message."""

TIMES, PAUSE_S = 20, 0.02
"""How often zero is sent, and the pause in between [s]: a single message could be lost."""

_BEAT, _RELEASED = b".", b"R"
_READY, _HUNG = b"ready\n", b"hung\n"
# How often the guard checks [s], and the shortest timeout that a machine without real-time scheduling can keep [s].
_LOOK_S, LEAST_S = 0.005, 0.05
_END_S = 5.0
# How long a slow subscriber may take to receive the last zero [s].
_TAKEN_S = 2.0
_PIPE = 1 << 16


class Guard:
    """The driving process's end of the pipe. Only the start and the end wait."""

    def __init__(
        self,
        node: str,
        namespace: str,
        rests: list[Rest],
        hung_s: float,
        *,
        forgives: bool = False,
        meets_s: float = 0.0,
    ) -> None:
        """`meets_s`: how long the guard may take to find a subscriber; 0: it does not wait for one."""
        about = {
            "node": node, "namespace": namespace, "hung_s": max(hung_s, LEAST_S), "forgives": forgives,
            "meets_s": meets_s,
            "rests": [(topic, kind, data.hex()) for topic, kind, data in rests],
        }  # fmt: skip
        self._words = [sys.executable, "-m", "pliant.ros2.watchdog", json.dumps(about)]
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: IO[bytes] | None = None
        self._said: IO[bytes] | None = None

    def start(self) -> None:
        """Start the guard; returns when it is ready. The timeout starts with the first beat."""
        self._process = subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        self._pipe, self._said = self._process.stdin, self._process.stdout
        assert self._pipe is not None
        assert self._said is not None
        os.set_blocking(self._pipe.fileno(), False)
        if self._said.readline() != _READY:
            raise RobotError(
                "the watchdog process, which sends zero if this one dies or hangs, did not start or found no subscriber"
            )

    def beat(self) -> Literal["", "hung", "gone"]:
        """Send a heartbeat; returns why the process must not drive any more, or ""."""
        assert self._pipe is not None
        assert self._said is not None
        try:
            os.write(self._pipe.fileno(), _BEAT)
        except BlockingIOError:  # it has missed thousands of heartbeats, which are still in the pipe
            pass
        except (OSError, ValueError):
            return "hung" if self._said.read() == _HUNG else "gone"
        return ""

    def release(self) -> None:
        """Release the guard, after zero has arrived."""
        if self._pipe is not None and not self._pipe.closed:
            with contextlib.suppress(OSError):
                os.write(self._pipe.fileno(), _RELEASED)
        self.leave()

    def leave(self) -> None:
        """Close the pipe; without a release, the guard sends zero."""
        if self._pipe is not None:
            with contextlib.suppress(OSError):
                self._pipe.close()

    def wait(self) -> None:
        """Wait until the guard has finished."""
        self.leave()
        if self._process is None:
            return
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:  # it hangs and is no longer needed
            self._process.kill()
            self._process.wait()


def watch(pipe: int, hung_s: float) -> Literal["released", "gone", "hung"]:
    """Wait at the end of the pipe until the driving process releases the guard or fails."""
    last = float("inf")
    while True:
        if select.select([pipe], [], [], _LOOK_S)[0]:
            data = os.read(pipe, _PIPE)
            if not data:
                return "gone"
            if _RELEASED in data:
                return "released"
            last = time.monotonic()
            time.sleep(_LOOK_S)  # it need not wake up at every heartbeat
        elif time.monotonic() - last > hung_s:
            return "hung"


def main(about: dict[str, Any]) -> None:
    """Watch, and send zero if the driving process fails."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends with the other process, not with Ctrl-C or a shutdown
    with Node(about["node"], about["namespace"]) as node:
        rests = [(node.writer(topic, kind), bytes.fromhex(data)) for topic, kind, data in about["rests"]]
        node.announce()
        if not _met(rests, about["meets_s"]):
            return
        os.write(1, _READY)
        while (end := watch(0, about["hung_s"])) == "hung" and about["forgives"]:
            while not select.select([0], [], [], PAUSE_S)[0]:
                _say(rests)
        if end == "released":
            return
        if end == "hung":
            with contextlib.suppress(OSError):
                os.write(1, _HUNG)
            os.close(0)  # a process that continues finds the pipe closed before it sends anything
            os.close(1)
        with contextlib.suppress(OSError):
            what = "hangs" if end == "hung" else "has exited"
            print(f"The process that drives over ROS 2 {what}. Its watchdog sends zero.", file=sys.stderr, flush=True)
        for _ in range(TIMES):
            _say(rests)
            time.sleep(PAUSE_S)
        for writer, _ in rests:
            writer.flush(_TAKEN_S)


def _met(rests: list[tuple[Writer, bytes]], within_s: float) -> bool:
    """Whether every topic has a subscriber; messages sent before that are lost."""
    deadline = time.monotonic() + within_s
    while within_s > 0.0 and not all(writer.listeners for writer, _ in rests):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    return True


def _say(rests: list[tuple[Writer, bytes]]) -> None:
    for writer, data in rests:
        writer.send(data)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
