"""What the rows of the fault matrix share: real processes in a folder of their own, looked at from outside."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pliant.errors import PliantError
from pliant.loop.board import Board, running
from pliant.loop.boards.board_files import alive
from pliant.record.reader import Recording

# A process that is started may have to wait for its turn on a busy machine [s].
START_S = 300.0
# How long is waited for something that must happen; each row judges the time itself [s].
PATIENCE_S = 60.0
LOOK_S = 0.005
RATE_HZ = 250.0
BLACK_BOX_S = 5.0

_numbers = itertools.count(1)


def after(condition: Callable[[], object], within_s: float = PATIENCE_S) -> float | None:
    """How long it takes until a condition is true [s]; None if it does not become true in time."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > within_s:
            return None
        time.sleep(LOOK_S)
    return time.monotonic() - began


class Process:
    """A process that a row has started, its output in files."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str], file_bytes: int = 0) -> None:
        number = next(_numbers)
        self.folder = folder
        self._files = folder / f"{number}.out", folder / f"{number}.err"

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        with self._files[0].open("wb") as out, self._files[1].open("wb") as err:
            self.process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                start_new_session=True, preexec_fn=limit if file_bytes else None,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def out(self) -> str:
        """What it has printed so far, on one line."""
        return " ".join(self._files[0].read_text().split())

    @property
    def err(self) -> str:
        """What it has reported so far, on one line."""
        return " ".join(self._files[1].read_text().split())

    @property
    def children(self) -> dict[int, str]:
        """The processes that it has started, with their command lines."""
        found = {}
        with contextlib.suppress(OSError):
            for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
                with contextlib.suppress(OSError):
                    found[int(pid)] = Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
        return found

    def child(self, word: str) -> int:
        """The process that it has started whose command line contains a word."""
        found: list[int] = []
        after(lambda: found.extend(pid for pid, words in self.children.items() if word in words) or found, START_S)
        return found[0]

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self, within_s: float = PATIENCE_S) -> float | None:
        """How long it takes to end [s]; None if it does not."""
        return after(lambda: self.process.poll() is not None, within_s)

    @property
    def code(self) -> int | None:
        return self.process.poll()

    def end(self) -> None:
        """Kill it, if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Run(Process):
    """`pliant run` of a task, with its loop and its recorder."""

    name: str
    recording: Path

    @cached_property
    def board(self) -> Board:
        """The board of its loop, which stays readable after it was removed."""
        found: list[Board] = []

        def look() -> bool:
            with contextlib.suppress(PliantError):
                found.append(Board.attach(self.name))
            return bool(found) or self.process.poll() is not None

        after(look, START_S)
        if not found:
            raise PliantError(f"The loop did not start: {self.err}")
        return found[0]

    def until_tick(self, tick: int) -> Self:
        """Wait until the loop has made so many ticks."""
        after(lambda: self.board.head >= tick or self.process.poll() is not None, START_S)
        if self.board.head < tick:
            raise PliantError(f"The loop did not run: {self.err}")
        return self

    @property
    def loop(self) -> int:
        return int(self.board.header.loop_pid)

    @cached_property
    def recorder(self) -> int:
        return self.child("pliant.loop.saving")

    def ticks_on(self, ticks: int = 25, within_s: float = PATIENCE_S) -> bool:
        """Whether the loop makes so many more ticks."""
        head = self.board.head
        return after(lambda: self.board.head >= head + ticks, within_s) is not None

    def end(self) -> None:
        loops = [int(self.board.header.loop_pid)] if "board" in self.__dict__ else []
        helpers = [*self.children, *loops]
        super().end()
        for pid in helpers:  # those of a killed owner end by themselves, unless they were stopped
            with contextlib.suppress(ProcessLookupError):
                if pid > 0:
                    os.kill(pid, signal.SIGKILL)
        if "board" in self.__dict__:
            after(lambda: not any(alive(pid) for pid in loops), 10.0)
            self.board.remove()


class Rig:
    """A folder for one row, and everything that is started in it; leaving the context ends it all."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="pliant-faults-")
        self.folder = Path(self._folder.name)
        self._started: list[Process] = []
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in reversed(self._started):
            process.end()
        self._folder.cleanup()

    @property
    def out(self) -> Path:
        """Where black boxes go."""
        return self.folder / "out"

    def task(self, **fields: Any) -> Path:
        """A task file: an arm that is pushed and yields, unless the fields say otherwise."""
        push = {"at_s": 0.2, "for_s": 3600.0, "ramp_s": 1.0, "wrench": [15.0, 5.0, 0.0, 0.0, 0.0, 0.0]}
        task = {"robot": "sim:ur5e", "law": "admittance", "rate_hz": RATE_HZ, "duration_s": 600.0}
        path = self.folder / f"task-{next(_numbers)}.yaml"
        path.write_text(json.dumps({**task, "sim": {"pushes": [push]}, **fields}))
        return path

    def brief(self) -> Path:
        """A task that is over at once."""
        return self.task(duration_s=0.2, sim={})

    def pliant(self, *words: object, file_bytes: int = 0) -> Process:
        """Start `pliant` with these words; `file_bytes` is the most that it may write into a file (0: any)."""
        return self._add(Process(_line(*words), self.folder, self._environment({}), file_bytes))

    def python(self, code: str, *words: object, **variables: str) -> Process:
        """Start Python with a program."""
        line = [sys.executable, "-c", code, *map(str, words)]
        return self._add(Process(line, self.folder, self._environment(variables)))

    def said(self, *words: object, **variables: str) -> Process:
        """What `pliant` with these words has done, when it has ended."""
        process = self._add(Process(_line(*words), self.folder, self._environment(variables)))
        process.ended(START_S)
        return process

    def run(
        self,
        *more: object,
        task: Path | None = None,
        record: bool = True,
        variables: dict[str, str] | None = None,
    ) -> Run:
        """Start `pliant run`, with a recording unless `record` is false."""
        name = f"faults-{os.getpid()}-{next(_numbers)}"
        recording = self.folder / f"{name}.mcap"
        words: list[object] = ["run", task or self.task(), "--name", name, *more]
        if record:
            words += ["--record", recording]
        run = Run(_line(*words), self.folder, self._environment(variables or {}))
        run.name, run.recording = name, recording
        self._started.append(run)
        return run

    def _add(self, process: Process) -> Process:
        self._started.append(process)
        return process

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        return {**os.environ, "PLIANT_OUT": str(self.out), "PYTHONUNBUFFERED": "1", "COLUMNS": "400", **more}

    def boxes(self) -> list[Path]:
        """The black boxes so far."""
        return sorted(self.out.glob("fault-*.mcap"))

    def has_last_seconds(self, run: Run) -> bool:
        """Whether a black box holds the last five seconds of a run, up to its last tick."""
        last = run.board.head
        first = max(0, last - round(BLACK_BOX_S * RATE_HZ))
        for box in self.boxes():
            with contextlib.suppress(PliantError):
                ticks = Recording.load(box).records["tick"]
                if len(ticks) == last - first and (ticks[0], ticks[-1]) == (first, last - 1):
                    return True
        return False


def is_gone(run: Run) -> bool:
    """Whether the name of a loop is free again."""
    return run.name not in running()


def readable_ticks(path: Path) -> int:
    """How many ticks of a recording can be read; -1 if none."""
    try:
        return len(Recording.load(path, partial=True).records)
    except PliantError:
        return -1


def _line(*words: object) -> list[str]:
    return [sys.executable, "-m", "pliant.cli.main", *map(str, words)]
