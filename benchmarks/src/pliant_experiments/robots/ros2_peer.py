"""A real ROS 2 for tests: a separate installation, in its own process, in a private network.

`.ci/ros2-peer` creates the installation; `$PLIANT_ROS2_PEER` names the interpreter of another one.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from pliant.errors import PliantError

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_NODE = Path(__file__).with_name("ros2_peer_node.py")
# What an interpreter of the ROS 2 wheels leaves in its environment, and what belongs to ours.
_NOT_FOR_IT = ("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
_domains = itertools.count(1)


class PeerMissingError(PliantError):
    """No ROS 2 installation or no private network is available."""


def peer_interpreter() -> Path:
    """The interpreter of a real ROS 2; raises `PeerMissingError` if it is not installed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    named = os.environ.get("PLIANT_ROS2_PEER")
    python = Path(named) if named else cache / "pliant" / "ros2-peer" / "jazzy" / "bin" / "python"
    if not python.exists():
        raise PeerMissingError(f"No ROS 2 found at {python}. Run .ci/ros2-peer to install it there.")
    return python


@contextmanager
def own_network() -> Iterator[None]:
    """A private network with only a loopback, for this thread and its child processes, in a separate domain."""
    if shutil.which("ip") is None:
        raise PeerMissingError("A private network needs the program ip (Debian: iproute2).")
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.environ.get("ROS_DOMAIN_ID")
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        if libc.unshare(_NEW_NETWORK):
            raise PeerMissingError(f"Cannot create a private network: {os.strerror(ctypes.get_errno())}.")
        for words in ("link set lo up", "link set lo multicast on", "route add 224.0.0.0/4 dev lo"):
            subprocess.run(["ip", *words.split()], check=True, capture_output=True)
        os.environ["ROS_DOMAIN_ID"] = str(next(_domains))
        yield
    finally:
        libc.setns(home, _NEW_NETWORK)
        os.close(home)
        os.environ.pop("ROS_DOMAIN_ID", None)
        if before is not None:
            os.environ["ROS_DOMAIN_ID"] = before


class Peer:
    """A node of a real ROS 2: ``with Peer() as peer: peer("graph")``. See `ros2_peer_node` for its commands."""

    def __init__(self) -> None:
        self._python = peer_interpreter()

    def __enter__(self) -> Self:
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_IT}
        self._process = subprocess.Popen(
            [self._python, _NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._answer()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __call__(self, do: str, **how: Any) -> Any:
        """Ask the peer for something, and wait for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **how}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                said = json.loads(line)
                if "error" in said:
                    raise PliantError(f"The ROS 2 peer failed: {said['error']}.")
                return said["answer"]
        raise PliantError(f"The ROS 2 peer exited with code {self._process.wait()}.")
