"""What takes a core for long, beside the loop: one at a time, in a process of its own that can be ended."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from pliant.errors import PliantError, RefusedError

# So long a process that is told to end may take [s].
_END_S = 5.0


class Work:
    """Verbs of the command line, run for the pages."""

    def __init__(self) -> None:
        self._busy, self._lock = threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Of what takes a core for long, one at a time."""
        if not self._busy.acquire(blocking=False):
            raise RefusedError("An experiment, a plan or a what-if is being worked out already. Wait until it is done.")
        try:
            yield
        finally:
            self._busy.release()

    def told(self, *words: str) -> dict[str, Any]:
        """What a verb of the command line prints as JSON; its last sentence as an error when it prints none."""
        command = [sys.executable, "-m", "pliant.cli.main", *words]
        with self._lock:
            if self._closed:
                raise RefusedError("The Studio ends: nothing is begun any more.")
            process = self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        said, wrong = process.communicate()
        with self._lock:
            cancelled, self._process = self._process is None, None
        if cancelled:
            raise RefusedError(f"pliant {words[0]} was cancelled.")
        try:
            return json.loads(said)
        except ValueError:
            last = wrong.strip().splitlines() or ["it said nothing."]
            raise PliantError(f"pliant {words[0]} did not end well: {last[-1].removeprefix('pliant: ')}") from None

    def cancel(self) -> bool:
        """End what is being worked out; returns whether there was something that can be ended. Waits for its end."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return False
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
