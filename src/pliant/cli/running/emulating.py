"""Run the emulated controller for the command line."""

from __future__ import annotations

import ipaddress
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import InputError, RejectedError, UnknownNameError

if TYPE_CHECKING:
    from pliant.robots.emulator.emulated_faults import Fault
    from pliant.robots.ur.rtde import Version
    from pliant.task.schema import Task

# A real controller is a separate machine, so where the system permits, no other program may hold up the emulated one.
_PRIORITY = 70
# Number of joints of every emulated arm.
_JOINTS = 6


def version_of(text: str) -> Version:
    """Parse ``5.26.0.0``; missing parts are 0."""
    parts = text.split(".")
    if not 2 <= len(parts) <= 4 or not all(part.isdigit() for part in parts):
        raise InputError("--version", text, "two to four numbers, such as 5.26.0.0")
    numbers = [int(part) for part in parts] + [0] * (4 - len(parts))
    return numbers[0], numbers[1], numbers[2], numbers[3]


def arm_and_task(model: str, name: str | None) -> tuple[str, Task]:
    """The arm model and the task that defines its surroundings."""
    from pliant.cli.loading import load_arm_task
    from pliant.model.ur import ur_names
    from pliant.task.bundled_files import find_file
    from pliant.task.schema import Task, arm_model, arm_of, check_fits

    if model not in ur_names():
        raise UnknownNameError("UR model", model, ur_names())
    if name is None:
        return model, Task()
    task = load_arm_task(name, "emulate")
    if (joints := (arm := arm_of(task)).n) != _JOINTS:
        raise RejectedError(
            f"Task {task.name} is for {Path(arm_model(task)).name} ({joints} joints), but {model} has {_JOINTS}. "
            "Choose another task.",
            field="--task",
            value=name,
        )
    check_fits(task, arm, where=find_file("task", name).name)
    return model, task


def run(
    cell: tuple[str, Task],
    host: str,
    version: Version,
    faults: tuple[Fault, ...],
    trace: Path | None,
    duration: float | None,
    names: tuple[str, ...],
    source: str | None = None,
) -> int:
    """Serve until Ctrl-C, SIGTERM or the end of `duration`; then save the trace."""
    from pliant.cli.show import out
    from pliant.loop.realtime import prepare
    from pliant.robots.emulator.emulated_arm import EmulatedArm
    from pliant.robots.emulator.emulated_controller import Controller
    from pliant.robots.emulator.ports import Server
    from pliant.robots.emulator.trace import Trace

    model, task = cell
    arm = EmulatedArm(model, task.sim.tool or task.tool, task.sim, task.start_q)
    controller = Controller(arm, model, version, faults, _show)
    server, kept = Server(controller, host), Trace(controller) if trace else None
    ended: list[Any] = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    signal.signal(signal.SIGINT, lambda *_: ended.append(True))
    server.open()
    sys.setswitchinterval(1e-3)
    _say_start(model, host, names, source, faults)
    prepare(_PRIORITY)
    until = time.monotonic() + duration if duration else float("inf")
    try:
        server.run(lambda: not ended and time.monotonic() < until, kept.keep if kept else lambda: None)
    finally:
        server.close()
        if kept is not None and trace is not None:
            kept.save(trace)
    out.print(f"{controller.now:.1f} s emulated, {controller.missed} period{'s' * (controller.missed != 1)} missed.")
    return 0


def _show(text: str) -> None:
    """Show a message of the controller on this terminal, where its pendant would show it."""
    from pliant.cli.show import out

    out.print(text)
    sys.stdout.flush()


def _say_start(model: str, host: str, names: tuple[str, ...], source: str | None, faults: tuple[Fault, ...]) -> None:
    """Where it listens, and what to do with it."""
    from pliant.cli.show import out
    from pliant.robots.emulator.ports import PORTS

    address = f"ur:{host}{'' if model == 'ur5e' else f'#{model}'}"
    out.print(f"Emulated {model} listening at {host} (ports {', '.join(str(port) for port in sorted(PORTS))}).")
    if source:
        out.print(f"In another terminal: pliant run {source} --robot {address}")
    else:  # a task with a tool would read the missing weight as a push
        out.print("It has no tool. For a task with a tool, use --task and run the same task.")
    for fault in faults:
        out.print(f"Fault: {fault}.")
    out.print(f"The dashboard (29999) also accepts: emulator {' | '.join(names)}. Press Ctrl-C to stop.")
    sys.stdout.flush()


def must_be_loopback(host: str) -> None:
    """Raise unless `host` is a loopback address: anyone who can reach the ports can inject faults."""
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if not here:
        raise InputError("--host", host, "a loopback address, such as 127.0.0.1 or 127.0.0.2")
