"""The driver of the example keeps the contract, on its fake arm in a process of its own."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pliant.testing import check_robot

EXAMPLE = Path(__file__).parents[2] / "examples" / "14_your_own_robot.py"


@pytest.mark.slow
def test_the_example_driver_passes_every_check() -> None:
    described: Any = importlib.util.spec_from_file_location("example_robot", EXAMPLE)
    example: Any = importlib.util.module_from_spec(described)
    described.loader.exec_module(example)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hand,
        subprocess.Popen([sys.executable, str(EXAMPLE), "serve", "0"], stdout=subprocess.PIPE, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())

            def push(wrench: list[float], for_s: float) -> None:
                hand.sendto(example.COMMAND.pack(example.PUSH, *wrench, for_s), ("127.0.0.1", port))

            report = check_robot(f"{EXAMPLE}:127.0.0.1:{port}", push=push, cut=server.kill)
        finally:
            server.kill()
    assert report.ok, str(report)
    assert not [check for check in report.checks if check.outcome == "skipped"], str(report)
