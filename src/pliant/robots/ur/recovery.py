"""Controllers on which a loop of this computer may have left its program running.

After a loop is killed, the watchdog ends its program. After a lost connection, ur_rtde may reconnect by itself and
leave a program without a watchdog, which does nothing and runs forever. The next loop may end that program, and no
other. The controller does not report who sent a program, so a file here remembers it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pliant.errors import RejectedError


def remember(host: str) -> None:
    """A loop has sent its program to this controller."""
    with contextlib.suppress(OSError):  # no link is followed: the folder is shared by all users
        os.close(os.open(_file(host), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))


@contextlib.contextmanager
def remembered(host: str) -> Iterator[None]:
    """Remember before the program is sent, because the loop may be killed meanwhile; undo it if it is rejected."""
    known = _is_ours(_file(host))
    remember(host)
    try:
        yield
    except RejectedError:
        if not known:  # an earlier loop's program may still be running
            forget(host)
        raise


def forget(host: str) -> None:
    """That program was ended properly."""
    with contextlib.suppress(OSError):
        _file(host).unlink(missing_ok=True)


def may_be_ours(host: str, program: str | None) -> bool:
    """Whether the running program may be one that a loop left: the dashboard shows no program file."""
    return _is_ours(_file(host)) and (program is None or "." not in program)


def _is_ours(file: Path) -> bool:
    """Whether a loop of this user made the file: any user can make one of this name, so a name proves nothing."""
    try:
        status = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _file(host: str) -> Path:
    return Path(tempfile.gettempdir()) / f"pliant-{os.geteuid()}-left-at-{host.lower()}"
