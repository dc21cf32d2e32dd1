"""The files that a page may name: tasks and maps in the Studio's folders, and those that come with Pliant.

A page has the rights of its link, not those of the user. So it names files in a few folders only, and an error about a
file never contains a part of it: a file with the right ending may still be something else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pliant.errors import PliantError, RejectedError, said
from pliant.task.bundled_files import find_bundled
from pliant.task.task_file import own_task

TASKS = (".yaml", ".yml")
MAPS = (*TASKS, ".pgm", ".png", ".npy")

T = TypeVar("T")


class TaskFolders:
    """The folders whose files a page may name: the working folder, and those added."""

    def __init__(self) -> None:
        self._folders = [Path.cwd()]
        self._files: set[Path] = set()

    def add(self, folder: Path) -> None:
        """Allow the files below one more folder."""
        if not folder.is_dir():
            raise RejectedError(f"{folder} is not a folder. Give a folder with task files.", field="--folder")
        self._folders.append(folder.resolve())

    def add_file(self, path: Path) -> None:
        """Allow a file that the user has named, and the folder that it is in."""
        self._files.add(path.resolve())
        self.add(path.parent)

    def file(self, kind: str, name: str) -> Path:
        """The task or map (`kind`) that a page names; raises for a file that it may not use."""
        endings = TASKS if kind == "task" else MAPS
        found = self._own(endings, name) or find_bundled(kind, name)
        if found is None:
            folders = " or ".join(dict.fromkeys(map(str, self._folders)))
            raise RejectedError(
                f"There is no {kind} {said(name)} here. Name one that comes with Pliant, or a file "
                f"({', '.join(endings)}) in {folders}. To allow another folder, start the Studio with --folder.",
                field=f"the {kind}",
                value=name,
            )
        return found

    def load(self, name: str, load: Callable[[Path], T], kind: str = "task") -> T:
        """A task or map that a page names, as `load` reads it. What is wrong with it is not reported to the page."""
        path = self.file(kind, name)
        try:
            return load(path)
        except PliantError:
            how = f"To see why: pliant check {name}" if kind == "task" else "Check it in the terminal: pliant plan"
            sentence = f"{said(name)} is not a {kind} that can be used. {how}."
            raise RejectedError(sentence, field=f"the {kind}", value=name) from None

    def writable(self, name: str) -> Path:
        """The task file that a page may save to; one that comes with Pliant is rejected."""
        if self._own(TASKS, name) is None and find_bundled("task", name) is not None:
            own_task(name)
        path = self.file("task", name)
        self.load(name, own_task)
        return path

    def _own(self, endings: tuple[str, ...], name: str) -> Path | None:
        """The file of this name, with links followed, if it is in one of the folders; else None."""
        try:
            path = Path(name).resolve()
            if not path.is_file():
                return None
        except (OSError, ValueError, RuntimeError):  # no file can have this name
            return None
        is_here = path.suffix.lower() in endings and any(map(path.is_relative_to, self._folders))
        return path if path in self._files or (is_here and not self._is_hidden(path)) else None

    def _is_hidden(self, path: Path) -> bool:
        """Whether a file is hidden, or in a hidden folder below each of the folders that it is in."""
        below = [path.relative_to(folder).parts for folder in self._folders if path.is_relative_to(folder)]
        return all(any(part.startswith(".") for part in parts) for parts in below)
