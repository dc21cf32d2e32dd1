"""An emulated controller in its own process, for experiments and tests: start it, inject faults, end it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import numpy as np

from pliant.errors import PliantError
from pliant.robots.emulator.ports import DASHBOARD
from pliant.robots.emulator.trace import load

# The kernels may have to be compiled first [s].
_READY_S = 600.0
_ANSWER_S = 30.0

_numbers = itertools.count(1)


def own_address() -> str:
    """A local address that no other process is likely to use."""
    number = os.getpid() * 16 + next(_numbers) % 16
    return f"127.{64 + (number >> 16) % 64}.{(number >> 8) & 255}.{number & 255 or 255}"


class Emulator:
    """``with Emulator("ur5e", task="dome") as ur:`` runs one; then ``ur.robot`` is its address."""

    def __init__(self, model: str = "ur5e", *, traced: bool = False, **options: str) -> None:
        self.host = own_address()
        self.robot = f"ur:{self.host}" + ("" if model == "ur5e" else f"#{model}")
        self._folder = tempfile.TemporaryDirectory(prefix="pliant-emulator-")
        self._trace = Path(self._folder.name) / "trace.npy" if traced else None
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        if self._trace:
            words += ["--trace", str(self._trace)]
        self._words = [sys.executable, "-m", "pliant.cli.main", "emulate", model, "--host", self.host, *words]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        deadline = time.monotonic() + _READY_S
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection((self.host, DASHBOARD), 1.0).close()
                return self
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise PliantError(f"The emulator did not start: {self.end()}")
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def ask(self, words: str) -> str:
        """Send a command to the dashboard; returns its answer."""
        with socket.create_connection((self.host, DASHBOARD), _ANSWER_S) as line, line.makefile("rw") as file:
            file.readline()
            file.write(f"{words}\n")
            file.flush()
            return file.readline().strip()

    def inject(self, fault: str) -> None:
        """Inject a fault now."""
        answer = self.ask(f"emulator {fault}")
        if not answer.startswith("Done"):
            raise PliantError(answer)

    @property
    def state(self) -> dict[str, Any]:
        """The true state of the emulated controller and its arm."""
        return json.loads(self.ask("emulator state"))

    def end(self) -> str:
        """End the emulator; returns its output."""
        self._process.terminate()
        said, wrong = self._process.communicate()
        return said + wrong

    def trace(self) -> np.ndarray[Any, Any]:
        """The signals of every period, after the emulator has ended."""
        assert self._trace is not None
        return load(self._trace)

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.end()
