"""Files that a user or a task names: whether one is there, and its text.

Any name may be given, also one that no file can have. Reading never waits for the other end of a pipe that nobody
writes to, and ends at a size that no such file has.
"""

from __future__ import annotations

import os
import select
import stat
import time
from pathlib import Path

from pliant.errors import RejectedError

# The largest text that is read [bytes]: hundreds of times a long task.
MOST_BYTES = 1 << 18
# How long a program may take to write into a pipe, as in `pliant check <(my_generator)` [s].
_PIPE_S = 60.0


def is_there(path: Path | str) -> bool:
    """Whether a file or folder of this name exists; also for names that are too long or contain a NUL."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def is_regular(path: Path | str) -> bool:
    """Whether a regular file of this name exists, not a folder, a pipe or a device."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def read_outside(path: Path | str) -> str:
    """The text of a file or of a pipe; raises `OSError`, `UnicodeDecodeError`, or `RejectedError` with the reason."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = stat.S_IFMT(os.fstat(handle).st_mode)
        if kind == stat.S_IFDIR:
            raise IsADirectoryError(21, "it is a folder", str(path))
        if kind not in (stat.S_IFREG, stat.S_IFIFO):
            raise _unreadable(path, "is not a regular file")
        content = _read(handle, path)
    finally:
        os.close(handle)
    if len(content) > MOST_BYTES:
        raise _unreadable(path, f"is longer than {MOST_BYTES} bytes")
    return content.decode()


def _read(handle: int, path: Path | str) -> bytes:
    """All bytes, up to one more than allowed."""
    content, deadline = b"", time.monotonic() + _PIPE_S
    while len(content) <= MOST_BYTES:
        try:
            part = os.read(handle, MOST_BYTES + 1 - len(content))
        except BlockingIOError:  # a pipe whose writer is still at work
            if not select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise _unreadable(path, f"is a pipe into which nothing was written for {_PIPE_S:g} s") from None
            continue
        if not part:
            break
        content += part
    return content


def _unreadable(path: Path | str, why: str) -> RejectedError:
    return RejectedError(f"{path} {why}.", field="the file", value=str(path))
