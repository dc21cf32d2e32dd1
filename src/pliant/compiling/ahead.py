"""Compile the control code into the cache before it is needed, with several processes.

`python -m pliant.compiling.ahead` is the process that compiles: it reads where the entry points of jobs are listed
(module:name), one job per line of its standard input, and answers each with a line when it is done.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pliant.compiling.entry_points import GROUPS, JOBS, Job, Need
from pliant.errors import PliantError
from pliant.kernel import load
from pliant.kernel.code_cache import MARK, Cache, open_cache
from pliant.kernel.dispatch import DISABLED, is_cached, machine
from pliant.kernel.sources import state_of_package

_PR_SET_PDEATHSIG = 1
# After this many workers have died, this process does the rest itself.
_MOST_DEATHS = 2
# Workers beyond this wait for each other's results rather than work.
_MOST_WORKERS = 4


@dataclass(frozen=True)
class Progress:
    """Progress of the compilation."""

    jobs: tuple[str, ...]
    """What is being compiled now."""
    done: int
    of: int
    share: float
    """Of the expected time."""
    left_s: float
    """Expected time left."""
    so_far_s: float = 0.0
    """Time since the compilation, or the wait for another one, began."""
    other: int = 0
    """The process that is waited for; 0 if it is unknown."""

    def text(self) -> str:
        """One line for a user, without the time left: on a busy machine it may grow."""
        if not self.jobs:
            who = f"process {self.other}" if self.other else "another pliant process"
            return f"waiting for {who} to finish compiling, {self.so_far_s:.0f} s so far (Ctrl-C to give up)"
        return f"{self.done} of {self.of} modules compiled, {self.so_far_s:.0f} s so far; now: {', '.join(self.jobs)}"


DONE, FAILED = "done", "failed"
# The file in the cache folder with the details of the last failure.
LOG = "last-failure.log"
# Lines about a long compilation are at most this far apart [s].
_LONGEST_PAUSE_S = 30.0

Notice = Callable[[Progress], None]


def lines_on_stderr(every_s: float = 3.0) -> Notice:
    """A notice that prints a progress line on standard error from time to time, and less and less often."""
    last, pause_s, waits = time.monotonic(), every_s, False

    def notice(now: Progress) -> None:
        nonlocal last, pause_s, waits
        if time.monotonic() - last >= pause_s and not (waits and not now.jobs):  # that it waits is said once
            last, pause_s, waits = time.monotonic(), min(2.0 * pause_s, _LONGEST_PAUSE_S), not now.jobs
            print(f"  compiling: {now.text()}", file=sys.stderr, flush=True)

    return notice


def is_ready(*needs: Need) -> bool:
    """Whether all of this is in the cache for the present source; groups are marked there as complete."""
    cache = open_cache()
    if not all(cache.load(_mark(group)) is not None for group in _groups(needs)):
        return False
    return not missing(*(need for need in needs if isinstance(need, Job)))


def _groups(needs: tuple[Need, ...]) -> list[str]:
    return [need for need in needs if isinstance(need, str)]


def _jobs(needs: tuple[Need, ...]) -> list[Job]:
    """The jobs of what is needed, each once."""
    named = ([need] if isinstance(need, Job) else [JOBS[name] for name in GROUPS[need]] for need in needs)
    return list(dict.fromkeys(job for jobs in named for job in jobs))


def _mark(group: str) -> str:
    of = (machine(), state_of_package(), str(open_cache().folder))
    return f"{MARK}{group}-{hashlib.sha256(repr(of).encode()).hexdigest()[:24]}"


def load_group(group: str) -> None:
    """Load the machine code of a group into this process; compile what is not in the cache."""
    for name in GROUPS[group]:
        load_job(JOBS[name])


def load_job(job: Job) -> None:
    """Load the machine code of a job into this process; compile what is not in the cache.

    Raises `PliantError` if the code cannot be compiled; the cache folder then holds the details.
    """
    try:
        for kernel, *arguments in job.entries():
            load(kernel, *arguments)
    except (PliantError, OSError, MemoryError):
        raise
    except Exception as error:
        raise _not_compilable(job, error) from error


def _not_compilable(job: Job, error: Exception) -> PliantError:
    """The error for code of Pliant that Numba cannot compile; its traceback is written into the cache folder."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    why = next((line for line in lines if not line.startswith(("Failed in", "During:", "File "))), "")
    folder, details = open_cache().folder, ""
    if folder is not None:
        log = folder / LOG
        with suppress(OSError):
            log.write_text("".join(traceback.format_exception(error)))
            details = f" with {log}"
    whose = "Pliant" if job.where.startswith("pliant") else job.where.partition(":")[0]
    return PliantError(
        f"The control code ({job.name}) cannot be compiled: {type(error).__name__}: {why.rstrip('.')}. "
        f"This is a bug in {whose}. Run pliant cache clear and try again; if it persists, report it{details}."
    )


def missing(*needs: Need) -> list[Job]:
    """The needed jobs that are not completely in the cache."""
    return [job for job in _jobs(needs) if not all(is_cached(*entry) for entry in job.entries())]


def ensure(*needs: Need, notice: Notice | None = None) -> None:
    """Make sure that all of this is in the cache; `notice` receives the progress. Returns at once if it is."""
    if DISABLED or is_ready(*needs):
        return
    cache = open_cache()
    if cache.folder is None:
        for job in _jobs(needs):
            load_job(job)
    elif missing(*needs):
        with _turn(cache, notice):
            if jobs := missing(*needs):
                _compile(jobs, notice)
                cache.prune()
    if not missing(*needs):
        for group in _groups(needs):
            cache.save(_mark(group), b"")


@contextmanager
def _turn(cache: Cache, notice: Notice | None) -> Iterator[None]:
    """One process at a time compiles into a cache: those that come later find its results."""
    if cache.folder is None:
        yield
        return
    began = time.monotonic()
    with (cache.folder / "lock").open("a+") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.truncate(0)
                file.write(str(os.getpid()))  # for those that wait
                file.flush()
                break
            except BlockingIOError:
                if notice:
                    file.seek(0)
                    holder = file.read()
                    other = int(holder) if holder.isdecimal() else 0
                    notice(Progress((), 0, 1, 0.0, 0.0, time.monotonic() - began, other))
                time.sleep(1.0)
            except OSError:  # a file system without locks: the work may be done twice, and nothing else
                break
        yield


class _Worker:
    """A process that compiles; says when it is done with a job."""

    def __init__(self, answers: queue.Queue[tuple[_Worker, bool]]) -> None:
        self.job: Job | None = None
        self.failure = ""
        words = [sys.executable, "-P", "-m", "pliant.compiling.ahead"]  # -P: no module from the working folder
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def give(self, job: Job) -> None:
        self.job = job
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and that is heard soon
            print(job.where, file=self.process.stdin, flush=True)

    def _listen(self, answers: queue.Queue[tuple[_Worker, bool]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(f"{DONE} "):  # a library may print something of its own
                answers.put((self, True))
            elif line.startswith(f"{FAILED} "):
                self.failure = line.removeprefix(f"{FAILED} ").strip()
                break
        answers.put((self, False))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def _compile(jobs: list[Job], notice: Notice | None) -> None:
    """Let processes compile jobs, each after those that it builds upon."""
    answers: queue.Queue[tuple[_Worker, bool]] = queue.Queue()
    cores = len(os.sched_getaffinity(0))
    workers = [_Worker(answers) for _ in range(min(len(jobs), cores, _MOST_WORKERS))]
    state, deaths = _State(jobs, len(workers)), 0
    try:
        while state.unfinished:
            for worker in workers:
                if worker.job is None and (job := state.next()) is not None:
                    worker.give(job)
            if not workers and (job := state.next()) is not None:
                load_job(job)  # where they did not just happen to be killed, the reason shows here
                state.finish(job)
                continue
            if notice:
                notice(state.progress())
            try:
                worker, well = answers.get(timeout=1.0)
            except queue.Empty:
                continue
            if well and worker.job is not None:
                state.finish(worker.job)
                worker.job = None
            elif worker.failure:
                raise PliantError(worker.failure)
            elif not well:
                workers.remove(worker)
                worker.end()
                deaths += 1
                if worker.job is not None:
                    state.put_back(worker.job)
                if deaths <= _MOST_DEATHS:
                    workers.append(_Worker(answers))
    finally:
        for worker in workers:
            worker.end()


class _State:
    """Which jobs wait, run and are done."""

    def __init__(self, jobs: list[Job], workers: int) -> None:
        seconds = {job.name: job.seconds for job in jobs}
        self._named = {job.name: job for job in jobs}
        self._waiting = sorted(jobs, key=lambda job: -self._chain(job, seconds))  # what holds up the most comes first
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

    def put_back(self, job: Job) -> None:
        """A job that was not finished waits again."""
        del self._running[job.name]
        self._waiting.insert(0, job)

    def progress(self) -> Progress:
        """Expected times are scaled by how long the finished jobs took, and by those that take longer than expected."""
        now = time.monotonic()
        elapsed = {name: now - began for name, began in self._running.items()}
        slowness = self._took_s / self._done_s if self._done_s else 1.0
        slowness = max(slowness, *(elapsed[name] / self._named[name].seconds for name in elapsed), 0.0)
        left = {job.name: job.seconds * slowness for job in self._waiting}
        for name, so_far in elapsed.items():
            left[name] = max(0.5, self._named[name].seconds * slowness - so_far, 0.2 * so_far)
        longest = max((self._chain(self._named[name], left) for name in left), default=0.0)
        left_s = max(sum(left.values()) / self._workers, longest)
        so_far = now - self._began
        share = so_far / max(so_far + left_s, 1e-9)
        return Progress(tuple(self._running), len(self._all) - len(left), len(self._all), share, left_s, so_far)

    def _chain(self, job: Job, seconds: dict[str, float]) -> float:
        """How long the job and the longest row of jobs that build upon it take."""
        upon = (self._named[name] for name in seconds if job.name in self._named[name].after)
        return seconds.get(job.name, 0.0) + max((self._chain(other, seconds) for other in upon), default=0.0)


def end_with_owner() -> None:
    """Let the system end this process when the one that started it is gone."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def main() -> None:
    """Body of a process that compiles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its owner ends it
    end_with_owner()
    for line in sys.stdin:
        where = line.strip()
        try:
            load_job(Job(where, where, 0.0))
        except PliantError as error:
            print(FAILED, error, flush=True)
            return
        print(DONE, where, flush=True)


if __name__ == "__main__":
    main()
