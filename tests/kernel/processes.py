"""New processes that compile, with a cache of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def python(code: str, folder: Path, **environment: str) -> Any:
    """What a new process prints, as data; modules in `folder` can be imported."""
    done = run(code, folder, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """How a new process ended."""
    given = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    words = [sys.executable, "-c", code]
    return subprocess.run(words, env=given, capture_output=True, text=True, check=False, cwd=folder, timeout=600)
