"""Compiled code: what is compiled once is not compiled again, and what has changed is."""

import os
import shutil
from pathlib import Path

import pytest
from processes import python

import pliant
from pliant.compiling import ahead
from pliant.compiling.entry_points import ALL_LAWS, GROUPS, JOBS, Job
from pliant.errors import PliantError
from pliant.kernel import on_compile

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

# Call it while Ctrl-C is pressed in the middle of what Numba registers once per process, and again.
INTERRUPTED = """
import signal
from numba.core import utils

def interrupted(registered, original=utils.stream_list):
    utils.stream_list = original
    for new in original(registered):
        signal.raise_signal(signal.SIGINT)
        yield new

from outer import outer
utils.stream_list = interrupted
try:
    outer(3.0)
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print(outer(3.0))
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

BROKEN = """
from pliant.kernel import kernel

@kernel
def broken(x):
    return x["name"]

def entries():
    return [(broken, 1.0)]
"""

ALL = ["inner.inner", "outer.outer"]


def test_code_that_cannot_be_compiled_is_one_sentence_and_its_details_are_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # of the processes that compile
    monkeypatch.syspath_prepend(tmp_path)
    said = (
        r"^The control code \(broken:entries\) cannot be compiled: TypingError: [^\n]*\. This is a bug in broken\. Run "
    )
    with pytest.raises(PliantError, match=said) as caught:
        ahead.ensure(Job("broken", "broken:entries", 1.0))
    assert "\n" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err
    folder = ahead.open_cache().folder
    assert folder is not None
    log = folder / ahead.LOG
    assert str(log) in str(caught.value)
    assert 'x["name"]' in log.read_text()


def test_waiting_for_another_process_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    notice = ahead.lines_on_stderr(every_s=0.0)
    waiting, working = ahead.Progress((), 0, 1, 0.0, 0.0), ahead.Progress(("law hold",), 0, 1, 0.0, 0.0)
    for now in (waiting, waiting, working, working, waiting, waiting):
        notice(now)
    said = capsys.readouterr().err.splitlines()
    assert ["waiting" in line for line in said] == [True, False, False, True]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two modules of a user's own kernels."""
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER)
    return tmp_path


def test_a_second_process_compiles_nothing_until_the_source_changes(place: Path) -> None:
    cache = str(place / "cache")
    assert python(CALL, place, PLIANT_CACHE=cache) == [7.0, ALL]
    assert python(CALL, place, PLIANT_CACHE=cache) == [7.0, []]
    (place / "outer.py").write_text(OUTER.replace("+ 1.0", "+ 10.0"))
    assert python(CALL, place, PLIANT_CACHE=cache) == [16.0, ALL]
    (place / "inner.py").write_text(INNER.replace("2.0 * x", "5.0 * x"))
    assert python(CALL, place, PLIANT_CACHE=cache) == [25.0, ALL]


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_during_the_first_call_leaves_kernels_usable(place: Path, compiled: bool) -> None:
    cache = str(place / "cache")
    if compiled:
        python(CALL, place, PLIANT_CACHE=cache)
    assert python(INTERRUPTED, place, PLIANT_CACHE=cache) == 7.0


def test_a_constant_imported_from_another_file_counts_as_source(place: Path) -> None:
    cache = str(place / "cache")
    (place / "numbers_of_mine.py").write_text("FACTOR = 2.0\n")
    (place / "inner.py").write_text("from numbers_of_mine import FACTOR\n" + INNER.replace("2.0", "FACTOR"))
    assert python(CALL, place, PLIANT_CACHE=cache)[0] == 7.0
    (place / "numbers_of_mine.py").write_text("FACTOR = 5.0\n")
    assert python(CALL, place, PLIANT_CACHE=cache)[0] == 16.0


def copy_of_package(folder: Path) -> Path:
    copy = folder / "pliant"
    shutil.copytree(Path(pliant.__file__).parent, copy, ignore=shutil.ignore_patterns("data", "__pycache__", "static"))
    return copy


def test_a_change_in_pliant_compiles_anew_what_imports_it_and_nothing_else(tmp_path: Path) -> None:
    copy, cache = copy_of_package(tmp_path), str(tmp_path / "cache")
    (copy / "spatial.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER.replace("from inner", "from pliant.spatial"))
    assert python(CALL, tmp_path, PLIANT_CACHE=cache)[0] == 7.0
    with (copy / "control" / "laws" / "hold.py").open("a") as file:  # the kernels above do not import it
        file.write("\nMORE = 1\n")
    assert python(CALL, tmp_path, PLIANT_CACHE=cache) == [7.0, []]
    (copy / "spatial.py").write_text(INNER.replace("2.0", "5.0"))
    result, names = python(CALL, tmp_path, PLIANT_CACHE=cache)
    assert (result, names) == (16.0, ["outer.outer", "pliant.spatial.inner"])


@pytest.mark.slow
def test_two_copies_of_the_same_source_share_the_cache(tmp_path: Path) -> None:
    code = """
import json
from pliant.kernel import load, on_compile
from pliant.spatial import pose_error
import numpy as np
names = []
with on_compile(names.append):
    load(pose_error, np.zeros(7), np.zeros(7), np.zeros(6))
print(json.dumps(names))
"""
    cache = str(tmp_path / "cache")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        copy_of_package(tmp_path / name)
    assert "pliant.spatial.pose_error" in python(code, tmp_path / "one", PLIANT_CACHE=cache)
    assert python(code, tmp_path / "other", PLIANT_CACHE=cache) == []


def test_with_a_warm_cache_nothing_is_compiled_in_a_run_or_its_replay(tmp_path: Path) -> None:
    ahead.ensure("batch", "replay", *ALL_LAWS)
    code = """
import json
from pathlib import Path
from pliant.kernel import on_compile
names = []
with on_compile(names.append):
    from pliant.params.declare import validated
    from pliant.record.reader import Recording
    from pliant.session.in_process.fast_run import simulate
    from pliant.session.in_process.rerun import replay
    from pliant.task.schema import Task
    for interface in ("position", "velocity", "torque"):
        event = {"at_s": 0.05, "law": "admittance", "set": {"sense.cutoff_hz": 40}}
        run = simulate(validated(Task, {"duration_s": 0.1, "interface": interface, "events": [event]}))
        run.save(Path("run.mcap"))
        assert replay(Recording.load("run.mcap")).largest == 0.0
print(json.dumps(names))
"""
    assert python(code, tmp_path) == []


def test_entry_points_are_what_python_calls_with_records_and_arrays() -> None:
    """Each group names the arguments that its callers have: a wrong type would compile in the middle of a run."""
    for group in GROUPS:
        ahead.ensure(group)
        names: list[str] = []
        with on_compile(names.append):
            ahead.load_group(group)
        assert names == []


def test_jobs_build_only_upon_jobs_of_their_own_groups() -> None:
    for names in GROUPS.values():
        for name in names:
            assert set(JOBS[name].after) <= set(names)


def test_compiling_reports_progress_and_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    heard: list[ahead.Progress] = []
    assert not ahead.is_ready("kinematics")
    assert [job.name for job in ahead.missing("kinematics")] == ["kinematics"]
    ahead.ensure("kinematics", notice=heard.append)
    assert ahead.is_ready("kinematics")
    assert heard[0].jobs == ("kinematics",)
    assert (heard[0].done, heard[0].of) == (0, 1)
    assert all(0.0 <= now.share <= 1.0 and now.left_s > 0.0 for now in heard)
    heard.clear()
    ahead.ensure("kinematics", notice=heard.append)
    assert heard == []


def test_a_job_of_another_package_is_compiled_beside_the_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "others_kernels.py").write_text(
        "from pliant.kernel import kernel\n@kernel\ndef double(x):\n    return 2.0 * x\n"
        "def entries():\n    yield double, 1.0\n"
    )
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(str(tmp_path))
    job = Job("doubling", "others_kernels:entries", 1.0, after=("control tick",))  # which is not needed here
    heard: list[ahead.Progress] = []
    assert not ahead.is_ready(job)
    ahead.ensure(job, notice=heard.append)
    assert heard[0].jobs == ("doubling",)
    assert ahead.is_ready(job)
    assert not ahead.is_ready(job, "kinematics")
    names: list[str] = []
    with on_compile(names.append):
        ahead.load_job(job)
    assert names == []
    assert len(list((tmp_path / "cache").glob("others_kernels.double-*.kernel"))) == 1


@pytest.mark.slow
def test_what_two_processes_compile_at_once_is_whole(tmp_path: Path) -> None:
    """Both find it missing; one compiles, the other waits and takes the result."""
    from concurrent.futures import ThreadPoolExecutor

    code = """
import json
from pliant.compiling import ahead
compiles = []
compile_jobs = ahead._compile
ahead._compile = lambda *given: (compiles.append(1), compile_jobs(*given))
ahead.ensure("kinematics")
print(json.dumps([len(compiles), ahead.is_ready("kinematics")]))
"""
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: python(code, tmp_path, PLIANT_CACHE=str(tmp_path / "cache")), range(2)))
    assert sorted(both) == [[0, True], [1, True]]
    assert not list((tmp_path / "cache").glob("*.tmp"))


def test_a_failure_does_not_make_the_cache_look_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))

    def compile_nothing(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ahead, "_compile", compile_nothing)
    with pytest.raises(KeyboardInterrupt):
        ahead.ensure("kinematics")
    assert not ahead.is_ready("kinematics")


@pytest.mark.slow
def test_a_worker_that_is_killed_does_not_lose_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    give = ahead._Worker.give
    killed: list[bool] = []

    def kill_the_first(worker: ahead._Worker, job: ahead.Job) -> None:
        if not killed:
            killed.append(True)
            worker.process.kill()
            worker.process.wait()
        give(worker, job)

    monkeypatch.setattr(ahead._Worker, "give", kill_the_first)
    ahead.ensure("kinematics")
    assert killed
    assert ahead.is_ready("kinematics")


def test_uncompiled_kernels_are_plain_functions(tmp_path: Path) -> None:
    code = "import json; from probe import f; print(json.dumps([f(3.0), type(f).__name__]))"
    (tmp_path / "probe.py").write_text(
        "from pliant.kernel import kernel\n@kernel(separate=True)\ndef f(x):\n    return x\n"
    )
    assert python(code, tmp_path, NUMBA_DISABLE_JIT="1") == [3.0, "function"]


@pytest.mark.slow
def test_a_large_global_array_is_part_of_the_code(place: Path) -> None:
    """What a kernel takes from its module at compile time must not go stale in the cache."""
    cache = str(place / "cache")
    text = "import numpy as np\nTABLE = np.arange(300.0) * {}\n" + INNER.replace("2.0 * x", "TABLE[2] * x")
    (place / "inner.py").write_text(text.format("1.0"))
    assert python(CALL, place, PLIANT_CACHE=cache)[0] == 7.0
    (place / "inner.py").write_text(text.format("2.0"))
    assert python(CALL, place, PLIANT_CACHE=cache)[0] == 13.0


def test_an_edit_after_the_process_began_does_not_get_into_the_cache(place: Path) -> None:
    """What runs is the source that was imported; the file says something else by now."""
    cache = str(place / "cache")
    edit = CALL.replace(
        "    result =",
        "    import pathlib, time; time.sleep(0.05); file = pathlib.Path('inner.py')\n"
        "    file.write_text(file.read_text().replace('2.0', '5.0'))\n    result =",
    )
    assert python(edit, place, PLIANT_CACHE=cache)[0] == 7.0
    assert python(CALL, place, PLIANT_CACHE=cache)[0] == 16.0


def test_closures_of_one_factory_keep_their_own_numbers(place: Path) -> None:
    cache = str(place / "cache")
    (place / "factory.py").write_text(
        "from pliant.kernel import kernel\ndef make(k):\n    @kernel\n    def scaled(x):\n        return k * x\n"
        "    @kernel\n    def outer(x):\n        return scaled(x) + scaled(x + 1.0)\n    return outer\n"
    )
    code = (
        "import json; from factory import make; from pliant.kernel import on_compile\nnames = []\n"
        "with on_compile(names.append):\n    results = [make(k)(1.0) for k in {}]\n"
        "print(json.dumps([results, len(names)]))"
    )
    for factors, results, compiled in (("(2.0,)", [6.0], 2), ("(3.0,)", [9.0], 2), ("(2.0, 3.0)", [6.0, 9.0], 0)):
        assert python(code.format(factors), place, PLIANT_CACHE=cache) == [results, compiled]


def test_a_kernel_may_close_over_an_array(place: Path) -> None:
    (place / "factory.py").write_text(
        "from pliant.kernel import kernel\ndef make(table):\n    @kernel\n    def entry(i):\n        return table[i]\n"
        "    return entry\n"
    )
    code = "import json; import numpy as np; from factory import make\nprint(json.dumps(make(np.array({}))(1)))"
    for table, entry in (("[1.0, 2.0]", 2.0), ("[1.0, 3.0]", 3.0)):
        assert python(code.format(table), place, PLIANT_CACHE=str(place / "cache")) == entry


def test_an_exception_with_arguments_survives_the_cache(place: Path) -> None:
    (place / "raising.py").write_text(
        "from pliant.kernel import kernel\n@kernel\ndef fails(x):\n    if x > 1.0:\n        raise ValueError('no', x)\n"
        "    return x\n@kernel\ndef calls(x):\n    return fails(x) + 1.0\n"
    )
    code = (
        "import gc, json; from raising import calls; gc.collect()\n"
        "try:\n    calls(2.0)\nexcept ValueError as error:\n    print(json.dumps(error.args))\n"
    )
    for _ in range(2):
        assert python(code, place, PLIANT_CACHE=str(place / "cache")) == ["no", 2.0]


def test_running_uncompiled_does_not_make_the_cache_look_ready(tmp_path: Path) -> None:
    code = "import json; from pliant.compiling import ahead; ahead.ensure('kinematics'); "
    code += "print(json.dumps(ahead.is_ready('kinematics')))"
    place = str(tmp_path / "cache")
    assert python(code, tmp_path, PLIANT_CACHE=place, NUMBA_DISABLE_JIT="1") is False
