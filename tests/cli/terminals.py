"""Two terminals: a loop that one of them runs, and commands that the other gives it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator

from pliant.compiling.ahead import ensure
from pliant.compiling.entry_points import ALL_LAWS
from pliant.session.link import Link, attach
from support.waiting import until
from support.words import Said, say

CLI = [sys.executable, "-m", "pliant.cli.main"]


@contextlib.contextmanager
def running(*words: object) -> Iterator[Link]:
    """`pliant run` with these words, until the block ends."""
    ensure("loop", "batch", "replay", *ALL_LAWS)
    process = subprocess.Popen([*CLI, "run", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    name = f"{process.pid}-1"

    def runs() -> bool:
        assert process.poll() is None, f"pliant run exited with code {process.returncode}"
        with contextlib.suppress(Exception):
            return attach(name).running
        return False

    try:
        until(runs)
        yield attach(name)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(300)


def pliant(loop: str, *words: object) -> Said:
    """A command for this loop from the other terminal."""
    return say(*words, "--loop", loop)
