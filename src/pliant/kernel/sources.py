"""Which source files a kernel's machine code depends on, as a digest.

A kernel can use what its module defines or imports, so its machine code depends on that file and on every file that it
imports, directly or not. Numba alone looks at the kernel's own file only, and would go on with the old machine code of
a function in another file. A digest of contents, not of paths or times: two copies of the same source agree.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import sysconfig
import time
from collections.abc import Iterator
from functools import cache as cache_results
from functools import lru_cache
from pathlib import Path

from pliant.kernel import code_cache

PACKAGE = Path(__file__).parent.parent
_INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_BEGAN_S = time.time()


def was_edited(file: Path) -> bool:
    """Whether `file` or one that it imports has changed since this process began, which may run what it was."""
    others, ours = _beside(file.resolve())
    now = time.time()  # a time to come is that of another clock
    paths = (*others, *(_package_files() if ours else ()))
    return any(_BEGAN_S < path.stat().st_mtime <= now for path in paths)


def digest_of_imports(file: Path) -> str:
    """A digest of the contents of `file` and of all source files that it imports, directly or not."""
    others, ours = _beside(file.resolve())
    known = _known()
    if new := [path for path in ours if _name(path) not in known]:
        known |= {_name(path): _digest(_reachable(path)) for path in new}
        code_cache.open_cache().save(state_of_package(), json.dumps(known).encode())
    if not others:
        return known[_name(file.resolve())]
    contents = (_digest(others), sorted((_name(path), known[_name(path)]) for path in ours))
    return hashlib.sha256(repr(contents).encode()).hexdigest()


def _beside(file: Path) -> tuple[set[Path], set[Path]]:
    """The files outside the package that `file` is or imports, and the files of the package that those import.

    Following the imports of the package takes long, so its digests are kept in the cache, and only others are followed.
    """
    if PACKAGE in file.parents:
        return set(), {file}
    others, ours, waiting = {file}, set[Path](), [file]
    while waiting:
        new = _imports(waiting.pop()) - others - ours
        ours |= {path for path in new if PACKAGE in path.parents}
        waiting += new - ours
        others |= new - ours
    return others, ours


@lru_cache(maxsize=1)
def _known() -> dict[str, str]:
    """The digests of files of the package that were asked for before, while it was as it is now."""
    kept = code_cache.open_cache().load(state_of_package())
    return json.loads(kept) if kept else {}


@lru_cache(maxsize=1)
def state_of_package() -> str:
    """A name for the present state of the package's source."""
    contents = [(_name(path), _content_digest(path)) for path in sorted(_package_files())]
    return f"sources-{hashlib.sha256(repr(contents).encode()).hexdigest()[:24]}"


def _package_files() -> Iterator[Path]:
    """The source files of the package; an editor may have put a link to nothing beside one."""
    return (path for path in PACKAGE.rglob("*.py") if path.is_file())


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix() if PACKAGE in path.parents else path.name


@cache_results
def _content_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(paths: set[Path]) -> str:
    contents = sorted((_name(path), _content_digest(path)) for path in paths)
    return hashlib.sha256(repr(contents).encode()).hexdigest()


def _reachable(file: Path) -> set[Path]:
    reached, waiting = {file}, [file]
    while waiting:
        new = _imports(waiting.pop()) - reached
        reached |= new
        waiting += new
    return reached


@cache_results
def _imports(file: Path) -> frozenset[Path]:
    """The source files that a file imports when it is imported itself: ours, and loose ones of a user."""
    found: set[Path] = set()
    for name in _imported_names(ast.parse(file.read_bytes()), file):
        found.update(_sources_of(name, file))
    return frozenset(found)


def _imported_names(tree: ast.Module, file: Path) -> Iterator[str]:
    """Dotted names in import statements that run with the module. Those inside functions run later, and bind nothing
    that a kernel could see; those for type checkers never run."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = _relative_to(file, node.level) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        waiting += ast.iter_child_nodes(node)


def _relative_to(file: Path, level: int) -> str:
    folder = file.parent
    for _ in range(level - 1):
        folder = folder.parent
    parts = [folder.name]
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
        parts.insert(0, folder.name)
    return ".".join(parts)


def _sources_of(name: str, importer: Path) -> Iterator[Path]:
    """The file of a dotted name and those of the packages around it, where they are ours or a user's own."""
    parts = name.split(".")
    if parts[0] == PACKAGE.name:
        for n in range(1, len(parts) + 1):
            place = PACKAGE.joinpath(*parts[1:n])
            yield from (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file())
        return
    for n in range(1, len(parts) + 1):
        origin = getattr(sys.modules.get(".".join(parts[:n])), "__file__", None) or ""
        if origin.endswith(".py") and _is_source(Path(origin).resolve(), importer):
            yield Path(origin).resolve()
    beside = importer.parent / f"{parts[0]}.py"
    if parts[0] not in sys.modules and beside.is_file():
        yield beside


def _is_source(file: Path, importer: Path) -> bool:
    """Whether a file changes with its importer: what is installed does not, except for the importer's own package."""
    for folder in _INSTALLED:
        if folder in file.parents:
            top = folder / file.relative_to(folder).parts[0]
            return top.is_dir() and top in importer.parents
    return True
