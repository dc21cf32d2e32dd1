"""A watchdog for what is driven over ROS 2: it says zero when the process that drives dies or hangs.

A controller that takes velocities goes on with the last one when no other comes. So a process of its own waits at the
end of a pipe, through which the driving process sends byte after byte. One that ends as it should says so before.
When the pipe breaks without that word, or no byte has come for a time, the guard says zero. Then it ends, and who hung
and comes back finds the pipe closed; a guard that `forgives` says zero only until the next byte.

``python -m pliant.ros2.guard <what it needs to know, as JSON>`` is that process.
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
"""Topic, message type and the message that says zero there."""

TIMES, PAUSE_S = 20, 0.02
"""So often, and with this pause [s], zero is said: a single message could be lost on its way."""

_BEAT, _RELEASED = b".", b"R"
_READY, _HUNG = b"ready\n", b"hung\n"
# The guard looks this often [s]; and no machine without real-time scheduling keeps a shorter limit than the other.
_LOOK_S, LEAST_S = 0.005, 0.05
_END_S = 5.0
# A listener that is slow has this long to take the last zero [s].
_TAKEN_S = 2.0
_PIPE = 1 << 16


class Guard:
    """The driving process's end of the pipe. Nothing here waits but the start and the end."""

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
        """`meets_s`: how long the guard may take to be known to whoever listens; 0: nobody has to be there yet."""
        about = {
            "node": node, "namespace": namespace, "hung_s": max(hung_s, LEAST_S), "forgives": forgives,
            "meets_s": meets_s,
            "rests": [(topic, kind, data.hex()) for topic, kind, data in rests],
        }  # fmt: skip
        self._words = [sys.executable, "-m", "pliant.ros2.guard", json.dumps(about)]
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: IO[bytes] | None = None
        self._said: IO[bytes] | None = None

    def start(self) -> None:
        """Start the guard; returns when it watches. It expects beats from the first one on."""
        self._process = subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        self._pipe, self._said = self._process.stdin, self._process.stdout
        assert self._pipe is not None
        assert self._said is not None
        os.set_blocking(self._pipe.fileno(), False)
        if self._said.readline() != _READY:
            raise RobotError("the process that says zero if this one dies or hangs could not start, or met no listener")

    def beat(self) -> Literal["", "hung", "gone"]:
        """Say that this process lives; returns why it must drive no more, "" if it may."""
        assert self._pipe is not None
        assert self._said is not None
        try:
            os.write(self._pipe.fileno(), _BEAT)
        except BlockingIOError:  # it has not looked for thousands of beats, and has as many to find
            pass
        except (OSError, ValueError):
            return "hung" if self._said.read() == _HUNG else "gone"
        return ""

    def release(self) -> None:
        """Zero has arrived: nothing is left to guard."""
        if self._pipe is not None and not self._pipe.closed:
            with contextlib.suppress(OSError):
                os.write(self._pipe.fileno(), _RELEASED)
        self.leave()

    def leave(self) -> None:
        """Close the pipe; without the word of release, the guard says zero."""
        if self._pipe is not None:
            with contextlib.suppress(OSError):
                self._pipe.close()

    def wait(self) -> None:
        """Wait until the guard has done what there was to do."""
        self.leave()
        if self._process is None:
            return
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:  # it hangs itself, and nobody needs it any more
            self._process.kill()
            self._process.wait()


def watch(pipe: int, hung_s: float) -> Literal["released", "gone", "hung"]:
    """Wait at the end of the pipe until the driving process has released the guard, or has failed."""
    last = float("inf")
    while True:
        if select.select([pipe], [], [], _LOOK_S)[0]:
            data = os.read(pipe, _PIPE)
            if not data:
                return "gone"
            if _RELEASED in data:
                return "released"
            last = time.monotonic()
            time.sleep(_LOOK_S)  # it need not be woken by every beat
        elif time.monotonic() - last > hung_s:
            return "hung"


def main(about: dict[str, Any]) -> None:
    """Watch, and say zero if the driving process fails."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends with the other process, not with a key or a shutdown
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
            os.close(0)  # who comes back finds that out before it sends anything
            os.close(1)
        with contextlib.suppress(OSError):
            print(f"What drives over ROS 2 is {end}: its guard says zero.", file=sys.stderr, flush=True)
        for _ in range(TIMES):
            _say(rests)
            time.sleep(PAUSE_S)
        for writer, _ in rests:
            writer.flush(_TAKEN_S)


def _met(rests: list[tuple[Writer, bytes]], within_s: float) -> bool:
    """Whether someone listens on every topic; what is said before that is lost."""
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
