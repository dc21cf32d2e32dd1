"""Builds the Studio's page into wheel and sdist (see studio/make_page.py).

Node is a Python package that the build asks for only where the page is missing, so pip alone is enough. An sdist holds
the page as well: installing one needs neither Node nor npm. If the page cannot be built, the package is built without
it; `pliant studio` then says why, and everything else works.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """Runs before a wheel, an editable install or an sdist is built."""

    @property
    def _source(self) -> Path:
        return Path(self.root) / "studio"

    @property
    def _static(self) -> Path:
        return Path(self.root) / "src" / "pliant" / "studio" / "static"

    def _maker(self) -> dict[str, Any]:
        return runpy.run_path(str(self._source / "make_page.py"))

    def dependencies(self) -> list[str]:
        maker = self._maker()
        return [] if maker["is_made"](self._source, self._static) else [maker["NODE"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._maker()["make_page"](self._source, self._static)
        if (self._static / "not-made").is_file():
            why = (self._static / "not-made").read_text().splitlines()[0]
            self.app.display_warning(f"The Studio's page could not be built, so pliant studio will not work: {why}")
        build_data["artifacts"].append("src/pliant/studio/static/**")
