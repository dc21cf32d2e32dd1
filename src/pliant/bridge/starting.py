"""Starting the bridge of a loop."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pliant.bridge.helper_process import AGREED, READY, AnyLink
from pliant.errors import PliantError
from pliant.session.link import Link

# Time limits on a busy machine for its start, for its end, and for passing on its last notes [s].
_START_S, _END_S, _NOTES_S = 120.0, 15.0, 60.0


@contextmanager
def bridged(link: AnyLink, *, agreed: bool = False, say: Callable[[str], object] | None = None) -> Iterator[list[str]]:
    """A bridge to ROS 2 for a running loop; yields its notes. It ends with the loop.

    Commands are sent only if it is `agreed` that subscribers move. Later notes are added: a subscriber on a topic on
    which nothing is sent, or a bridge that ended too early. Every note also goes to `say`.
    """

    def tell(note: str) -> None:
        notes.append(note)
        if say is not None:
            say(note)

    notes: list[str] = []
    bridge = _spawn("pliant.bridge.bridge_process", link, *([AGREED] if agreed else []))
    processes, passing = [bridge], threading.Thread(target=_forward_notes, args=(bridge, tell), daemon=True)
    try:
        _await(bridge)
        processes += _services(link, tell)
        passing.start()
        yield notes
    finally:
        if code := bridge.poll():
            tell(f"The ROS 2 bridge exited before the loop (exit code {code}).")
        for process in processes:
            if link.running:  # otherwise it would wait for the end of the loop
                process.terminate()
            _end(process)
        if passing.ident is not None:  # including its last lines
            passing.join(_NOTES_S)


def _forward_notes(bridge: subprocess.Popen[str], tell: Callable[[str], None]) -> None:
    """Pass on every line that the bridge prints, until it ends."""
    assert bridge.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in bridge.stdout:
            tell(line.strip())


def _services(link: AnyLink, tell: Callable[[str], None]) -> list[subprocess.Popen[str]]:
    """The process of the services, if there can be one: the bridge works without it."""
    if not isinstance(link, Link):
        tell("ROS 2 topics only: a mission has no services and no parameters.")
        return []
    if importlib.util.find_spec("rclpy") is None:
        tell("ROS 2 topics only: services and parameters need rclpy, which is not installed.")
        return []
    services = _spawn("pliant.bridge.services", link)
    try:
        _await(services)
    except PliantError as error:
        _end(services)
        tell(f"ROS 2 topics only. {error}")
        return []
    return [services]


def _spawn(module: str, link: AnyLink, *more: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", module, str(link.board.path), *more]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _await(process: subprocess.Popen[str]) -> None:
    """Wait until it is ready; raises its error, or an error if it took too long."""
    assert process.stdout is not None
    late = threading.Timer(_START_S, process.kill)
    late.start()
    said = process.stdout.readline().strip()
    late.cancel()
    if said != READY:
        raise PliantError(said or f"The ROS 2 bridge did not start, or took longer than {_START_S:g} s.")


def _end(process: subprocess.Popen[str]) -> None:
    for insist in (process.terminate, process.kill):
        try:
            process.wait(_END_S)
            return
        except subprocess.TimeoutExpired:
            insist()
    process.wait()
