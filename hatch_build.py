"""Makes the Studio's page when the package is built (see studio/make_page.py).

Node comes as a package of the build's own environment, so that nothing but pip is needed, and an installed wheel needs
no Node at all. Where the page cannot be made, the package is built without it: `pliant studio` then says why, and all
else works.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """Runs before the wheel, or the editable install, is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root) / "studio"
        static = Path(self.root) / "src" / "pliant" / "studio" / "static"
        runpy.run_path(str(source / "make_page.py"))["make_page"](source, static)
        if (static / "not-made").is_file():
            why = (static / "not-made").read_text().splitlines()[0]
            self.app.display_warning(f"The Studio's page could not be made, so pliant studio will not work: {why}")
        build_data["artifacts"].append("src/pliant/studio/static/**")
