"""Starting the bridge beside a loop."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pliant.bridge.beside import READY
from pliant.errors import PliantError
from pliant.runtime.link import Link

_END_S = 5.0


@contextmanager
def bridged(link: Link) -> Iterator[list[str]]:
    """A bridge to ROS 2 beside a running loop; yields what there is to say about it. It ends with the loop.

    What there is to say at the end, a bridge that did not live that long, is added to it then.
    """
    bridge = _spawn("pliant.bridge.process", link)
    processes, notes = [bridge], []
    try:
        _await(bridge)
        processes += _services(link, notes)
        yield notes
    finally:
        if code := bridge.poll():
            notes.append(f"The bridge to ROS 2 ended before the loop did (exit code {code}).")
        for process in processes:
            if link.running:  # it would wait for the end of the loop
                process.terminate()
            _end(process)


def _services(link: Link, notes: list[str]) -> list[subprocess.Popen[str]]:
    """The process of the services, where there can be one: a bridge does without."""
    if importlib.util.find_spec("rclpy") is None:
        notes.append("There are topics only: services and parameters need rclpy, which is not installed here.")
        return []
    services = _spawn("pliant.bridge.services", link)
    try:
        _await(services)
    except PliantError as error:
        _end(services)
        notes.append(f"There are topics only. {error}")
        return []
    return [services]


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
