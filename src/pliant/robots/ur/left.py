"""Which controllers a loop of this computer has taken over and not given back: its program may still play there.

A loop that is killed leaves its program to the watchdog. A loop whose line is lost may leave one without a watchdog,
because ur_rtde connects anew by itself: it does nothing, and plays for ever. The next loop may end that one, and no
other; the controller does not say who sent a program, so a file here remembers.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pliant.errors import RejectedError


def remember(host: str) -> None:
    """A loop has sent its program to this controller."""
    with contextlib.suppress(OSError):
        _file(host).touch()


@contextlib.contextmanager
def remembered(host: str) -> Iterator[None]:
    """Remember before the program is sent, as a loop may be killed meanwhile; not when the controller refuses it."""
    known = _file(host).exists()
    remember(host)
    try:
        yield
    except RejectedError:
        if not known:  # what a loop has left before is still there
            forget(host)
        raise


def forget(host: str) -> None:
    """That program has been ended as it should."""
    with contextlib.suppress(OSError):
        _file(host).unlink(missing_ok=True)


def may_be_ours(host: str, program: str | None) -> bool:
    """Whether what plays there can be what a loop has left: one that no file holds, as its dashboard shows it."""
    return _file(host).exists() and (program is None or "." not in program)


def _file(host: str) -> Path:
    return Path(tempfile.gettempdir()) / f"pliant-{os.getuid()}-left-at-{host.lower()}"
