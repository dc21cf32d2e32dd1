"""The cache of compiled code: private, whole entries, pruned."""

import os
import pickle
import stat
import time
from pathlib import Path

import pytest
from processes import python, run

from pliant.errors import InputError
from pliant.kernel import code_cache as module
from pliant.kernel.code_cache import Cache, open_cache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "kernels"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache folder that is empty."""
    monkeypatch.setenv("PLIANT_CACHE", "")  # opening the cache may set it: this takes it back
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_is_saved_is_loaded_again_and_readable_by_its_owner_alone(home: Path) -> None:
    cache = open_cache()
    cache.save("a", b"content")
    assert open_cache().load("a") == b"content"
    assert cache.load("b") is None
    assert cache.folder is not None
    assert cache.folder == home / "pliant" / "kernels"
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((cache.folder / "a.kernel").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:40], lambda data: b"", lambda data: data[:-1] + b"!"]
)
def test_a_damaged_entry_counts_as_missing_and_can_be_saved_again(folder: Path, damage) -> None:
    cache = Cache(folder)
    cache.save("a", b"content")
    path = folder / "a.kernel"
    path.write_bytes(damage(path.read_bytes()))
    assert cache.load("a") is None
    cache.save("a", b"content")
    assert cache.load("a") == b"content"


def test_an_entry_that_others_could_have_written_is_not_read(folder: Path) -> None:
    cache = Cache(folder)
    cache.save("a", b"content")
    (folder / "a.kernel").chmod(0o620)
    assert cache.load("a") is None


def test_a_link_in_place_of_an_entry_is_not_followed(folder: Path, tmp_path: Path) -> None:
    cache = Cache(folder)
    cache.save("a", b"content")
    (folder / "a.kernel").rename(tmp_path / "elsewhere")
    (folder / "a.kernel").symlink_to(tmp_path / "elsewhere")
    assert cache.load("a") is None
    cache.save("a", b"other")
    assert cache.load("a") == b"other"
    assert (tmp_path / "elsewhere").read_bytes().endswith(b"content")


def test_a_pipe_in_place_of_an_entry_does_not_hang(folder: Path) -> None:
    os.mkfifo(folder / "a.kernel")
    assert Cache(folder).load("a") is None


class Planted:
    """What runs when it is read from a pickle."""

    def __reduce__(self):
        return (os.mkdir, ("planted",))


def test_a_planted_pickle_is_never_run(tmp_path: Path) -> None:
    """An entry of the right name, whole but writable by others, and one with content that was not saved by us."""
    (tmp_path / "probe.py").write_text("from pliant.kernel import kernel\n@kernel\ndef f(x):\n    return 2.0 * x\n")
    code = "import json; from probe import f; print(json.dumps(f(1.5)))"
    kept = tmp_path / "cache"
    assert python(code, tmp_path, PLIANT_CACHE=str(kept)) == 3.0
    (entry,) = kept.glob("probe.f-*.kernel")
    Cache(kept).save(entry.name.removesuffix(".kernel"), pickle.dumps(Planted()))
    entry.chmod(0o666)
    assert python(code, tmp_path, PLIANT_CACHE=str(kept)) == 3.0
    entry.write_bytes(pickle.dumps(Planted()))
    entry.chmod(0o600)
    assert python(code, tmp_path, PLIANT_CACHE=str(kept)) == 3.0
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("kind", ["writable by others", "a link", "a file"])
def test_a_folder_that_is_not_private_is_not_used_and_the_reason_is_given(
    home: Path, tmp_path: Path, kind: str
) -> None:
    place = home / "pliant" / "kernels"
    place.parent.mkdir(parents=True)
    if kind == "writable by others":
        place.mkdir()
        place.chmod(0o777)
        expected = "is writable by other users"
    elif kind == "a link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
        expected = "is a symbolic link or not a folder"
    else:
        place.touch()
        expected = "is a symbolic link or not a folder"
    cache = open_cache()
    assert cache.problem == f"{place} {expected}"
    assert cache.folder != place
    cache.save("a", b"content")
    assert cache.load("a") == b"content"
    if place.is_dir():
        assert list(place.iterdir()) == []


def test_a_folder_of_another_user_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home / "pliant" / "kernels"
    place.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(module.os, "geteuid", lambda: place.stat().st_uid + 1)
    assert "belongs to user" in module._prepare(place)


def test_a_named_folder_that_cannot_be_used_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="PLIANT_CACHE"):
        open_cache()


def test_without_a_private_folder_the_command_works_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "pliant" / "kernels"
    place.mkdir(parents=True)
    place.chmod(0o777)
    (tmp_path / "tmp").mkdir()
    code = "from pliant.cli.show import compile_first; compile_first('kinematics')"
    done = run(code, tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"), TMPDIR=str(tmp_path / "tmp"), PLIANT_CACHE="")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "The compiled code cannot be cached" in said
    assert "is writable by other users" in said
    assert list(place.iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_entries_in_memory_where_no_folder_can_be_had(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "pliant").touch()
    monkeypatch.setattr(module.tempfile, "mkdtemp", lambda **_: (_ for _ in ()).throw(OSError))
    cache = open_cache()
    assert cache.folder is None
    cache.save("a", b"content")
    assert cache.load("a") == b"content"
    assert [entry.name for entry in cache.entries()] == ["a"]
    cache.clear()
    assert cache.load("a") is None


def test_pruning_removes_what_was_not_used_for_long_and_the_oldest_beyond_a_size(folder: Path) -> None:
    cache, now = Cache(folder), time.time()
    for name, age_days in (("new", 0), ("used", 10), ("old", 20), ("forgotten", 70)):
        cache.save(name, bytes(1000))
        used = now - age_days * 86400.0
        os.utime(folder / f"{name}.kernel", (used, used))
    assert [entry.name for entry in cache.prune()] == ["forgotten"]
    assert [entry.name for entry in cache.prune(max_bytes=2200)] == ["old"]
    assert [entry.name for entry in cache.entries()] == ["new", "used"]
    assert {entry.name for entry in cache.clear()} == {"new", "used"}
    assert cache.entries() == []


def test_an_entry_that_is_used_is_not_forgotten(folder: Path) -> None:
    cache, long_ago = Cache(folder), time.time() - 50 * 86400.0
    cache.save("a", b"content")
    os.utime(folder / "a.kernel", (long_ago, long_ago))
    cache.load("a")
    assert cache.prune(max_age_s=86400.0) == []


def test_when_something_is_removed_nothing_claims_to_be_complete(folder: Path) -> None:
    cache = Cache(folder)
    for name in (f"{module.MARK}loop", "a", "b"):
        cache.save(name, bytes(1000))
    os.utime(folder / "b.kernel", (1.0, 1.0))
    cache.prune()
    assert [entry.name for entry in cache.entries()] == ["a"]


def test_what_is_not_of_the_cache_stays_in_a_folder_that_was_named_for_it(folder: Path) -> None:
    """Someone may name a folder with other things in it."""
    (folder / "project" / "__pycache__").mkdir(parents=True)
    for name in ("project/__pycache__/f-1.py311.nbi", "project/source.py", "notes.tmp", "ready-made.txt"):
        (folder / name).touch()
    os.utime(folder / "notes.tmp", (1.0, 1.0))
    Cache(folder).clear()
    assert {path.name for path in folder.iterdir()} == {"project", "notes.tmp", "ready-made.txt"}


def test_what_a_killed_process_left_unfinished_is_swept(folder: Path) -> None:
    old, new = "0" * 32 + ".tmp", "1" * 32 + ".tmp"
    for name in (old, new):
        (folder / name).write_bytes(b"half")
    os.utime(folder / old, (1.0, 1.0))
    Cache(folder).prune()
    assert [path.name for path in folder.iterdir()] == [new]


def test_a_user_without_a_home_folder_still_gets_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setenv("PLIANT_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(module.Path, "home", homeless)
    cache = module._open_default()
    assert "no home folder" in cache.problem
    cache.save("a", b"content")
    assert cache.load("a") == b"content"
