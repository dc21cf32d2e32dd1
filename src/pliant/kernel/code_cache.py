"""The cache of machine code: one file for each entry, in a folder that belongs to this user alone.

An entry is a pickle, which runs code when it is read, so nothing is read that another user could have written: the
folder and each file must be ours, and no symbolic link is followed. Entries are written whole or not at all, carry a
checksum, and are named by what they were made from, so several processes can share the folder without a lock.

The folder is `$PLIANT_CACHE`, or `pliant/kernels` in the user's cache folder. Where no such folder can be had, entries
are kept in memory until the process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pliant.errors import InputError

MAX_AGE_S = 60 * 86400.0
"""Entries that have not been used for this long are removed."""

MAX_BYTES = 300 * 2**20
"""If all entries together are larger, the least recently used ones are removed."""

MARK = "ready-"
"""Prefix of entries that mark others as complete: they are removed first when anything is removed."""

_SUFFIX = ".kernel"
_MAGIC = b"pliant kernel 1\n"
_UNFINISHED = re.compile(r"[0-9a-f]{32}\.tmp")
_OLD_FOLDER = re.compile(r"\w+-[0-9a-f]{12}")
_OLD_MARK = re.compile(r"ready-[0-9a-f]{24}")
_UNTOUCHED_S = 86400.0
_ABANDONED_S = 3600.0


@dataclass(frozen=True)
class Entry:
    """A file in the cache."""

    name: str
    bytes: int
    used_s: float
    """When it was last used [s since 1970], to a day."""


class Cache:
    """Named byte strings in a private folder, or in memory where `folder` is None."""

    def __init__(self, folder: Path | None, problem: str = "") -> None:
        self.folder = folder
        self.problem = problem
        """Why there is no permanent folder ("" if there is one)."""
        self._memory: dict[str, bytes] = {}

    def load(self, name: str) -> bytes | None:
        """The content of an entry, or None if it does not exist, is damaged, or belongs to another user."""
        if self.folder is None:
            return self._memory.get(name)
        try:
            with _private_folder(self.folder) as folder:
                content = _read(name + _SUFFIX, folder)
        except OSError:
            return None
        head, check, data = content[: len(_MAGIC)], content[len(_MAGIC) :][:32], content[len(_MAGIC) + 32 :]
        return data if head == _MAGIC and hashlib.sha256(data).digest() == check else None

    def save(self, name: str, data: bytes) -> None:
        """Store an entry. If the folder is full or was removed, only this entry is lost."""
        if self.folder is None:
            self._memory[name] = data
            return
        unfinished = f"{uuid.uuid4().hex}.tmp"
        with contextlib.suppress(OSError), _private_folder(self.folder) as folder:
            try:
                handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
                with open(handle, "wb") as file:  # noqa: PTH123 (a descriptor)
                    file.write(_MAGIC + hashlib.sha256(data).digest() + data)
                os.replace(unfinished, name + _SUFFIX, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(unfinished, dir_fd=folder)
                raise

    def entries(self) -> list[Entry]:
        """All entries, the most recently used first."""
        if self.folder is None:
            return [Entry(name, len(data), time.time()) for name, data in self._memory.items()]
        found = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                found.append(Entry(path.name.removesuffix(_SUFFIX), status.st_size, status.st_mtime))
        return sorted(found, key=lambda entry: -entry.used_s)

    def prune(self, max_age_s: float = MAX_AGE_S, max_bytes: int = MAX_BYTES) -> list[Entry]:
        """Remove entries that have not been used for long, and the oldest above a size; returns the removed ones."""
        kept, removed, now = 0, [], time.time()
        for entry in self.entries():
            kept += entry.bytes
            if kept > max_bytes or now - entry.used_s > max_age_s:
                kept -= entry.bytes
                removed.append(entry)
        if removed:
            for entry in self.entries():
                if entry.name.startswith(MARK):
                    self._remove(entry.name)
        for entry in removed:
            self._remove(entry.name)
        if self.folder is not None:
            _sweep(self.folder, now)
        return removed

    def clear(self) -> list[Entry]:
        """Remove all entries; returns them."""
        return self.prune(max_bytes=-1)

    def _remove(self, name: str) -> None:
        self._memory.pop(name, None)
        if self.folder is not None:
            (self.folder / (name + _SUFFIX)).unlink(missing_ok=True)


@contextlib.contextmanager
def _private_folder(folder: Path) -> Iterator[int]:
    """A descriptor of a folder that was seen to be ours, so that it cannot be exchanged meanwhile."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if problem := _not_private(os.fstat(handle)):
            raise PermissionError(problem)
        yield handle
    finally:
        os.close(handle)


def _not_private(status: os.stat_result) -> str:
    """What lets others write there ("" if nothing does)."""
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "is writable by other users"
    return ""


def _read(name: str, folder: int) -> bytes:
    """A file of ours; notes about once a day that it was used."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with open(handle, "rb") as file:  # noqa: PTH123 (a descriptor)
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or _not_private(status):
            raise PermissionError(name)
        if time.time() - status.st_mtime > _UNTOUCHED_S:
            os.utime(handle)
        return file.read()


def _sweep(folder: Path, now: float) -> None:
    """Remove what killed processes have left unfinished, and what versions before this one kept here."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if _UNFINISHED.fullmatch(path.name) and now - path.lstat().st_mtime > _ABANDONED_S:
                path.unlink()
            elif _OLD_FOLDER.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                if {file.suffix for file in path.iterdir()} <= {".nbi", ".nbc"}:
                    shutil.rmtree(path, ignore_errors=True)
            elif _OLD_MARK.fullmatch(path.name):
                path.unlink()


_opened: dict[tuple[str | None, ...], Cache] = {}


def open_cache() -> Cache:
    """The cache of this process. Without a private folder it ends with the process; `problem` is the reason."""
    if (found := _opened.get(_place())) is not None:
        return found
    if own := os.environ.get("PLIANT_CACHE"):
        if problem := _prepare(Path(own)):
            raise InputError("PLIANT_CACHE", own, f"a private, writable folder (it {problem})")
        opened = Cache(Path(own).absolute())
    else:
        opened = _open_default()
    _opened[_place()] = opened
    return opened


def _open_default() -> Cache:
    """The cache in the user's cache folder, or one for this process alone."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "pliant" / "kernels"
    except RuntimeError:
        return Cache(_folder_for_now(), "this user has no home folder")
    problem = _prepare(folder)
    return Cache(_folder_for_now(), f"{folder} {problem}") if problem else Cache(folder)


def _place() -> tuple[str | None, ...]:
    return tuple(os.environ.get(name) for name in ("PLIANT_CACHE", "XDG_CACHE_HOME", "HOME"))


def _prepare(folder: Path) -> str:
    """Make the folder, for this user alone; what stands in the way ("" if nothing does)."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        with _private_folder(folder):
            if not os.access(folder, os.W_OK):
                return "is not writable"
    except PermissionError as error:
        return str(error) if error.errno is None else "is not writable"
    except NotADirectoryError:
        return "is a symbolic link or not a folder"
    except OSError as error:
        return f"cannot be used: {error.strerror or error}"
    return ""


def _folder_for_now() -> Path | None:
    """A folder with a name nobody can guess, for this process and those that it starts; gone when it ends."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="pliant-"))
    except OSError:
        return None
    os.environ["PLIANT_CACHE"] = str(folder)
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder
