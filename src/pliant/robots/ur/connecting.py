"""Connecting to a UR controller: installed package, answer, version, arm model; errors in words."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from pliant.errors import RejectedError
from pliant.model.ur import ur_names
from pliant.robots.ur import rtde
from pliant.robots.ur.address import UrAddress
from pliant.robots.ur.controller_status import E_SERIES, TORQUE_FROM, is_same_model, takes_torque

# How long a controller may take to answer, and its program to start [s].
_ANSWER_S, _START_S = 5.0, 10.0
# Slightly above the priority of the loop, which reads what these threads deliver.
_PRIORITY = 61
VARIABLES = ("timestamp", "actual_q", "actual_qd", "target_moment", "actual_TCP_force", "actual_TCP_pose",
             "robot_mode", "safety_status_bits", "runtime_state", "target_speed_fraction")  # fmt: skip


def check_extra() -> None:
    """Raise if ur_rtde is not installed."""
    if importlib.util.find_spec("rtde_control") is None:
        raise RejectedError("A UR needs the package ur_rtde: pip install -e '.[ur]' in Pliant's folder.", field="robot")


def must_answer(address: UrAddress, interface: str) -> str | None:
    """Raise if no suitable controller answers; returns the result of `check_dashboard`."""
    check_extra()
    check_version(ask_version(address.host), interface)
    return check_dashboard(address)


def ask_version(host: str) -> rtde.Version:
    """The version of the controller's software, by RTDE, which every controller supports."""
    try:
        with socket.create_connection((host, rtde.PORT), _ANSWER_S) as line:
            rest = bytearray()
            if _asked(line, rest, rtde.ASK_PROTOCOL, rtde.PROTOCOL.to_bytes(2, "big")) != b"\x01":
                raise OSError(f"it does not support version {rtde.PROTOCOL} of RTDE")
            return rtde.read_version(_asked(line, rest, rtde.ASK_VERSION))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or "no answer"
        raise RejectedError(
            f"No UR controller answers at {host} (port {rtde.PORT}: {why.lower()}). Check that the address is right, "
            "the controller is switched on and RTDE is enabled.",
            field="robot",
            value=host,
        ) from None


def _asked(line: socket.socket, buffer: bytearray, kind: int, body: bytes = b"") -> bytes:
    """The answer to a packet; other packets are skipped, and `buffer` keeps bytes that came too early."""
    line.sendall(rtde.packet(kind, body))
    deadline = time.monotonic() + _ANSWER_S
    while (found := rtde.take(buffer)) is None or found[0] != kind:
        if time.monotonic() > deadline:
            raise OSError("it sent other packets, but no answer")
        if found is None:
            if not (data := line.recv(4096)):
                raise OSError("it closed the connection")
            buffer += data
    return found[1]


def check_version(version: rtde.Version, interface: str) -> None:
    """Raise if a controller of this version has no force sensor, or does not support the torque interface."""
    said = ".".join(str(part) for part in version[:3])
    if version[0] < E_SERIES:
        raise RejectedError(
            f"The controller runs version {said}. This is a CB3, which has no force sensor in its wrist. Pliant needs "
            "an e-Series arm (5.0 or newer).",
            field="robot",
        )
    if interface == "torque" and not takes_torque(version):
        first = " or ".join(".".join(map(str, least)) for least in TORQUE_FROM.values())
        raise RejectedError(
            f"The controller runs version {said}, but joint torques need {first} (PolyScope X) or newer. Use interface "
            "position or velocity, or update the robot.",
            field="interface",
            value=interface,
        )


def check_dashboard(address: UrAddress) -> str | None:
    """Raise if the controller reports another arm model, or is not in remote control.

    Returns its program state, or None if the dashboard does not answer (PolyScope X has none).
    """
    from dashboard_client import DashboardClient

    board: Any = DashboardClient(address.host)
    try:
        board.connect(round(1e3 * _ANSWER_S))
        reported, remote, program = board.getRobotModel(), board.isInRemoteControl(), board.programState()
    except RuntimeError:
        return None
    finally:
        with contextlib.suppress(RuntimeError):
            board.disconnect()
    if not is_same_model(reported, address.model):
        raise RejectedError(
            f"The controller at {address.host} reports a {reported.strip()}, but the robot is set to {address.model}. "
            f"{_which_model(reported, address.host)}",
            field="robot",
        )
    if not remote:
        raise RejectedError(
            f"The controller at {address.host} is in local control. Switch it to remote control on the pendant.",
            field="robot",
        )
    return program.strip()


def _which_model(reported: str, host: str) -> str:
    """What to use instead of another model. The dashboard reports UR5 for a UR5e too; a CB3 was rejected before."""
    model = next((name for name in ur_names() if is_same_model(reported, name)), "")
    return f"Use ur:{host}#{model}." if model else f"Pliant supports {', '.join(ur_names())}."


def open_receive(host: str, rate_hz: float) -> Any:
    """The connection that receives the robot's state, once per period."""
    from rtde_receive import RTDEReceiveInterface

    return _opened(host, lambda: RTDEReceiveInterface(host, rate_hz, list(VARIABLES)))


def open_control(host: str, rate_hz: float) -> Any:
    """Start the program on the controller that accepts commands; returns when it runs."""
    from rtde_control import RTDEControlInterface

    control: Any = _opened(host, lambda: RTDEControlInterface(host, rate_hz))
    if not _runs(control, _START_S / 2):
        with contextlib.suppress(RuntimeError):
            control.reuploadScript()
        if not _runs(control, _START_S):
            raise RejectedError(
                f"The command program does not start on the controller at {host}. Check the log on its pendant.",
                field="robot",
            )
    return control


def _runs(control: Any, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not control.isProgramRunning():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@contextlib.contextmanager
def _quick_threads() -> Iterator[None]:
    """Threads that are started in here inherit real-time scheduling, where the system permits it.

    They receive the robot's packets; one that had to wait for other programs would deliver them late.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except (OSError, AttributeError):
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _opened(host: str, make: Callable[[], Any]) -> Any:
    try:
        with _quick_threads():
            return make()
    except RuntimeError as error:
        said = " ".join(str(error).replace("ur_rtde:", "").split()).rstrip(".!")
        if "already in use" in said:
            raise RejectedError(
                f"Another program controls the robot at {host}. Stop it (another loop, an RTDE client, EtherNet/IP, "
                "PROFINET or MODBUS on the controller), then try again.",
                field="robot",
            ) from None
        raise RejectedError(f"The UR controller at {host} rejects the connection: {said}.", field="robot") from None
