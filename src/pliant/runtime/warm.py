"""Making sure that compiled code is in the cache before it is needed, with as many processes as there are cores.

`python -m pliant.runtime.warm` is the process that compiles: it reads names of jobs, one on each line of its standard
input, and answers each with a line when it is done.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pliant.kernel import load
from pliant.kernel.cache import Cache, open_cache
from pliant.kernel.dispatch import is_cached, machine
from pliant.kernel.sources import state_of_package
from pliant.runtime.entry_points import GROUPS, JOBS, Job

# Workers beyond this wait for each other's results rather than work.
_MOST_WORKERS = 4


@dataclass(frozen=True)
class Progress:
    """How far compiling is."""

    jobs: tuple[str, ...]
    """What is being compiled now."""
    done: int
    of: int
    share: float
    """Of the expected time."""
    left_s: float
    """Expected time left."""


_seen: set[str] = set()  # marks of groups that this process has found complete

Notice = Callable[[Progress], None]


def lines_on_stderr(every_s: float = 3.0) -> Notice:
    """A notice that prints a line now and then, where nothing else shows that something is going on."""
    last = time.monotonic()

    def notice(now: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= every_s:
            last = time.monotonic()
            text = f"{now.done} of {now.of} parts done, about {now.left_s:.0f} s left; now: {', '.join(now.jobs)}"
            print(f"  compiling: {text}", file=sys.stderr, flush=True)

    return notice


def is_ready(*groups: str) -> bool:
    """Whether these groups were found complete in the cache before, with the source as it is."""
    cache = open_cache()
    marks = {_mark(group) for group in groups} - _seen
    if all(cache.load(mark) is not None for mark in marks):
        _seen.update(marks)
        return True
    return False


def _mark(group: str) -> str:
    of = (machine(), state_of_package(), str(open_cache().folder))
    return f"ready-{group}-{hashlib.sha256(repr(of).encode()).hexdigest()[:24]}"


def load_group(group: str) -> None:
    """Load the machine code of a group into this process; what the cache lacks is compiled here."""
    for name in GROUPS[group]:
        load_job(JOBS[name])


def load_job(job: Job) -> None:
    """Load the machine code of a job into this process; what the cache lacks is compiled here."""
    for kernel, *arguments in job.entries():
        load(kernel, *arguments)


def missing(*groups: str) -> list[Job]:
    """The jobs of these groups that are not completely in the cache."""
    names = dict.fromkeys(name for group in groups for name in GROUPS[group])
    return [JOBS[name] for name in names if not all(is_cached(*entry) for entry in JOBS[name].entries())]


def ensure(*groups: str, notice: Notice | None = None) -> None:
    """Have these groups in the cache; `notice` hears how far it is. Returns at once when they are there."""
    if is_ready(*groups):
        return
    cache = open_cache()
    with _turn(cache):
        jobs = missing(*groups)
        if jobs and cache.folder is not None:
            _compile(jobs, notice)
            cache.prune()
        if cache.folder is None:
            for group in groups:
                load_group(group)
    if not missing(*groups):
        for group in groups:
            cache.save(_mark(group), b"")


@contextmanager
def _turn(cache: Cache) -> Iterator[None]:
    """One process at a time compiles into a cache: those that come later find its results."""
    if cache.folder is None:
        yield
        return
    with (cache.folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Worker:
    """A process that compiles; says when it is done with a job."""

    def __init__(self, answers: queue.Queue[tuple[_Worker, bool]]) -> None:
        self.job: Job | None = None
        words = [sys.executable, "-m", "pliant.runtime.warm"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def give(self, job: Job) -> None:
        self.job = job
        assert self.process.stdin is not None
        print(job.name, file=self.process.stdin, flush=True)

    def _listen(self, answers: queue.Queue[tuple[_Worker, bool]]) -> None:
        assert self.process.stdout is not None
        for _ in self.process.stdout:
            answers.put((self, True))
        answers.put((self, False))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def _compile(jobs: list[Job], notice: Notice | None) -> None:
    """Let processes compile jobs, each after those that it builds upon."""
    answers: queue.Queue[tuple[_Worker, bool]] = queue.Queue()
    cores = len(os.sched_getaffinity(0))
    workers = [_Worker(answers) for _ in range(min(len(jobs), cores, _MOST_WORKERS))]
    state = _State(jobs, len(workers))
    try:
        while state.unfinished:
            for worker in workers:
                if worker.job is None and (job := state.next()) is not None:
                    worker.give(job)
            if notice:
                notice(state.progress())
            try:
                worker, well = answers.get(timeout=1.0)
            except queue.Empty:
                continue
            if not well:  # it was killed, or failed: here it says why
                job = worker.job
                if job is None:
                    raise RuntimeError("a process that compiles has ended before its work began")
                load_job(job)
                worker.end()
                workers.remove(worker)
                workers.append(_Worker(answers))
            if worker.job is not None:
                state.finish(worker.job)
            worker.job = None
    finally:
        for worker in workers:
            worker.end()


class _State:
    """Which jobs wait, run and are done."""

    def __init__(self, jobs: list[Job], workers: int) -> None:
        seconds = {job.name: job.seconds for job in jobs}
        self._waiting = sorted(jobs, key=lambda job: -_chain(job, seconds))  # what holds up the most comes first
        self._running: dict[str, float] = {}  # since when
        self._all, self._workers = jobs, workers
        self._began = time.monotonic()
        self._done_s = self._took_s = 0.0  # as expected, and by the clock

    @property
    def unfinished(self) -> bool:
        return bool(self._waiting or self._running)

    def next(self) -> Job | None:
        """The next job whose foundations are laid."""
        open_ = {job.name for job in self._waiting} | self._running.keys()
        for job in self._waiting:
            if not open_.intersection(job.after):
                self._waiting.remove(job)
                self._running[job.name] = time.monotonic()
                return job
        return None

    def finish(self, job: Job) -> None:
        self._took_s += time.monotonic() - self._running.pop(job.name)
        self._done_s += job.seconds

    def progress(self) -> Progress:
        """Expected times are scaled by how long the jobs that are done took."""
        now = time.monotonic()
        slowness = self._took_s / self._done_s if self._done_s else 1.0
        left = {job.name: job.seconds * slowness for job in self._waiting}
        for name, began in self._running.items():
            left[name] = max(0.5, JOBS[name].seconds * slowness - (now - began))
        left_s = max(sum(left.values()) / self._workers, max((_chain(JOBS[name], left) for name in left), default=0.0))
        share = (now - self._began) / max(now - self._began + left_s, 1e-9)
        return Progress(tuple(self._running), len(self._all) - len(left), len(self._all), share, left_s)


def _chain(job: Job, seconds: dict[str, float]) -> float:
    """How long the job and the longest row of jobs that build upon it take."""
    upon = (JOBS[name] for name in seconds if job.name in JOBS[name].after)
    return seconds.get(job.name, 0.0) + max((_chain(other, seconds) for other in upon), default=0.0)


def main() -> None:
    """Body of a process that compiles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its owner ends it
    for line in sys.stdin:
        load_job(JOBS[line.strip()])
        print("done", flush=True)


if __name__ == "__main__":
    main()
