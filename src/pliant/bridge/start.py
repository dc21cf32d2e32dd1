"""Starting the bridge beside a loop."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pliant.bridge.process import READY
from pliant.errors import PliantError
from pliant.runtime.link import Link

_END_S = 5.0


@contextmanager
def bridged(link: Link) -> Iterator[list[str]]:
    """A bridge to ROS 2 beside a running loop; yields what there is to say about it. It ends with the loop."""
    notes = []
    bridge = _spawn("pliant.bridge.process", link)
    processes = [bridge]
    try:
        _await(bridge)
        if importlib.util.find_spec("rclpy") is None:
            notes.append("There are topics only: services and parameters need rclpy, which is not installed here.")
        else:
            services = _spawn("pliant.bridge.services", link)
            processes.append(services)
            _await(services)
        yield notes
    finally:
        for process in processes:
            if link.running:  # it would wait for the end of the loop
                process.terminate()
            _end(process)


def _spawn(module: str, link: Link) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", module, str(link.board.path)]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _await(process: subprocess.Popen[str]) -> None:
    """Wait until it works; raise what it complains about."""
    assert process.stdout is not None
    said = process.stdout.readline().strip()
    if said != READY:
        raise PliantError(said or "The bridge to ROS 2 could not start.")


def _end(process: subprocess.Popen[str]) -> None:
    for insist in (process.terminate, process.kill):
        try:
            process.wait(_END_S)
            return
        except subprocess.TimeoutExpired:
            insist()
    process.wait()
