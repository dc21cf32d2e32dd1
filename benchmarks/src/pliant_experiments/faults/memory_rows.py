"""Rows: absurd live changes, forged shared memory, a planted kernel cache, and a task file that is being saved."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import numpy as np

from pliant.kernel.code_cache import open_cache
from pliant.loop.boards.board_files import file_of
from pliant_experiments.faults.fault_rig import Rig
from pliant_experiments.faults.fault_row import Seen, row
from pliant_experiments.faults.loop_rows import PATIENT, full

CHANGE, MEMORY, CACHE, FILE = "live change", "shared memory", "kernel cache", "task file"
# An answer to a name that cannot be used comes within this time [s], most of it for starting the command.
ANSWER_S = 20.0
FOREIGN_USER = 65534
# A smaller entry of the cache is a mark without content [bytes].
ENTRY_BYTES = 1000


@row(38, CHANGE, "stiffness or bias of 1e308, NaN, infinity", "rejected, and nothing changes")
def absurd_change(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    names = ("admittance.stiffness", "sense.bias") if short else (*NUMBERS,)
    for name in names:
        for value in ("1e308",) if short else ("1e308", "-1e308", "nan", "inf"):
            done = rig.said("set", name, value, "--loop", run.name)
            seen.must(done.code == 2 and f"{name} is " in done.err, f"{name} = {value} is rejected")
    seen.must(run.board.adopted == 0, "no parameter set was adopted")
    first = run.board.head
    run.ticks_on(100)
    records = run.board.read(first)[0]
    seen.must(bool(np.isfinite(records["observed"]["twist"]).all()), "the arm goes on within its limits")
    run.send(signal.SIGINT)
    seen.must(run.ended() is not None and run.code == 0, "the run ends without an error")


NUMBERS = (
    *("admittance.stiffness", "admittance.mass", "admittance.damping_ratio", "sense.bias", "sense.deadband_n"),
    *("limits.linear_speed_m_s", "sense.cutoff_hz"),
)


@row(39, MEMORY, "a pipe, a link or a foreign file has the name of a loop", "ignored and reported; nothing waits")
def foreign_memory(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    name = f"odd-{os.getpid()}"
    path = file_of(name)
    for kind in ("a pipe",) if short else ("a pipe", "a link", "random bytes", "a damaged copy"):
        _plant(kind, path, run.board.path)
        try:
            before = _mark(path)
            for words in (("set", "--loop", name), ("stop", "--loop", name), ("run", rig.task(), "--name", name)):
                done = rig.pliant(*words)
                waited = done.ended(ANSWER_S)
                seen.must((waited or PATIENT) <= ANSWER_S, f"{kind}: pliant {words[0]} answers")
                seen.must(done.code == 2 and "Traceback" not in done.err, f"{kind}: with a sentence")
            seen.must(rig.said("set", "--loop", run.name).code == 0, f"{kind}: commands to another loop work")
            seen.must(_mark(path) == before, f"{kind}: it is left as it is")
        finally:
            path.unlink(missing_ok=True)
    seen.must(run.ticks_on(), "the other loop ticks on")


def _plant(kind: str, path: Path, board: Path) -> None:
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a link":
        path.symlink_to(board)
    elif kind == "random bytes":
        path.write_bytes(os.urandom(1 << 16))
        path.chmod(0o600)
    else:
        data = bytearray(board.read_bytes())
        data[3 * 8 + 16 : 7 * 8] = os.urandom(16)
        path.write_bytes(data)
        path.chmod(0o600)


def _mark(path: Path) -> tuple[int, ...]:
    """What must not change of a file that is not ours to touch."""
    status = path.lstat()
    return status.st_ino, status.st_size, status.st_mtime_ns


LOADS = """
import sys
from pliant.kernel.code_cache import open_cache
cache = open_cache()
print(len(cache.load(sys.argv[1]) or b""), "problem:", cache.problem)
"""


@row(40, CACHE, "planted by another user", "not used")
def planted_cache(rig: Rig, seen: Seen, short: bool) -> None:
    source = open_cache().folder
    if source is None:
        seen.must(False, "this machine has a kernel cache")
        return
    entry = min((path for path in source.glob("*.kernel") if _size(path) > ENTRY_BYTES), key=_size)
    home = rig.folder / "cache"
    planted = home / "pliant" / "kernels" / entry.name
    planted.parent.mkdir(parents=True, mode=0o700)
    shutil.copy(entry, planted)
    planted.chmod(0o600)
    name = entry.name.removesuffix(entry.suffix)
    environment = {"XDG_CACHE_HOME": str(home), "PLIANT_CACHE": ""}

    def bytes_loaded() -> int:
        done = rig.python(LOADS, name, **environment)
        done.ended()
        return int(done.out.partition(" ")[0] or -1)

    seen.must(bytes_loaded() > 0, "an entry of this user is used")
    planted.chmod(0o666)
    seen.must(bytes_loaded() == 0, "one that others can write is not")
    planted.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(planted, FOREIGN_USER, FOREIGN_USER)
        seen.must(bytes_loaded() == 0, "one of another user is not")
        os.chown(planted, 0, 0)
        os.chown(planted.parent, FOREIGN_USER, FOREIGN_USER)
        seen.must(bytes_loaded() == 0, "one in a folder of another user is not")
        os.chown(planted.parent, 0, 0)
    planted.parent.chmod(0o777)
    seen.must(bytes_loaded() == 0, "one in a folder that others can write is not")


def _size(path: Path) -> int:
    return path.stat().st_size


SAVES = """
import itertools, sys
from pliant.params.yaml_file import update_file
print("saving", flush=True)
for n in itertools.count():
    update_file(sys.argv[1], {"params.sense.cutoff_hz": 10.0 + n % 20})
"""


@row(41, FILE, "killed while it is saved, again and again", "the file is the old or the new one, never half")
def killed_while_saving(rig: Rig, seen: Seen, short: bool) -> None:
    path = rig.folder / "mine.yaml"
    text = "# mine\nlaw: admittance\nparams:\n  sense:\n    cutoff_hz: {:.1f}   # soft\n"
    path.write_text(text.format(10.0))
    allowed = {text.format(10.0 + n) for n in range(20)}
    random, many = np.random.default_rng(41), 5 if short else 40
    for _ in range(many):
        saver = rig.python(SAVES, path)
        while "saving" not in saver.out and saver.code is None:
            pass
        saver.ended(float(random.uniform(0.0, 0.3)))
        saver.end()
        seen.must(path.read_text() in allowed, "the file is whole")
    seen.must(True, f"killed {many} times")
