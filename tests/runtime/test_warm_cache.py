"""The cache of compiled kernels: what is compiled once is not compiled again, and what has changed is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pliant
from pliant.kernel import cache_is_warm
from pliant.runtime import warm as warm_module

# Call a kernel of a module in the working folder; print its result and the names of what was compiled for it.
CALL = """
import json
import sys
from pliant.kernel import on_compile
names = []
with on_compile(names.append):
    from outer import outer
    result = outer(3.0)
assert "scipy.linalg" not in sys.modules, "it takes long to import, and no kernel needs it"
print(json.dumps([result, sorted(names)]))
"""

OUTER = """
from pliant.kernel import kernel
from inner import inner

@kernel
def outer(x):
    return inner(x) + 1.0
"""

INNER = """
from pliant.kernel import kernel

@kernel
def inner(x):
    return 2.0 * x
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two modules of a user's own kernels."""
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER)
    return tmp_path


def python(code: str, folder: Path, cache: Path | None = None) -> Any:
    """What a new process prints, as data."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment["PLIANT_CACHE"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing_until_the_source_changes(place: Path) -> None:
    cache = place / "cache"
    result, names = python(CALL, place, cache)
    assert (result, names) == (7.0, ["inner.inner", "outer.outer"])
    assert list(cache.glob("outer-*/*.nbc"))
    assert python(CALL, place, cache) == [7.0, []]
    (place / "outer.py").write_text(OUTER.replace("1.0", "10.0"))
    result, names = python(CALL, place, cache)
    assert result == 16.0
    assert "outer.outer" in names


def test_a_change_anywhere_in_pliant_compiles_anew_what_calls_it(tmp_path: Path) -> None:
    """Numba alone would look at the caller's file only, and go on with the old machine code of the callee."""
    copy = tmp_path / "pliant"
    ignored = shutil.ignore_patterns("data", "__pycache__", "tasks")
    shutil.copytree(Path(pliant.__file__).parent, copy, ignore=ignored)
    (copy / "spatial.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER.replace("from inner", "from pliant.spatial"))
    cache = tmp_path / "cache"
    assert python(CALL, tmp_path, cache)[0] == 7.0
    assert python(CALL, tmp_path, cache) == [7.0, []]
    (copy / "spatial.py").write_text(INNER.replace("2.0", "5.0"))
    result, names = python(CALL, tmp_path, cache)
    assert (result, names) == (16.0, ["outer.outer", "pliant.spatial.inner"])


def test_with_a_warm_cache_nothing_is_compiled_in_a_run_or_its_replay(tmp_path: Path) -> None:
    code = """
import json
from pathlib import Path
from pliant.kernel import on_compile
names = []
with on_compile(names.append):
    from pliant.runtime.warm import load_all
    load_all()
    loaded = len(names)
    from pliant.params.declare import validated
    from pliant.record.reader import Recording
    from pliant.runtime.batch import simulate
    from pliant.runtime.replay import replay
    from pliant.runtime.save import save_run
    from pliant.runtime.task import Task
    for interface in ("position", "velocity", "torque"):
        event = {"at_s": 0.05, "law": "admittance", "set": {"sense.cutoff_hz": 40}}
        run = simulate(validated(Task, {"duration_s": 0.1, "interface": interface, "events": [event]}))
        save_run(run, Path("run.mcap"))
        assert replay(Recording.load("run.mcap")).largest == 0.0
print(json.dumps([loaded, names]))
"""
    assert python(code, tmp_path) == [0, []]


def test_warming_tells_its_progress_and_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    told: list[tuple[int, int]] = []
    loads = []

    def load_all() -> None:
        (tmp_path / "outer.py").write_text(OUTER)
        (tmp_path / "inner.py").write_text(INNER)
        monkeypatch.syspath_prepend(tmp_path)
        from outer import outer  # type: ignore[import-not-found]

        loads.append(outer(3.0))

    monkeypatch.setattr(warm_module, "load_all", load_all)
    assert not cache_is_warm()
    warm_module.warm(lambda done, of: told.append((done, of)))
    assert cache_is_warm()
    warm_module.warm(lambda done, of: told.append((done, of)))
    assert loads == [7.0]
    assert [done for done, _ in told] == [1, 2]
    assert all(of > 2 for _, of in told)


def test_a_failure_does_not_make_the_cache_look_warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))

    def load_all() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(warm_module, "load_all", load_all)
    with pytest.raises(KeyboardInterrupt):
        warm_module.warm()
    assert not cache_is_warm()
