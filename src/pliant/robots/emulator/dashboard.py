"""The dashboard of the emulated controller: one line in, one line out.

In addition to the standard commands it accepts faults to inject: ``emulator protective stop`` (see `emulated_faults`).
"""

from __future__ import annotations

import json

from pliant.errors import PliantError
from pliant.robots.emulator.emulated_controller import MODES, NORMAL, PROTECTIVE, SAFETY, Controller
from pliant.robots.emulator.emulated_faults import Fault

GREETING = "Connected: Universal Robots Dashboard Server"
_SERIAL = "20265500001"


def answer(controller: Controller, line: str) -> str:
    """Carry out one line and return the answer."""
    words = line.strip()
    if words.startswith("emulator"):
        return _ours(controller, words.removeprefix("emulator").strip())
    known = _said(controller, words.lower())
    return f"could not understand: '{words}'" if known is None else known


def ends(line: str) -> bool:
    """Whether the dashboard closes the connection after this line."""
    return line.strip().lower() == "quit"


def _said(controller: Controller, words: str) -> str | None:
    """Answers to queries."""
    program = controller.program
    version = ".".join(str(part) for part in controller.version)
    table = {
        "polyscopeversion": f"URSoftware {version} (Jan 01 2026)",
        "get serial number": _SERIAL,
        "get robot model": controller.model.upper().removesuffix("E"),
        "is in remote control": str(controller.remote).lower(),
        "running": f"Program running: {str(program.plays).lower()}",
        "robotmode": f"Robotmode: {MODES[controller.mode]}",
        "safetystatus": f"Safetystatus: {SAFETY[controller.safety][1]}",
        "safetymode": f"Safetymode: {SAFETY[controller.safety][1]}",
        "programstate": f"{'PLAYING' if program.plays else 'STOPPED'} <unnamed>",
        "get loaded program": "No program loaded",
        "play": "Failed to execute: play",
        "quit": "Disconnected",
    }
    return table.get(words) or _done(controller, words)


def _done(controller: Controller, words: str) -> str | None:
    """Answers to commands."""
    if words == "stop":
        controller.program.stop("it was stopped by the dashboard")
        return "Stopped"
    if words == "unlock protective stop":
        if controller.safety == PROTECTIVE:
            controller.safety = NORMAL
        return "Protective stop releasing"
    if words in ("power on", "brake release"):
        controller.mode = 7 if controller.safety == NORMAL else controller.mode
        return "Powering on" if words == "power on" else "Brake releasing"
    if words == "power off":
        controller.mode = 3
        controller.program.stop("the arm was switched off")
        return "Powering off"
    if words in ("close safety popup", "close popup"):
        return words.replace("close", "closing")
    if words == "restart safety":
        controller.safety = NORMAL
        return "Restarting safety"
    return None


def _ours(controller: Controller, words: str) -> str:
    """A fault, or ``state``: what no client of a real controller can see, as one line of JSON."""
    if words == "state":
        arm, program = controller.arm, controller.program
        return json.dumps({
            "time_s": controller.now, "q": arm.q.tolist(), "qd": arm.qd.tolist(), "press_n": arm.press_n,
            "plays": program.plays, "why": program.why, "safety": SAFETY[controller.safety][1],
            "moved": program.moving, "watchdog_s": program.watchdog_s, "watched_s": program.watched_s,
            "mass_kg": arm.mass, "com_m": arm.com.tolist(), "tcp": arm.tcp.tolist(),
        })  # fmt: skip
    try:
        controller.inject(Fault.parse(words))
    except PliantError as error:
        return str(error)
    return f"Done: {words}"
