"""A program changes values in a YAML file, and nothing else in it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from pliant.errors import InputError
from pliant.params.yaml_file import update_file
from support.properties import examples

TASK = """\
# A task of my own.
robot:   sim:ur5e      # the small one
law: "hold"

tool: {mass_kg: 0.8,  com_m: [0, 0, 0.06], tcp_m: [0, 0, 0.15]}   # as weighed

params:
    sense:
        cutoff_hz: 30          # quiet enough
        bias:
            - 0.0
            - 0.0   # fy
            - 0.0
            - 0.0
            - 0.0
            - 0.0
        # the deadband follows
        deadband_n: 1.0

sim:
  pushes:
      - {at_s: 1,   wrench: [20, 0, 0, 0, 0, 0]}

# The end.
"""


def load(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text())


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task.yaml"
    path.write_text(TASK)
    return path


LISTS = """\
mass: [{}, {},  # kg
  {}]  # all
com_m:
  - {}  # x
  # between
  - {}  # y
K: [[{}, 0.0], [0.0, 1.0]]
"""


def test_of_a_list_as_long_as_before_every_comment_stays(tmp_path: Path) -> None:
    path = tmp_path / "lists.yaml"
    path.write_text(LISTS.format(8, 8, 8, 0.1, 0.2, 1.0))
    update_file(path, {"mass": [5.0, 6.0, 7.0], "com_m": [0.3, 0.4], "K": [[2.0, 0.0], [0.0, 1.0]]})
    assert path.read_text() == LISTS.format(5.0, 6.0, 7.0, 0.3, 0.4, 2.0)


def test_only_the_value_changes(task: Path) -> None:
    update_file(task, {"params.sense.cutoff_hz": 25.5, "tool.mass_kg": 1.25, "law": "admittance"})
    expected = TASK.replace("cutoff_hz: 30 ", "cutoff_hz: 25.5 ").replace("mass_kg: 0.8,", "mass_kg: 1.25,")
    assert task.read_text() == expected.replace('"hold"', "admittance")


def test_a_list_in_braces_and_a_list_by_lines_are_replaced(task: Path) -> None:
    update_file(task, {"tool.com_m": (0.001, -0.002, 0.05), "params.sense.bias": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]})
    assert load(task)["tool"]["com_m"] == [0.001, -0.002, 0.05]
    assert load(task)["params"]["sense"]["bias"] == [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    assert "# the deadband follows\n        deadband_n: 1.0\n" in task.read_text()


def test_a_matrix_is_written_as_rows(task: Path) -> None:
    matrix = tuple(tuple(float(i == j) for j in range(3)) for i in range(3))
    update_file(task, {"params.matrix": matrix})
    assert load(task)["params"]["matrix"] == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_content_that_the_caller_refuses_is_not_written(task: Path) -> None:
    def refuse(data: dict[str, Any]) -> None:
        raise InputError("tool.mass_kg", data["tool"]["mass_kg"], "smaller")

    with pytest.raises(InputError, match=r"tool\.mass_kg is 9, but it must be smaller"):
        update_file(task, {"tool.mass_kg": 9.0}, check=refuse)
    assert task.read_text() == TASK


def test_what_is_not_there_is_put_at_the_end_of_its_mapping(task: Path) -> None:
    update_file(task, {"tool.tip_radius_m": 0.01, "params.sense.range_n": 100, "params.limits.speed_scale": 0.25})
    text = task.read_text()
    assert "tcp_m: [0, 0, 0.15], tip_radius_m: 0.01}   # as weighed\n" in text
    assert "        deadband_n: 1.0\n        range_n: 100\n    limits:\n      speed_scale: 0.25\n\nsim:\n" in text
    update_file(task, {"sim.sensor.noise_n": 0.1, "duration_s": 3.0})
    assert load(task)["sim"]["sensor"] == {"noise_n": 0.1}
    assert task.read_text().index("duration_s: 3.0") > task.read_text().index("pushes")
    assert task.read_text().endswith("# The end.\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "tool:\n  mass_kg: 1.5\n"),
        ("# nothing yet\n", "# nothing yet\ntool:\n  mass_kg: 1.5\n"),
        ("law: hold", "law: hold\ntool:\n  mass_kg: 1.5\n"),
        ("tool:\nlaw: hold\n", "tool: {mass_kg: 1.5}\nlaw: hold\n"),
        ("tool: {}  # empty\n", "tool: {mass_kg: 1.5}  # empty\n"),
        ("tool: {com_m: [0, 0, 1],}\n", "tool: {com_m: [0, 0, 1], mass_kg: 1.5,}\n"),
        ("tool:\r\n  tcp_m: [1]\r\nlaw: hold\r\n", "tool:\r\n  tcp_m: [1]\r\n  mass_kg: 1.5\r\nlaw: hold\r\n"),
        ("tool: {\n  com_m: [0, 0, 1],  # far\n}\n", "tool: {\n  com_m: [0, 0, 1], mass_kg: 1.5,  # far\n}\n"),
        ("tool:\n  mass_kg: 1.0  # kg\n  com_m: [0, 0, 0.1]\n", "tool:\n  mass_kg: 1.5  # kg\n  com_m: [0, 0, 0.1]\n"),
    ],
)  # fmt: skip
def test_every_style_of_file_can_be_changed(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(before.encode())
    update_file(path, {"tool.mass_kg": 1.5})
    assert load(path)["tool"]["mass_kg"] == 1.5
    assert path.read_bytes().decode() == after


def test_the_file_keeps_its_permissions_and_nothing_is_left_beside_it(task: Path) -> None:
    task.chmod(0o640)
    update_file(task, {"law": "admittance"})
    assert stat.S_IMODE(task.stat().st_mode) == 0o640
    assert os.listdir(task.parent) == ["task.yaml"]  # noqa: PTH208 (hidden files too)


def test_a_link_stays_a_link(task: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(task)
    update_file(link, {"law": "admittance"})
    assert link.is_symlink()
    assert load(task)["law"] == "admittance"


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: 1}\nc: *x\n",  # changing c.b would change a.b
        "law: hold\nlaw: hold\n",
        "- 1\n- 2\n",
        "a: [1\n",
        "c: 5\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused_and_stays_as_it_is(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(InputError):
        update_file(path, {"c.b": 2})
    assert path.read_text() == text


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.yaml"):
        update_file(tmp_path / "gone.yaml", {"a": 1})


values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**12), 10**12),
    st.booleans(),
    st.sampled_from(["hold", "no", "null", "1.5", "a: b", "# x", "sim:ur5e", "", "ä", "yes"]),
    st.lists(st.floats(-1e6, 1e6), max_size=6),
)
names = st.sampled_from(["law", "tool.mass_kg", "tool.extra.deep", "params.sense.bias", "params.new", "sim.x", "top"])


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that every example of a property writes anew."""
    return tmp_path_factory.mktemp("again") / "task.yaml"


@examples(100)
@given(changes=st.dictionaries(names, values, min_size=1))
def test_any_values_are_read_back_and_comments_stay(changes: dict[str, Any], again: Path) -> None:
    path = again
    path.write_text(TASK)
    update_file(path, changes)
    found = load(path)
    for dotted, value in changes.items():
        node = found
        for part in dotted.split("."):
            node = node[part]
        assert node == value
    text = path.read_text()
    for comment in ("# A task of my own.", "# the small one", "# as weighed", "# the deadband follows", "# The end."):
        assert comment in text
