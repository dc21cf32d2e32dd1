"""What a bridge has to say reaches its user, its last words too."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pliant.bridge import starting
from pliant.bridge.helper_process import READY
from pliant.bridge.starting import bridged

LAST = 100
BRIDGE = f"""
import signal
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
print({READY!r}, flush=True)
while not asked:
    signal.sigtimedwait([signal.SIGUSR1], 0.01)
for i in range({LAST}):
    print("last words", i)
"""


def test_the_last_words_of_a_bridge_are_told_before_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def spawn(*_: Any) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", BRIDGE]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    monkeypatch.setattr(starting, "_spawn", spawn)
    link: Any = SimpleNamespace(running=True)
    with bridged(link, say=lambda _: time.sleep(0.002)) as notes:
        pass
    assert [note for note in notes if "last words" in note] == [f"last words {i}" for i in range(LAST)]
