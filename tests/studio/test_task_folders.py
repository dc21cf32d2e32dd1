"""A page names files in the Studio's folders only, and never learns what is in a file that is not a task."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pliant.errors import PliantError, RejectedError
from pliant.studio.stage.stage import Stage
from pliant.studio.stage.task_folders import TaskFolders
from pliant.task.bundled_files import find_bundled
from pliant.task.schema import load_task

TASK = "robot: sim:ur5e\nlaw: hold\n"
PRIVATE = "password: correct-horse\nlaw: battery-staple\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a task; `elsewhere`, beside it, has one too."""
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.yaml").write_text(TASK)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def folders(here: Path) -> TaskFolders:
    return TaskFolders()


def test_a_page_may_name_what_comes_with_pliant_and_files_in_the_working_folder(
    folders: TaskFolders, here: Path
) -> None:
    (here / "deep").mkdir()
    (here / "deep" / "other.yml").write_text(TASK)
    for name in ("mine.yaml", "./mine.yaml", str(here / "mine.yaml"), "deep/other.yml", "deep/../mine.yaml"):
        assert folders.file("task", name).read_text() == TASK
    assert folders.file("task", "push") == find_bundled("task", "push")
    assert folders.file("map", "flat") == find_bundled("map", "flat")


@pytest.mark.parametrize(
    "name",
    [
        *("../elsewhere/mine.yaml", "link.yaml", "linked/mine.yaml", ".hidden.yaml", ".hidden/mine.yaml", "mine.txt"),
        *(
            "",
            ".",
            "nothing.yaml",
            "nul\0.yaml",
            "x" * 5000 + ".yaml",
            "~/mine.yaml",
            "/dev/zero",
            "/proc/self/environ",
        ),
        *("/proc/self/environ", "folder.yaml", "pipe.yaml"),
    ],
)
def test_any_other_file_is_as_if_it_did_not_exist(folders: TaskFolders, here: Path, name: str) -> None:
    (here / "link.yaml").symlink_to("../elsewhere/mine.yaml")
    (here / "linked").symlink_to("../elsewhere")
    (here / ".hidden").mkdir()
    for file in (".hidden.yaml", ".hidden/mine.yaml", "mine.txt"):
        (here / file).write_text(TASK)
    (here / "folder.yaml").mkdir()
    os.mkfifo(here / "pipe.yaml")
    for read in (lambda: folders.load(name, load_task), lambda: folders.writable(name)):
        with pytest.raises(RejectedError, match=r"There is no task .* here\. Name one that comes with Pliant, or a fi"):
            read()


def test_another_folder_and_the_file_from_the_command_line_can_be_allowed(folders: TaskFolders, here: Path) -> None:
    elsewhere, odd = here.parent / "elsewhere", here.parent / "task-without-ending"
    odd.write_text(TASK)
    folders.add(elsewhere)
    folders.add_file(odd)
    assert folders.file("task", "../elsewhere/mine.yaml") == elsewhere / "mine.yaml"
    assert folders.file("task", str(odd)) == odd
    with pytest.raises(RejectedError, match="is not a folder"):
        folders.add(odd)


@pytest.mark.parametrize("text", [PRIVATE, "law: battery-staple\n", "- correct-horse\n", "[correct-horse", "\0horse"])
def test_what_is_in_a_file_that_is_no_task_does_not_reach_the_page(folders: TaskFolders, here: Path, text: str) -> None:
    (here / "other.yaml").write_text(text)
    stage = Stage()
    for read in (
        lambda: folders.writable("other.yaml"),
        lambda: stage.start("other.yaml"),
        lambda: stage.preset("other.yaml"),
    ):
        with pytest.raises(RejectedError) as caught:
            read()
        said = "'other.yaml' is not a task that can be used. To see why: pliant check other.yaml."
        assert str(caught.value) == said
    assert (here / "other.yaml").read_text() == text


def test_a_task_that_comes_with_pliant_is_not_written_to(folders: TaskFolders) -> None:
    with pytest.raises(RejectedError, match=r"'push' comes with Pliant and cannot be changed\. Copy "):
        folders.writable("push")


def test_the_task_of_the_command_line_is_reported_in_full_in_the_terminal(here: Path) -> None:
    (here.parent / "elsewhere" / "wrong.yaml").write_text("law: battery-staple\n")
    with pytest.raises(PliantError, match="battery-staple"):
        Stage().begin("../elsewhere/wrong.yaml")
