"""The files of boards in shared memory: where they are, whose they are, and how one is opened.

The folder is shared by all users of a machine, so a name proves nothing. A board is opened only if it is a regular file
of this user that no other user can write; links are not followed, and nothing waits for the other end of a pipe.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pliant.errors import RejectedError

PREFIX = "pliant-"
# A board gets its name when it is complete. Until then it has this one, followed by the number of its process.
_UNFINISHED = ".pliant-unfinished-"
# A file without any content of a board is taken for one that was never finished after this time [s]. Filling a board
# takes milliseconds.
_ABANDONED_S = 60.0

_numbers = itertools.count()

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def board_folder() -> Path:
    """The folder of the boards: shared memory if the system has it."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and os.access(shared, os.W_OK) else Path(tempfile.gettempdir())


def file_of(name: str) -> Path:
    """The file of the board of the loop `name`."""
    return board_folder() / f"{PREFIX}{name}"


def name_of_file(path: Path) -> str:
    """The name of the loop that a board belongs to."""
    return path.name.removeprefix(PREFIX)


def distrusted(status: os.stat_result) -> str:
    """Why a file cannot be a board of this user ("" if it can)."""
    if (kind := stat.S_IFMT(status.st_mode)) != stat.S_IFREG:
        return f"it is {_KINDS.get(kind, 'not a regular file')}"
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users can write it"
    return ""


def open_board(path: Path) -> int:
    """A descriptor of an existing board; raises `FileNotFoundError`, or `RejectedError` for any other file."""
    if why := distrusted(path.lstat()):  # before it is opened: opening a device may have effects
        raise not_a_board(path, why)
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise not_a_board(path, f"it cannot be opened: {(error.strerror or str(error)).lower()}") from None
    if why := distrusted(os.fstat(handle)):  # it may have been exchanged meanwhile
        os.close(handle)
        raise not_a_board(path, why)
    return handle


def not_a_board(path: Path, why: str) -> RejectedError:
    """The error for a file in the place of a board."""
    sentence = f"{path} is not the shared memory of one of your loops: {why}. It was not used."
    return RejectedError(sentence, field="board", value=str(path))


def create_unfinished(path: Path) -> tuple[int, Path]:
    """A new file beside `path` for a board that is being made: its descriptor and its name."""
    beside = path.with_name(f"{_UNFINISHED}{os.getpid()}-{next(_numbers)}")
    beside.unlink(missing_ok=True)  # of an earlier process with this number
    return os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), beside


def publish_as(unfinished: Path, path: Path) -> None:
    """Give a complete board its name; raises `FileExistsError` if the name is taken."""
    try:
        os.link(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def board_paths() -> Iterator[Path]:
    """The files that may be boards of this user."""
    for path in sorted(board_folder().glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):
            if not distrusted(path.lstat()):
                yield path


def ignored_files() -> list[str]:
    """What has the name of a board but cannot be one, in words. Boards of other users are theirs, and not listed."""
    found = []
    for path in sorted(board_folder().glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):
            status = path.lstat()
            if (why := distrusted(status)) and not (stat.S_ISREG(status.st_mode) and status.st_uid != os.geteuid()):
                found.append(f"{path} was ignored: {why}")
    return found


def remove_unfinished() -> None:
    """Remove the boards whose makers died before they were complete."""
    now = time.time()
    for path in board_folder().glob(f"{_UNFINISHED}*"):
        maker = path.name.removeprefix(_UNFINISHED).partition("-")[0]
        with contextlib.suppress(OSError):
            if not distrusted(path.lstat()) and maker.isdecimal() and not alive(int(maker)):
                path.unlink()
    for path in board_paths():  # made under its own name, by a version before this one
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > _ABANDONED_S and not any(_head_of(path)):
                path.unlink()


def _head_of(path: Path) -> bytes:
    """The first bytes of a file of ours."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return os.read(handle, 64)
    finally:
        os.close(handle)


def alive(pid: int) -> bool:
    """Whether a process exists (and is not a zombie)."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return process_state(pid) != "Z"


def process_state(pid: int) -> str:
    """The state of a process by its letter: R, S, D, T (stopped by a signal), Z; "" if it cannot be read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
