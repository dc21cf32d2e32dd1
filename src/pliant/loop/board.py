"""The board: one block of shared memory between the control loop and all other processes.

    parameters  in    one slot under a sequence lock; the loop adopts a whole set or none
    commands    in    a short queue; a file lock serialises writers, the loop is the only reader
    telemetry   out   a ring buffer; a slow reader loses records and knows how many, the loop never waits
    sets        out   the last adopted parameter sets, by revision

Torn reads are detected, on weakly ordered processors too: every slot has a sequence number that is odd while it is
being written, stored and loaded with release and acquire order and fences in compiled code. The block is a file in
shared memory that is named after its loop and removed with it.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pliant.control.published import Published
from pliant.errors import InputError, LoopError, PliantError, RejectedError, UnknownNameError
from pliant.loop.board_layout import (
    HEADER,
    ITEM,
    MAGIC,
    QUEUE_SLOTS,
    SET,
    SET_SLOTS,
    STARTING,
    TEXT_BYTES,
    checked_name,
    described,
    fingerprint,
    offsets,
    published_as,
)
from pliant.loop.boards import board_files
from pliant.loop.boards.board_files import not_a_board
from pliant.loop.goal_requests import room
from pliant.loop.slots import Ring, collect, get, lock_word, put, store_word


class Board:
    """One end of a board. The owner creates it with `create`; all others attach by name or path."""

    def __init__(self, path: Path, handle: int, places: dict[str, int] | None = None) -> None:
        """Map the file with the descriptor `handle`; `places` are the regions of a new board, which is empty."""
        self.path, self._fd = path, handle
        self.close = weakref.finalize(self, os.close, handle)
        self._mutex = threading.Lock()
        size = os.fstat(handle).st_size
        if size < HEADER.dtype.itemsize:
            raise not_a_board(path, f"it has {size} bytes")
        self._map = mmap.mmap(handle, size)
        self._bytes = np.frombuffer(self._map, np.uint8)
        self.base = self._bytes.ctypes.data
        self.header = self._view(0, HEADER.dtype)[0]
        self._offsets = self._checked_offsets(size) if places is None else places
        self._bind()
        if places is None and self.published.step != int(self.header.ring_step):
            raise not_a_board(path, "its records have another size than it says")

    @classmethod
    def create(cls, name: str, config: dict[str, Any], ring_slots: int, published: Published | None = None) -> Board:
        """Create a board for a loop called `name`; the caller becomes its owner. By default, all is published."""
        published = published or Published()
        path = board_files.file_of(checked_name(name))
        text = json.dumps({**config, "published": described(published)})
        if len(text) > TEXT_BYTES["config"]:
            raise InputError("task", f"{len(text)} bytes long", f"at most {TEXT_BYTES['config']} bytes long")
        places = offsets(ring_slots, published.step)
        handle, unfinished = board_files.create_unfinished(path)
        _claim_memory(handle, unfinished, places["end"])
        board = cls(path, handle, places)
        head = board.header
        head.version, head.total_bytes = fingerprint(), len(board._bytes)
        head.ring_slots, head.ring_step = ring_slots, published.step
        head.owner_pid, head.status = os.getpid(), STARTING
        board._write_text("config", text)
        store_word(board._word["magic"], MAGIC)
        try:
            board_files.publish_as(unfinished, path)  # last: under its name, a board is complete
        except FileExistsError:
            raise _name_is_taken(name, path) from None
        return board

    @classmethod
    def attach(cls, name: str | Path) -> Board:
        """Open the board of a running loop, by name or path."""
        by_path = os.sep in str(name)
        path = Path(name) if by_path else board_files.file_of(checked_name(str(name)))
        try:
            return cls(path, board_files.open_board(path))
        except FileNotFoundError:
            none = f"no loop is running. Start one with: pliant run TASK --name {name}"
            raise UnknownNameError("loop", str(name), running(), none=none) from None

    def _checked_offsets(self, size: int) -> dict[str, int]:
        """The regions of an existing board; raises if its header does not fit its size and this version."""
        head = self.header
        slots, step = int(head.ring_slots), int(head.ring_step)
        if head.magic != MAGIC or head.total_bytes != size or head.version != fingerprint():
            raise InputError(
                "board", str(self.path), "made by this version of Pliant", "Stop the old loop and start it again."
            )
        if slots < 1 or step < 8 or step % 8 or (places := offsets(slots, step))["end"] != size:
            raise not_a_board(self.path, "its layout does not fit its size")
        return places

    def _bind(self) -> None:
        """Addresses that the compiled functions use."""
        field = HEADER.dtype.fields
        assert field is not None
        self._word = {name: self.base + int(place[1]) for name, place in field.items()}
        self._at = {name: self.base + offset for name, offset in self._offsets.items()}
        self._queue = self._view(self._offsets["queue"], ITEM.dtype, QUEUE_SLOTS)

    def _view(self, offset: int, dtype: np.dtype[Any], n: int = 1) -> np.ndarray[Any, Any]:
        return self._bytes[offset : offset + n * dtype.itemsize].view(dtype)

    # -- text --

    def _write_text(self, region: str, text: str) -> None:
        """Replace a text: lock word, length, bytes. One process at a time writes a region."""
        data = text.encode()[: TEXT_BYTES[region]]
        block, at = np.frombuffer(len(data).to_bytes(8, "little") + data, np.uint8), self._at[region]
        put(at, at + 8, block.ctypes.data, len(block), (lock_word(at) | 1) + 1)

    def _read_text(self, region: str) -> str:
        """A text as it was written; empty when its writer was killed in the middle."""
        block, at = np.zeros(8 + TEXT_BYTES[region], np.uint8), self._at[region]
        for _ in range(1000):
            sequence = lock_word(at)
            if not sequence & 1 and get(at, at + 8, block.ctypes.data, len(block), sequence):
                return bytes(block[8 : 8 + int(block[:8].view(np.int64)[0])]).decode(errors="replace")
        return ""

    @property
    def config(self) -> dict[str, Any]:
        """The task and what belongs to it, as the owner has written them."""
        return _mapping(self._read_text("config"), self.path)

    @property
    def reason(self) -> str:
        """Why the loop ended (empty while it runs)."""
        return self._read_text("reason")

    @property
    def notes(self) -> dict[str, Any]:
        """Notes of the loop: real-time scheduling, memory, file of the black box."""
        return _mapping(self._read_text("notes") or "{}", self.path)

    def annotate(self, notes: dict[str, Any]) -> None:
        """Loop side: add to the notes."""
        self._write_text("notes", json.dumps({**self.notes, **notes}))

    @property
    def mission_log_number(self) -> int:
        """A number that changes whenever the mission log changes."""
        return lock_word(self._at["mission_log"])

    @property
    def mission_log(self) -> dict[str, Any]:
        """The log of a mission: its stages and its path. Empty for other loops."""
        return _mapping(self._read_text("mission_log") or "{}", self.path)

    def write_mission_log(self, mission_log: dict[str, Any]) -> None:
        """Loop side: replace the mission log."""
        self._write_text("mission_log", json.dumps(mission_log))

    def finish(self, status: int, reason: str) -> None:
        """Loop side: report that the loop has ended, and why."""
        self._write_text("reason", reason)
        store_word(self._word["status"], status)

    # -- parameters --

    def propose(self, parameters: np.ndarray[Any, Any], base: int) -> int:
        """Propose a whole set, derived from the set with revision `base`; returns the proposal's (even) number."""
        entry = _set(base, 0, parameters)
        with self._turn():
            sequence = (int(self.header.proposed) | 1) + 1
            put(self._word["proposed"], self._at["proposal"], entry.ctypes.data, entry.nbytes, sequence)
        return sequence

    def proposal(self, seen: int, into: np.ndarray[Any, Any]) -> int:
        """Loop side: copy a proposal newer than `seen`; returns its number, or `seen` if there is no newer one."""
        sequence = lock_word(self._word["proposed"])
        if sequence == seen or sequence & 1:
            return seen
        done = get(self._word["proposed"], self._at["proposal"], into.ctypes.data, into.nbytes, sequence)
        return sequence if done else seen

    def adopt(self, revision: int, tick: int, parameters: np.ndarray[Any, Any]) -> None:
        """Loop side: `parameters` are in force from `tick` on, as `revision`."""
        entry = _set(revision, tick, parameters)
        slot = self._at["sets"] + (revision % SET_SLOTS) * (8 + SET.dtype.itemsize)
        put(slot, slot + 8, entry.ctypes.data, entry.nbytes, 2 * revision + 2)
        store_word(self._word["adopted"], revision)

    def answer(self, sequence: int, *, refused: bool = False) -> None:
        """Loop side: proposal `sequence` has been accepted or rejected."""
        store_word(self._word["answered"], sequence + refused)

    @property
    def answered(self) -> int:
        """Number of the last answered proposal, plus 1 if it was rejected."""
        return lock_word(self._word["answered"])

    @property
    def adopted(self) -> int:
        """Revision of the set in force."""
        return lock_word(self._word["adopted"])

    def parameter_set(self, revision: int) -> Any | None:
        """The set that was adopted as `revision`, or None when it is no longer kept."""
        entry = SET.new()
        slot = self._at["sets"] + (revision % SET_SLOTS) * (8 + SET.dtype.itemsize)
        return entry[0] if get(slot, slot + 8, entry.ctypes.data, entry.nbytes, 2 * revision + 2) else None

    # -- commands --

    def send(
        self,
        code: int,
        *,
        at_tick: int = 0,
        number: int = 0,
        values: Any = (),
        allow: Callable[[], None] = lambda: None,
    ) -> int:
        """Put a command into the queue; returns its number, which `taken` reaches when the loop has taken it.

        `allow` is called when no other writer can send, and raises to prevent the command. The last slots are reserved
        for commands that stop the robot.
        """
        item = ITEM.new()
        item[0].code, item[0].at_tick, item[0].number = code, at_tick, number
        item[0]["values"][: len(values)] = values
        with self._turn():
            allow()
            count = int(self.header.queue_in)
            if count - lock_word(self._word["queue_out"]) >= room(code):
                raise LoopError("its command queue is full", headline="The control loop does not respond")
            self._queue[count % QUEUE_SLOTS] = item[0]
            store_word(self._word["queue_in"], count + 1)
        return count + 1

    @property
    def taken(self) -> int:
        """How many commands the loop has taken so far."""
        return lock_word(self._word["queue_out"])

    def take(self) -> Any | None:
        """Loop side: the next command, or None."""
        count = int(self.header.queue_out)
        if count == lock_word(self._word["queue_in"]):
            return None
        item = self._queue[count % QUEUE_SLOTS].copy()
        store_word(self._word["queue_out"], count + 1)
        return item

    @property
    def door(self) -> tuple[int, int, int]:
        """Loop side: the words that the compiled `has_request` reads."""
        return self._word["queue_in"], self._word["queue_out"], self._word["proposed"]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One writer at a time; a writer that dies gives its turn back."""
        with self._mutex:  # the file lock is between processes: threads share it
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    # -- telemetry --

    @cached_property
    def published(self) -> Published:
        """What is published of telemetry records."""
        try:
            return published_as(self.config.get("published"))
        except (PliantError, LookupError, TypeError, ValueError, AttributeError):
            raise not_a_board(self.path, "it does not say what its records hold") from None

    @property
    def ring(self) -> Ring:
        """Where the compiled `publish` writes records."""
        plan, step = self.published.plan.ctypes.data, self.published.step
        return self._word["head"], self._at["ring"], int(self.header.ring_slots), plan, step

    @property
    def head(self) -> int:
        """Number of the next telemetry record."""
        return lock_word(self._word["head"])

    def read(self, first: int, most: int | None = None) -> tuple[np.ndarray[Any, Any], int, int]:
        """Records from number `first` on: (records, number of the next one, how many were lost)."""
        head, slots = self.head, int(self.header.ring_slots)
        last = head if most is None else min(head, first + most)
        start = max(first, head - slots)
        if last <= start:
            return self.published.record.new(0), max(first, start), max(0, start - first)
        out, spare = self.published.record.new(last - start), np.empty(self.published.step, np.uint8)
        kept = collect(self.ring, start, last, spare.ctypes.data, out.ctypes.data, out.itemsize)
        return out[:kept], last, last - first - kept

    def latest(self) -> Any | None:
        """The newest telemetry record, or None before the first tick."""
        for _ in range(100):
            head = self.head
            if head == 0:
                return None
            records, _, _ = self.read(head - 1, 1)
            if len(records):
                return records[0]
        return None

    # -- life --

    @property
    def recording(self) -> bool:
        """Whether a recorder is attached to the loop."""
        return lock_word(self._word["recording"]) != 0

    @recording.setter
    def recording(self, on: bool) -> None:
        store_word(self._word["recording"], int(on))

    @property
    def status(self) -> int:
        return lock_word(self._word["status"])

    def set_status(self, status: int) -> None:
        store_word(self._word["status"], status)

    def remove(self) -> None:
        """Remove the block from the file system; processes that have it open keep it until they close it."""
        self.path.unlink(missing_ok=True)


def _set(revision: int, tick: int, parameters: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    entry = np.empty(1, SET.dtype)
    entry["revision"], entry["tick"] = revision, tick
    entry["values"].view(np.uint8)[:] = parameters.view(np.uint8)  # as bytes: see `records.copied`
    return entry


def _mapping(text: str, path: Path) -> dict[str, Any]:
    """A text of a board, which is a JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise not_a_board(path, "it does not hold what a loop has written")
    return found


def running() -> list[str]:
    """Names of the loops whose board is in shared memory."""
    return [board_files.name_of_file(path) for path in board_files.board_paths()]


def _claim_memory(handle: int, unfinished: Path, size: int) -> None:
    """Claim the memory of a new board now: too little memory should prevent the start, not crash a run."""
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        os.close(handle)
        unfinished.unlink(missing_ok=True)
        raise InputError("board", f"{size} bytes", f"small enough for {unfinished.parent} ({error})") from None


def _name_is_taken(name: str, path: Path) -> RejectedError:
    """The error for a new board whose name another file has."""
    sentence = f"A loop named {name!r} is already running. Choose another name."
    try:
        if why := board_files.distrusted(path.lstat()):
            sentence = f"{path} is in the way of a loop named {name!r}: {why}. Remove it, or choose another name."
    except FileNotFoundError:
        sentence = f"A loop named {name!r} has just ended. Try again."
    return RejectedError(sentence, field="name", value=name)
