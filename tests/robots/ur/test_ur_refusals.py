"""What the driver refuses without a robot that could move: no controller, another protocol, a wrong task."""

from __future__ import annotations

import socket
import threading

import numpy as np
import pytest

from pliant.errors import InputError, RejectedError
from pliant.model.tool import Tool
from pliant.robots import open_robot
from pliant.robots.ur import connecting, rtde
from pliant.task.schema import Task
from pliant_experiments.robots.emulator_process import own_address


def test_nobody_there_is_said_in_one_sentence(ur_rtde: None) -> None:
    with pytest.raises(RejectedError, match=r"No UR controller answers at 127\.49\.0\.1"):
        open_robot("ur:127.49.0.1", Task(robot="ur:127.49.0.1")).open()


def test_a_controller_that_speaks_another_protocol_is_refused(ur_rtde: None) -> None:
    host = own_address()
    with socket.create_server((host, rtde.PORT)) as door:

        def answer() -> None:
            line, _ = door.accept()
            with line:
                assert rtde.take(bytearray(line.recv(100))) == (rtde.ASK_PROTOCOL, b"\x00\x02")
                line.sendall(rtde.packet(rtde.ASK_PROTOCOL, b"\x00"))
                line.recv(100)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(RejectedError, match="it does not support version 2 of rtde"):
            connecting.ask_version(host)
        thread.join()


def test_a_rate_beyond_the_controllers_and_a_tool_too_heavy_are_refused(ur_rtde: None) -> None:
    with pytest.raises(InputError, match="rate_hz"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1", rate_hz=1000))
    with pytest.raises(InputError, match=r"tool\.mass_kg"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1", tool=Tool(mass_kg=6.0)))


def test_a_real_arm_cannot_be_pushed_from_here(ur_rtde: None) -> None:
    with pytest.raises(RejectedError, match="Only a simulated arm"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1")).push(np.zeros(6), 1.0)


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RejectedError, match=r"pip install -e '\.\[ur\]'"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1"))
