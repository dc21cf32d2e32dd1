"""Files that nobody would write on purpose: each is rejected quickly, with one sentence of ordinary length."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import InputError, PliantError
from pliant.mobile.mission.mission_task import find_mission, place_of
from pliant.params import outside_files
from pliant.params.outside_yaml import MOST_CHARACTERS, MOST_LEVELS, MOST_VALUES, parse_yaml
from pliant.params.yaml_file import update_file
from pliant.robots.robot_registry import kind_of
from pliant.task.schema import Task, arm_of, is_mission, load_task

LONGEST = 700
"""Characters of a sentence that a person reads."""
LONG = "x" * 5000


def bomb(values: str, levels: int, field: str) -> str:
    """A field whose value has nine to the power of `levels` parts, in a few lines."""
    lines = [f"a0: &a0 [{', '.join([values] * 9)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"{field}: *a{levels - 1}", ""])


TEXTS = {
    "deep lists": "a: " + "[" * 100_000,
    "deep mappings": "{a: " * 50_000,
    "deep blocks": "- " * 100_000,
    "deep indentation": "\n".join(" " * level + "a:" for level in range(600)),
    "a bomb of words": bomb("x", 9, "robot"),
    "a bomb of numbers": bomb("1.0", 7, "start_q"),
    "a bomb in a mapping": bomb("1.0", 9, "params"),
    "a value that contains itself": "robot: &a [*a]\n",
    "a mapping that contains itself": "sim: &a {sensor: *a}\n",
    "many entries": "".join(f"k{n}: 1\n" for n in range(30_000)),
    "as many entries as allowed": "".join(f"k{n}: 1\n" for n in range(MOST_VALUES // 2 - 1)),
    "as many values as allowed": f"start_q: [{', '.join(['x'] * (MOST_VALUES - 10))}]",
    "a long file": "# x\n" * 200_000,
    "a long word": f"robot: {'x' * 100_000}\n",
    "a long number": f"rate_hz: 1{'0' * 5000}\n",
    "NUL": "robot: \0\n",
    "NUL in a robot": 'robot: "sim:a\\0b.xml"\n',
    "NUL in a driver": 'robot: "a\\0b.py:x"\n',
    "NUL in a law": 'law: "a\\0b.py"\n',
    "NUL in a surface": 'sim: {surfaces: [{kind: "a\\0.py"}]}\n',
    "NUL in a map": 'kind: mission\nmap: "a\\0b"\ngoal_m: [1, 2, 3]\n',
    "a long robot file": f"robot: sim:{LONG[:4000]}.xml\n",
    "a long driver": f"robot: {LONG[:4000]}.py:x\n",
    "a long law": f"law: {LONG[:4000]}.py\n",
    "a long surface": f"sim: {{surfaces: [{{kind: {LONG[:4000]}.py}}]}}\n",
    "a long map": f"kind: mission\nmap: {LONG[:4000]}.yaml\ngoal_m: [1, 2, 3]\n",
    "a pipe as robot": "robot: sim:pipe.xml\n",
    "a pipe as driver": "robot: pipe.py:x\n",
    "a pipe as law": "law: pipe.py\n",
    "a pipe as sensor": "sensor: {kind: pipe.py}\n",
    "a pipe as map": "kind: mission\nmap: pipe.yaml\ngoal_m: [1, 2, 3]\n",
    "a folder as robot": "robot: sim:folder.xml\n",
    "a folder as driver": "robot: folder.py:x\n",
    "a folder as law": "law: folder.py\n",
    "ROS parameters that are a number": "n: {ros__parameters: 5}\n",
    "ROS parameters that are a list": "n: {ros__parameters: [1, 2]}\n",
    "ROS admittance that is a number": "n: {ros__parameters: {admittance: 5}}\n",
    "ROS admittance that is a list": "n: {ros__parameters: {admittance: [mass]}}\n",
    "laws that are a number": "own_laws: 5\n",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with pipes and folders that are called like files; whatever waits for a pipe is interrupted."""
    for name in ("pipe.xml", "pipe.py", "pipe.yaml"):
        os.mkfifo(tmp_path / name)
    for name in ("folder.xml", "folder.py"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(60)  # on a busy machine; they take milliseconds
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def read(name: str) -> None:
    """What `pliant run` does with a task or mission before anything moves."""
    if is_mission(name):
        mission = find_mission(name)
        assert mission is not None
        place_of(mission)
    else:
        task = load_task(name)
        kind_of(task.robot)
        arm_of(task)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_strange_task_file_is_rejected_with_one_sentence(here: Path, kind: str) -> None:
    (here / "task.yaml").write_text(TEXTS[kind])
    with pytest.raises(PliantError) as caught:
        read("task.yaml")
    assert len(str(caught.value)) < LONGEST
    assert "\0" not in str(caught.value)


@pytest.mark.parametrize(
    "name", [LONG, LONG + ".yaml", "/" + "x/" * 3000, "a\0b", "pipe.yaml", "folder.xml", "/dev/zero", "/dev/null", ""]
)
def test_a_strange_name_of_a_task_is_rejected_with_one_sentence(here: Path, name: str) -> None:
    with pytest.raises(PliantError) as caught:
        read(name)
    assert len(str(caught.value)) < LONGEST


def test_reading_a_bomb_takes_little_memory(here: Path) -> None:
    (here / "task.yaml").write_text(TEXTS["a bomb of words"])
    limit = 2 << 30  # of address space: the libraries reserve most of it
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    code += "from pliant.task.schema import load_task\nload_task('task.yaml')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert f"has more than {MOST_VALUES} values" in done.stderr.splitlines()[-1]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0


def test_the_limits_are_far_beyond_the_longest_task() -> None:
    text = Task().model_dump_json()
    assert parse_yaml(text, "task") == Task().model_dump(mode="json")
    deep = "[" * (MOST_LEVELS - 1) + "]" * (MOST_LEVELS - 1)
    assert parse_yaml(deep, "task") != 0
    with pytest.raises(InputError, match="nested more than"):
        parse_yaml(f"[[{deep}]]", "task")
    assert len(parse_yaml(f"a: {'x' * MOST_CHARACTERS}", "task")["a"]) == MOST_CHARACTERS


def test_an_alias_that_repeats_little_is_fine() -> None:
    assert parse_yaml("a: &a [1, 2]\nb: [*a, *a]\n", "task") == {"a": [1, 2], "b": [[1, 2], [1, 2]]}


def test_a_task_may_come_from_a_pipe(here: Path) -> None:
    code = "import sys; from pliant.task.schema import load_task; print(load_task(sys.argv[1]).law)"
    line = f"{sys.executable} -c '{code}' <(sleep 0.5; echo 'law: admittance')"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "admittance\n", done.stderr


def test_a_pipe_into_which_nothing_comes_is_given_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_files, "_PIPE_S", 0.2)
    writer = os.open("pipe.yaml", os.O_RDWR)
    try:
        with pytest.raises(InputError, match=r"pipe\.yaml is a pipe into which nothing was written for 0\.2 s"):
            load_task("pipe.yaml")
    finally:
        os.close(writer)


@pytest.mark.parametrize("kind", ["a bomb of words", "deep lists", "a long file"])
def test_a_strange_file_is_not_written_to(here: Path, kind: str) -> None:
    (here / "task.yaml").write_text(TEXTS[kind])
    with pytest.raises(InputError):
        update_file(here / "task.yaml", {"robot": "sim:ur5e"})
    assert (here / "task.yaml").read_text() == TEXTS[kind]


SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ANYTHING = st.recursive(
    SIMPLE, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=9) | SIMPLE, part, max_size=3)
)
FIELDS = st.sampled_from([*Task.model_fields, "kind", "ros__parameters"])


@given(st.dictionaries(FIELDS, ANYTHING, max_size=3))
def test_any_value_anywhere_ends_in_a_task_or_in_one_of_our_errors(data: dict[str, Any]) -> None:
    try:
        Task.model_validate(data)
    except PliantError as error:
        assert len(str(error)) < 4 * LONGEST  # noqa: PT017 (whether it is raised depends on the data)
