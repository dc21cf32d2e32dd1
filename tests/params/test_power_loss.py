"""A task file that is saved while the power fails, or while the process is killed, is the old one or the new one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pliant.params.yaml_file import update_file

OLD = "# mine\nlaw: admittance\nrate_hz: 500\n"
NEW = "# mine\nlaw: admittance\nrate_hz: 250\n"

DYING = """
import os, signal, sys
from pathlib import Path
from pliant.params import yaml_file

step, at = int(sys.argv[2]), 0

def dying(call):
    def instead(*words, **more):
        global at
        at += 1
        if at == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*words, **more)
    return instead

for owner, name in ((os, "fsync"), (os, "fdopen"), (Path, "chmod"), (Path, "replace"), (os, "open")):
    setattr(owner, name, dying(getattr(owner, name)))
yaml_file.update_file(sys.argv[1], {"rate_hz": 250})
"""


@pytest.mark.parametrize("step", range(1, 9))
def test_a_process_that_is_killed_while_it_saves_leaves_the_old_file_or_the_new_one(tmp_path: Path, step: int) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(OLD)
    done = subprocess.run([sys.executable, "-c", DYING, str(path), str(step)], check=False, timeout=300)
    assert path.read_text() in (OLD, NEW)
    assert done.returncode == (-9 if path.read_text() == OLD or done.returncode else 0)


def test_the_new_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a disk keeps after a power loss is what was synchronised: the content first, then the name."""
    path, steps = tmp_path / "task.yaml", list[str]()
    path.write_text(OLD)
    fsync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            steps.append("folder")
        else:
            assert Path(f"/proc/self/fd/{handle}").read_text() == NEW
            steps.append("content")
        fsync(handle)

    def replaced(self: Path, target: Any) -> Path:
        steps.append("name")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    update_file(path, {"rate_hz": 250})
    assert steps == ["content", "name", "folder"]
    assert path.read_text() == NEW
    assert list(tmp_path.iterdir()) == [path]
