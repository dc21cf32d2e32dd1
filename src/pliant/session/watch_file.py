"""Apply a task file while its task runs: save it, and the loop uses the new parameters or the reason is reported."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import PliantError
from pliant.params.declare import flat
from pliant.params.matrix import shown
from pliant.session.link import Link
from pliant.task.schema import load_task


class FileWatch:
    """Watches a task file; a change of its parameters is applied as a whole or not at all."""

    def __init__(self, path: Path, link: Link) -> None:
        self.path, self.link = path, link
        self._seen = self._stamp()
        self._parameters = load_task(path, link.task.rate_hz).params

    def _stamp(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def poll(self) -> str:
        """A sentence about what happened, or "" if the file has not changed."""
        stamp = self._stamp()
        if stamp in (self._seen, (0, 0)):
            return ""
        self._seen = stamp
        try:
            wanted = load_task(self.path, self.link.task.rate_hz).params
            before, after = flat(self._parameters), flat(wanted)
            changes = {name: value for name, value in after.items() if value != before[name]}
            if not changes:
                return f"{self.path.name} was saved; no parameter changed."
            now = flat(self.link.parameters)
            if all(now[name] == value for name, value in changes.items()):
                self._parameters = wanted
                return f"{self.path.name} was saved; its values are already in use."
            notes = self.link.set(changes)
        except PliantError as error:
            return f"Not applied: {error}"
        self._parameters = wanted
        words = ", ".join(f"{name} = {shown(value)}" for name, value in changes.items())
        return " ".join((f"Applied: {words}.", *notes))
