"""Start Pliant's own processes, if possible before they are needed.

A process takes its arguments as one line on standard input. Until that line arrives it imports what it needs, while its
owner does the same on another core: a loop starts about a second earlier. If the owner ends first, the process ends
too.

``python -m pliant.loop.processes <module>`` runs a module as such a process.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pliant.loop.boards.board_files import process_state

LOOP, MISSION_LOOP, RECORDER = "pliant.loop.control_loop", "pliant.mobile.mission.mission_loop", "pliant.loop.saving"

# How often a process that should end is looked at [s].
_LOOK_S = 0.1

_waiting: dict[str, tuple[subprocess.Popen[bytes], Any]] = {}


def start_ahead(*modules: str) -> None:
    """Start processes that will be needed soon; those that are still unused when this process ends end with it."""
    if not _waiting:
        atexit.register(_dismiss)
    for module in modules:
        if module not in _waiting:
            _waiting[module] = _start(module), _surroundings()


def spawn(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """The process of a module, with these arguments: one that was started ahead, or a new one."""
    process, born_in = _waiting.pop(module, (None, None))
    if process is not None and born_in != _surroundings():  # it would look for files in another folder
        _end(process)
    if process is None or process.poll() is not None:
        process = _start(module)
    assert process.stdin is not None
    process.stdin.write(json.dumps(arguments).encode() + b"\n")
    process.stdin.close()
    return process


def ended_within(process: subprocess.Popen[Any], seconds: float) -> bool:
    """Wait at most this long for the end of a process; returns whether it has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def sees_out(process: subprocess.Popen[Any], seconds: float) -> bool:
    """Wait at most this long for a process that should end; returns whether it has ended.

    One that was stopped by a signal (SIGSTOP) is continued: it could not even put its affairs in order.
    """
    deadline = time.monotonic() + seconds
    while not ended_within(process, min(_LOOK_S, seconds)):
        if process_state(process.pid) == "T":
            process.send_signal(signal.SIGCONT)
        if time.monotonic() > deadline:
            return False
    return True


def exit_words(code: int) -> str:
    """The exit code of a process in words."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def collect_seldom() -> None:
    """Let Python look for garbage seldom: while a process of ours imports, there is none, and it took a seventh."""
    gc.set_threshold(100_000, 50, 1000)


def arguments() -> list[str]:
    """The arguments from the owner of this process; ends the process if its owner has exited."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def _start(module: str) -> subprocess.Popen[bytes]:
    # What a driver's library prints goes to standard error: the output belongs to the owner.
    words = [sys.executable, "-P", "-m", __name__, module]  # -P: no module from the working folder
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=2, start_new_session=True)


def _surroundings() -> tuple[Path, dict[str, str]]:
    return Path.cwd(), dict(os.environ)


def _dismiss() -> None:
    while _waiting:
        _, (process, _) = _waiting.popitem()
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


if __name__ == "__main__":
    collect_seldom()
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
