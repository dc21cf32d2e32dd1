"""Long computations in parallel with the loop: one of a kind at a time, in a low-priority process that can be
cancelled.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from pliant.errors import PliantError, RejectedError
from pliant.studio.page_messages import Busy

# How long a process may take to exit on request [s].
_END_S = 5.0
# It yields to the loop, to the Studio and to everything else on this machine.
_NICE = ("nice", "-n", "10")
COMMAND_LINE = "pliant.cli.main"


class Slot:
    """One computation at a time: a command of the command line, or a module of the Studio, run for a page."""

    def __init__(self, busy: str) -> None:
        self._busy_words = busy
        self._busy, self._lock = threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._begun = self._cancelled = self._closed = False
        self.doing = ""
        """The work in progress, for the pages; "" for none."""

    @contextlib.contextmanager
    def exclusive(self, doing: str = "") -> Iterator[None]:
        """Allow one computation at a time; the pages show what it is `doing`."""
        if not self._busy.acquire(blocking=False):
            raise RejectedError(self._busy_words)
        try:
            with self._lock:
                self._begun, self._cancelled, self.doing = True, False, doing
            yield
        finally:
            with self._lock:
                self._begun, self.doing = False, ""
            self._busy.release()

    def json_of_command(self, *words: str) -> dict[str, Any]:
        """The JSON that a command prints; if it prints none, its last line is raised as an error."""
        return self.json_of_module(f"pliant {words[0]}", COMMAND_LINE, *words)

    def json_of_module(self, name: str, module: str, *words: str, said: str = "") -> dict[str, Any]:
        """The JSON that a module prints, with `said` on its stdin; errors call it `name`."""
        command = [*_NICE, sys.executable, "-m", module, *words]
        with self._lock:
            if self._closed:
                raise RejectedError("The Studio is shutting down: no new work is accepted.")
            if not self._cancelled:  # a cancel may come before the process
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
            last = wrong.strip().splitlines() or ["it exited without reporting a reason."]
            raise PliantError(f"{name} failed: {last[-1].removeprefix('pliant: ')}") from None

    def cancel(self) -> bool:
        """Cancel the running or starting computation and wait for its end; returns whether there was one."""
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
        """Cancel the running computation, and accept no more."""
        with self._lock:
            self._closed = True
        self.cancel()


class Work(Slot):
    """Experiments, plans and what-ifs in one slot, and the opening of recordings in another."""

    def __init__(self) -> None:
        super().__init__("Another experiment, plan or what-if is running. Wait until it is done, or cancel it.")
        self.reader = Slot("Another recording is being opened. Wait until it is done, or cancel it.")

    def opening(self, doing: str = "") -> contextlib.AbstractContextManager[None]:
        """Allow one recording to be opened at a time."""
        return self.reader.exclusive(doing)

    @property
    def in_progress(self) -> Busy:
        """What each slot is doing, for the pages."""
        return {"work": self.doing, "open": self.reader.doing}

    def close(self) -> None:
        """Cancel everything, and accept no more."""
        super().close()
        self.reader.close()
