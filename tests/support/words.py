"""The command line in the process of the tests, for its output: a second faster than in a process of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from pliant.cli.main import main


@dataclass(frozen=True)
class Said:
    """What `pliant ...` printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def say(*words: object, cwd: Path | None = None) -> Said:
    """Run `pliant` with these words."""
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "argv", ["pliant", *map(str, words)]))
        stack.enter_context(contextlib.chdir(cwd or Path.cwd()))
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Said(code, stdout.getvalue(), stderr.getvalue())


def pliant(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What `pliant` does with these words, in a process of its own."""
    line = [sys.executable, "-m", "pliant.cli.main", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=cwd)
