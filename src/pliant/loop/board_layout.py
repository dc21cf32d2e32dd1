"""The memory layout of the board."""

from __future__ import annotations

import re
import zlib
from typing import Any

from pliant.control.laws.law import MAX_LAWS
from pliant.control.parameters import PARAMETERS
from pliant.control.published import Published
from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError
from pliant.record import record_messages
from pliant.records import MAX_JOINTS, MODES, Field, Layout

STARTING, RUNNING, STOPPED, FAULT = 1, 2, 3, 4
STATUS = {STARTING: "starting", RUNNING: "running", STOPPED: "stopped", FAULT: "fault"}

MAGIC = 0x504C49414E5431
QUEUE_SLOTS = 256
SET_SLOTS = 1024
TEXT_BYTES = {"config": 1 << 17, "notes": 1 << 12, "reason": 1 << 12, "mission_log": 1 << 18}
"""Largest size of each text. The longest one is the log of a mission with a path of many arcs."""


def checked_name(name: Any) -> str:
    """`name`, if a loop can be called so; otherwise an `InputError`."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]{1,80}", name):
        raise InputError("name", name, "1 to 80 letters, digits, '.', '_' and '-'")
    return name


HEADER = Layout(
    "Header",
    (
        # the first four are the same in every version: `board_recovery` reads them
        Field("magic", "", "marks a board", kind="i8"),
        Field("loop_pid", "", "process of the loop", kind="i8"),
        Field("owner_pid", "", "process that started the loop", kind="i8"),
        Field("version", "", "fingerprint of the layout", kind="i8"),
        Field("total_bytes", "", "bytes in all", kind="i8"),
        Field("ring_slots", "", "records that the ring holds", kind="i8"),
        Field("ring_step", "", "bytes of a record in it", kind="i8"),
        Field("status", "", "1 starting, 2 running, 3 stopped, 4 fault", kind="i8"),
        Field("head", "", "number of the next telemetry record", kind="i8"),
        Field("proposed", "", "sequence lock of the proposed parameter set", kind="i8"),
        Field("adopted", "", "revision of the set in force", kind="i8"),
        Field("answered", "", "number of the last answered proposal, plus 1 if rejected", kind="i8"),
        Field("recording", "", "1 once a recorder is attached to the loop", kind="i8"),
        Field("queue_in", "", "commands ever put in", kind="i8"),
        Field("queue_out", "", "commands ever taken out", kind="i8"),
    ),
)

ITEM = Layout(
    "Item",
    (
        Field("code", "", "kind of request (see commands)", kind="i8"),
        Field("at_tick", "", "first tick at which it may take effect", kind="i8"),
        Field("number", "", "integer argument", kind="i8"),
        Field("values", "", "float arguments", (16,)),
    ),
)

SET = Layout(
    "Set",
    (
        Field("revision", "", "number of the set", kind="i8"),
        Field("tick", "", "first tick in force", kind="i8"),
        Field("values", "", "the set", kind=PARAMETERS),
    ),
)


def fingerprint() -> int:
    """A number that differs between versions whose boards are laid out differently."""
    layouts = [layout.dtype.descr for layout in (HEADER, ITEM, SET, TELEMETRY)]
    return zlib.crc32(repr((layouts, QUEUE_SLOTS, SET_SLOTS, TEXT_BYTES)).encode())


def offsets(ring_slots: int, step: int) -> dict[str, int]:
    """Byte offsets of the regions, each aligned to a cache line."""
    sizes = {
        "header": HEADER.dtype.itemsize,
        **{region: 16 + most for region, most in TEXT_BYTES.items()},
        "proposal": SET.dtype.itemsize,
        "sets": SET_SLOTS * (8 + SET.dtype.itemsize),
        "queue": QUEUE_SLOTS * ITEM.dtype.itemsize,
        "ring": ring_slots * (8 + step),
    }
    places, at = {}, 0
    for name, size in sizes.items():
        places[name] = at
        at += (size + 63) // 64 * 64
    return {**places, "end": at}


def described(published: Published) -> dict[str, Any]:
    """What a run publishes, as JSON."""
    own = {name: [number, record_messages.definition(state)] for name, (number, state) in published.own.items()}
    return {"joints": published.n, "on": published.on, "own": own}


def published_as(described: dict[str, Any] | None) -> Published:
    """What a run publishes, from its description; everything without one."""
    if described is None:
        return Published()
    joints, on = described["joints"], described["on"]
    own = {name: (number, record_messages.parse(name, text)) for name, (number, text) in described["own"].items()}
    numbers = [number for number, _ in own.values()]
    if type(joints) is not int or not 1 <= joints <= MAX_JOINTS or not {*on} <= {*MODES, "base"}:
        raise ValueError(f"{joints} joints on {on}")
    if not all(type(number) is int and 0 <= number < MAX_LAWS for number in numbers):
        raise ValueError(f"laws with the numbers {numbers}")
    return Published(joints, on, own)
