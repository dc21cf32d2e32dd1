"""What takes a core for long, beside the loop: one at a time, in a process of its own that yields and can be ended."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from pliant.errors import PliantError, RejectedError

# So long a process that is told to end may take [s].
_END_S = 5.0
# It yields to the loop, to the Studio and to whoever else works on this machine.
_NICE = ("nice", "-n", "10")
COMMAND_LINE = "pliant.cli.main"


class Work:
    """Verbs of the command line and modules of the Studio, run for the pages."""

    def __init__(self) -> None:
        self._busy, self._opens, self._lock = threading.Lock(), threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._begun = self._cancelled = self._closed = False

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Of what takes a core for long, one at a time."""
        if not self._busy.acquire(blocking=False):
            raise RejectedError("Another experiment, plan or what-if is running. Wait until it is done.")
        try:
            with self._lock:
                self._begun, self._cancelled = True, False
            yield
        finally:
            with self._lock:
                self._begun = False
            self._busy.release()

    @contextlib.contextmanager
    def opening(self) -> Iterator[None]:
        """Of recordings that are read into the Studio, one at a time."""
        if not self._opens.acquire(blocking=False):
            raise RejectedError("A recording is being opened already. Wait until it is there.")
        try:
            yield
        finally:
            self._opens.release()

    def told(self, *words: str) -> dict[str, Any]:
        """What a verb of the command line prints as JSON; its last sentence as an error when it prints none."""
        return self.ran(f"pliant {words[0]}", COMMAND_LINE, *words)

    def ran(self, name: str, module: str, *words: str, said: str = "") -> dict[str, Any]:
        """What a module prints as JSON that is told `said` at its input; errors call it `name`."""
        command = [*_NICE, sys.executable, "-m", module, *words]
        with self._lock:
            if self._closed:
                raise RejectedError("The Studio ends: nothing is begun any more.")
            if not self._cancelled:  # by someone who was quicker than the one who asked for it
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
            process = self._process
        told, wrong = ("", "") if process is None else process.communicate(said)
        with self._lock:
            cancelled, self._process, self._cancelled = self._cancelled, None, False
        if cancelled:
            raise RejectedError(f"{name} was cancelled.")
        try:
            return json.loads(told)
        except ValueError:
            last = wrong.strip().splitlines() or ["it said nothing."]
            raise PliantError(f"{name} did not end well: {last[-1].removeprefix('pliant: ')}") from None

    def cancel(self) -> bool:
        """End what is being worked out, or is about to be; returns whether there was something. Waits for its end."""
        with self._lock:
            process = self._process
            if process is None and not self._begun:
                return False
            self._cancelled = True
        if process is None:
            return True
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
        return True

    def close(self) -> None:
        """End what is being worked out, and begin nothing more."""
        with self._lock:
            self._closed = True
        self.cancel()
