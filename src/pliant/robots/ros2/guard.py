"""A watchdog for an arm that is told velocities: it stops the arm when the loop is killed.

A controller that takes velocities goes on with the last one when no other comes. So a process of its own waits at the
end of a pipe from the loop. A loop that ends as it should says so; when the pipe breaks without a word, the guard
sends velocity zero.

``python -m pliant.robots.ros2.guard <config as JSON> <number of joints>`` is that process.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np

from pliant.errors import RobotError
from pliant.robots.ros2.config import Ros2Config
from pliant.ros2.messages import FLOAT_ARRAY, build
from pliant.ros2.node import Node

_RELEASED = b"released\n"
_READY = b"ready\n"
# So often, and with this pause [s], zero is said: a single message could be lost on its way.
_TIMES, _PAUSE_S = 20, 0.02


class Guard:
    """The loop's end of the pipe."""

    def __init__(self, config: Ros2Config, n: int) -> None:
        self._words = [sys.executable, "-m", "pliant.robots.ros2.guard", config.model_dump_json(), str(n)]

    def start(self) -> None:
        """Start the guard; returns when it watches."""
        self._process = subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != _READY:
            raise RobotError("the process that stops the arm if the loop is killed could not start")

    def release(self) -> None:
        """The arm has been stopped: nothing is left to guard."""
        if self._process.stdin is not None and self._process.poll() is None:
            self._process.stdin.write(_RELEASED)
            self._process.stdin.close()
        self._process.wait(5.0)


def main(config: Ros2Config, n: int) -> None:
    """Wait at the end of the pipe, and stop the arm if it breaks."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends with the loop, not with a key or a shutdown
    with Node(f"{config.node}_guard", config.namespace) as node:
        writer = node.writer(config.velocity, FLOAT_ARRAY)
        node.announce()
        sys.stdout.buffer.write(_READY)
        sys.stdout.flush()
        if sys.stdin.buffer.readline() != _RELEASED:
            for _ in range(_TIMES):
                writer.say(build(FLOAT_ARRAY, runs=[np.zeros(n)]))
                time.sleep(_PAUSE_S)


if __name__ == "__main__":
    main(Ros2Config.model_validate_json(sys.argv[1]), int(sys.argv[2]))
