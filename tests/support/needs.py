"""What some tests need beyond Python and the developers' packages: how it is detected, and what installs it.

A test names it with `@needs("chromium")`, or uses a fixture that is listed here. Where it is missing the test is
skipped with one line that says what installs it; with CI=true the test fails. `pytest -m optional` selects all of them.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from pliant.errors import PliantError
from pliant_experiments.robots.ros2_peer import own_network, peer_interpreter

SYSTEM_PYTHON = Path("/usr/bin/python3")
"""The interpreter that Debian's Python packages belong to."""

needs = pytest.mark.needs


@dataclass(frozen=True)
class Need:
    """Something that a test may need: its name, how it is detected, what installs it, and the fixtures that use it."""

    what: str
    is_here: Callable[[], bool]
    remedy: str
    fixtures: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return f"needs {self.what}: {self.remedy}"


def chromium() -> str | None:
    """The path of a Chromium of the system."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _has_package(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _has_peer() -> bool:
    try:
        return os.access(peer_interpreter(), os.X_OK)
    except (PliantError, OSError):
        return False


def _has_network() -> bool:
    made = []

    def make() -> None:  # in a separate thread, because it cannot return to the old network
        try:
            with own_network():
                made.append(True)
        except (PliantError, OSError, subprocess.SubprocessError):
            pass

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return bool(made)


def _has_kdl() -> bool:
    if not SYSTEM_PYTHON.exists():
        return False
    return subprocess.run([SYSTEM_PYTHON, "-c", "import PyKDL"], capture_output=True, check=False).returncode == 0


def _has_checkout() -> bool:
    if shutil.which("git") is None:
        return False
    words = ["git", "rev-parse", "--is-inside-work-tree"]
    return subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, check=False).returncode == 0


def _package(name: str) -> Need:
    return Need(f"the package {name}", partial(_has_package, name), "make setup installs it")


NEEDS = {
    "chromium": Need("Chromium", lambda: chromium() is not None, ".ci/system-packages installs it", ("browser",)),
    "kdl": Need("KDL", _has_kdl, ".ci/system-packages installs it"),
    "ros2-peer": Need("a ROS 2 peer", _has_peer, ".ci/ros2-peer installs one", ("peer",)),
    "network": Need(
        "a network namespace", _has_network, "run as root; .ci/system-packages installs iproute2", ("network",)
    ),
    "ur_rtde": Need(
        "ur_rtde", partial(_has_package, "rtde_control"), "pip install ur_rtde (Python 3.12 or older)", ("ur_rtde",)
    ),
    "git": Need("a git checkout", _has_checkout, "git clone makes one"),
    "ompl": _package("ompl"),
    "pinocchio": _package("pinocchio"),
    "findiff": _package("findiff"),
    "pynumdiff": _package("pynumdiff"),
}


def needs_of(item: pytest.Item) -> list[str]:
    """Names of everything that a test needs, by its marks and by its fixtures."""
    named = [name for mark in item.iter_markers("needs") for name in mark.args]
    fixtures = set(getattr(item, "fixturenames", ()))
    return list(dict.fromkeys(named + [name for name, need in NEEDS.items() if fixtures & set(need.fixtures)]))


@cache
def is_here(name: str) -> bool:
    """Whether the requirement `name` is met; checked once."""
    return NEEDS[name].is_here()


def require(*names: str, **skip: Any) -> None:
    """Continue if all these requirements are met; otherwise skip with one line, or fail with CI=true."""
    missing = "; ".join(NEEDS[name].sentence for name in names if not is_here(name))
    if missing and os.environ.get("CI") == "true":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing, **skip)


def library(name: str) -> Any:
    """Import a package that only tests use, also at the top of a file: without it the whole file is skipped."""
    require(name, allow_module_level=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own warnings about missing packages do not matter
        return importlib.import_module(name)
