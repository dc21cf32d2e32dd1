"""`pliant studio` and what leads to it, in a terminal: what is said, and how it ends."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminals import CLI

from pliant.compiling.ahead import ensure
from pliant.studio.listening import LOCAL
from support.words import say

WARNING = "Other machines can reach the Studio, unencrypted"


@contextlib.contextmanager
def terminal(words: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A program that has a terminal, and the other end of it."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PLIANT_OUT": str(folder), "TERM": "dumb", "COLUMNS": "300"}
    process = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder, start_new_session=True,
        preexec_fn=_own_terminal,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _own_terminal() -> None:
    """Makes standard input the terminal from which Ctrl-C comes."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def heard(end: int, found: Callable[[str], object]) -> str:
    """What is said until something is found in it, or to the end."""
    said = ""
    with contextlib.suppress(OSError):  # the other side is closed
        while not found(said) and (more := os.read(end, 4096)):
            said += more.decode(errors="replace")
    return said


@pytest.mark.parametrize(
    ("words", "warned"), [((), False), (("--expose",), False), (("--host", "0.0.0.0", "--expose"), True)]
)
def test_who_can_be_reached_from_other_machines_is_warned(tmp_path: Path, words: tuple[str, ...], warned: bool) -> None:
    told = say("studio", "--loop", "nothing", *words, cwd=tmp_path)
    assert told.returncode != 0
    assert (WARNING in " ".join(told.stderr.split())) == warned


@pytest.mark.skipif(sys.platform != "linux", reason="needs terminals of Linux")
def test_the_demo_opens_the_studio_in_a_terminal_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    ensure("loop", "batch", "replay")
    with terminal([*CLI, "demo"], tmp_path) as (process, end):
        said = heard(end, re.compile(rf"{re.escape(LOCAL)}:\d+/\?token=\S+\s+Press Ctrl-C").search)
        assert "Replayed through the same control code" in said
        assert "The task starts when you open the page: http" in said
        os.write(end, b"\x03")
        assert "The Studio and everything that it started have stopped." in heard(end, lambda _: False)
        assert process.wait(300) == 0
