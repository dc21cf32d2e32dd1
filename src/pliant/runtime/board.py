"""The board: one block of shared memory between the control loop and everyone else.

    parameters  in    one slot under a sequence lock; the loop adopts a whole set or none
    commands    in    a short queue; writers take turns by a file lock, the loop is the only reader
    telemetry   out   a ring that overwrites; a slow reader loses records and knows how many, the loop never waits
    sets        out   the last parameter sets that were adopted, by revision

A torn read is detected, on weakly ordered processors too: every slot carries a sequence number that is odd while it is
being written, stored and loaded with release and acquire order and fences in compiled code. The block is a file in
shared memory whose name says which loop it belongs to; it goes away with the loop.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError, LoopError, UnknownNameError
from pliant.params.control import PARAMETERS
from pliant.records import TELEMETRY, Field, Layout
from pliant.runtime.slots import collect, get, lock_word, put, store_word

STARTING, RUNNING, STOPPED, FAULT = 1, 2, 3, 4
STATUS = {STARTING: "starting", RUNNING: "running", STOPPED: "stopped", FAULT: "fault"}

MAGIC = 0x504C49414E5431
QUEUE_SLOTS = 256
SET_SLOTS = 64
CONFIG_BYTES, TEXT_BYTES = 1 << 17, 1 << 12

HEADER = Layout(
    "Header",
    (
        Field("magic", "", "marks a board", kind="i8"),
        Field("total_bytes", "", "bytes in all", kind="i8"),
        Field("record_size", "", "bytes of one telemetry record", kind="i8"),
        Field("ring_slots", "", "records that the ring holds", kind="i8"),
        Field("loop_pid", "", "process of the loop", kind="i8"),
        Field("owner_pid", "", "process that started the loop", kind="i8"),
        Field("status", "", "1 starting, 2 running, 3 stopped, 4 fault", kind="i8"),
        Field("head", "", "number of the next telemetry record", kind="i8"),
        Field("proposed", "", "sequence lock of the proposed parameter set", kind="i8"),
        Field("adopted", "", "revision of the set in force", kind="i8"),
        Field("answered", "", "sequence number of the last proposal that the loop decided on", kind="i8"),
        Field("refused", "", "sequence number of the last proposal that the loop refused", kind="i8"),
        Field("queue_in", "", "commands ever put in", kind="i8"),
        Field("queue_out", "", "commands ever taken out", kind="i8"),
        Field("config_bytes", "", "length of the configuration text", kind="i8"),
        Field("notes_bytes", "", "length of the notes text", kind="i8"),
        Field("reason_bytes", "", "length of the reason text", kind="i8"),
    ),
)

ITEM = Layout(
    "Item",
    (
        Field("code", "", "what is asked (see commands)", kind="i8"),
        Field("at_tick", "", "first tick at which it may act", kind="i8"),
        Field("number", "", "a whole number that goes with it", kind="i8"),
        Field("values", "", "numbers that go with it", (16,)),
    ),
)

SET = Layout(
    "Set",
    (
        Field("revision", "", "number of the set", kind="i8"),
        Field("tick", "", "tick from which it held", kind="i8"),
        Field("values", "", "the set", kind=PARAMETERS),
    ),
)


def board_folder() -> Path:
    """Where boards live: real shared memory where the system has it."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and os.access(shared, os.W_OK) else Path(tempfile.gettempdir())


class Board:
    """One end of a board. The owner makes it with `create`; everyone else attaches by name or path."""

    def __init__(self, path: Path, ring_slots: int = 0, *, create: bool = False) -> None:
        self.path = path
        self._offsets = self._layout(ring_slots) if create else {}
        flags = os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0)
        self._fd = os.open(path, flags, 0o600)
        size = self._offsets["end"] if create else os.fstat(self._fd).st_size
        if create:
            os.ftruncate(self._fd, size)
        elif size < HEADER.dtype.itemsize:
            os.close(self._fd)
            raise InputError("board", str(path), "the shared memory of a running loop")
        self._map = mmap.mmap(self._fd, size)
        self._bytes = np.frombuffer(self._map, np.uint8)
        self.base = self._bytes.ctypes.data
        self.header = self._view(0, HEADER.dtype)[0]
        if not create:
            self._check(size)
            self._offsets = self._layout(int(self.header.ring_slots))
        self._bind()

    @classmethod
    def create(cls, name: str, config: dict[str, Any], ring_slots: int) -> Board:
        """Make a board for a loop called `name`; the caller becomes its owner."""
        sweep()
        path = board_folder() / f"pliant-{name}"
        try:
            board = cls(path, ring_slots, create=True)
        except FileExistsError:
            raise InputError("name", name, "free: a loop of this name is running") from None
        head = board.header
        head.total_bytes, head.record_size, head.ring_slots = len(board._bytes), TELEMETRY.dtype.itemsize, ring_slots
        head.owner_pid, head.status = os.getpid(), STARTING
        board._write_text("config", json.dumps(config))
        head.magic = MAGIC
        return board

    @classmethod
    def attach(cls, name: str | Path) -> Board:
        """Open the board of a running loop, by name or path."""
        path = Path(name) if os.sep in str(name) else board_folder() / f"pliant-{name}"
        try:
            return cls(path)
        except FileNotFoundError:
            raise UnknownNameError("running loop", str(name), running()) from None

    @staticmethod
    def _layout(ring_slots: int) -> dict[str, int]:
        """Byte offsets of the regions, each on a cache line of its own."""
        sizes = {
            "header": HEADER.dtype.itemsize,
            "config": CONFIG_BYTES,
            "notes": TEXT_BYTES,
            "reason": TEXT_BYTES,
            "proposal": PARAMETERS.dtype.itemsize,
            "sets": SET_SLOTS * (8 + SET.dtype.itemsize),
            "queue": QUEUE_SLOTS * ITEM.dtype.itemsize,
            "ring": ring_slots * (8 + TELEMETRY.dtype.itemsize),
        }
        offsets, at = {}, 0
        for name, size in sizes.items():
            offsets[name] = at
            at += (size + 63) // 64 * 64
        return {**offsets, "end": at}

    def _check(self, size: int) -> None:
        head = self.header
        if head.magic != MAGIC or head.total_bytes != size or head.record_size != TELEMETRY.dtype.itemsize:
            raise InputError(
                "board", str(self.path), "made by this version of Pliant", "Stop the old loop and start it again."
            )

    def _bind(self) -> None:
        """Addresses that the compiled functions use."""
        field = HEADER.dtype.fields
        assert field is not None
        self._word = {name: self.base + int(place[1]) for name, place in field.items()}
        self._at = {name: self.base + offset for name, offset in self._offsets.items()}
        self._queue = self._view(self._offsets["queue"], ITEM.dtype, QUEUE_SLOTS)
        self._item_size = ITEM.dtype.itemsize

    def _view(self, offset: int, dtype: np.dtype[Any], n: int = 1) -> np.ndarray[Any, Any]:
        return self._bytes[offset : offset + n * dtype.itemsize].view(dtype)

    # -- text --

    def _write_text(self, region: str, text: str) -> None:
        data = text.encode()[: CONFIG_BYTES if region == "config" else TEXT_BYTES]
        at = self._offsets[region]
        self._bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)
        self.header[f"{region}_bytes"] = len(data)

    def _read_text(self, region: str) -> str:
        at, n = self._offsets[region], int(self.header[f"{region}_bytes"])
        return bytes(self._bytes[at : at + n]).decode(errors="replace")

    @property
    def config(self) -> dict[str, Any]:
        return json.loads(self._read_text("config"))

    @property
    def reason(self) -> str:
        """Why the loop ended (empty while it runs)."""
        return self._read_text("reason")

    @property
    def notes(self) -> dict[str, Any]:
        """What the loop says about itself: scheduling granted, memory, where a black box was saved."""
        text = self._read_text("notes")
        return json.loads(text) if text else {}

    def annotate(self, notes: dict[str, Any]) -> None:
        """Loop side: add to the notes."""
        self._write_text("notes", json.dumps({**self.notes, **notes}))

    def finish(self, status: int, reason: str) -> None:
        """Loop side: say that the loop has ended and why."""
        self._write_text("reason", reason)
        store_word(self._word["status"], status)

    # -- parameters --

    def propose(self, parameters: np.ndarray[Any, Any]) -> int:
        """Offer a whole parameter set to the loop; returns the proposal's sequence number."""
        with self._turn():
            sequence = (int(self.header.proposed) | 1) + 1
            put(self._word["proposed"], self._at["proposal"], parameters.ctypes.data, parameters.nbytes, sequence)
        return sequence

    def proposal(self, seen: int, into: np.ndarray[Any, Any]) -> int:
        """Loop side: copy a proposal newer than `seen`; returns its number, or `seen` when there is none yet."""
        sequence = lock_word(self._word["proposed"])
        if sequence == seen or sequence & 1:
            return seen
        done = get(self._word["proposed"], self._at["proposal"], into.ctypes.data, into.nbytes, sequence)
        return sequence if done else seen

    def adopt(self, revision: int, tick: int, parameters: np.ndarray[Any, Any]) -> None:
        """Loop side: `parameters` are in force from `tick` on, as `revision`."""
        entry = SET.new()
        entry[0].revision, entry[0].tick, entry[0].values = revision, tick, parameters[0]
        slot = self._at["sets"] + (revision % SET_SLOTS) * (8 + SET.dtype.itemsize)
        put(slot, slot + 8, entry.ctypes.data, entry.nbytes, 2 * revision + 2)
        self.header.adopted = revision

    def answer(self, sequence: int, *, refused: bool = False) -> None:
        """Loop side: proposal `sequence` has been decided on."""
        if refused:
            self.header.refused = sequence
        store_word(self._word["answered"], sequence)

    def parameter_set(self, revision: int) -> Any | None:
        """The set that was adopted as `revision`, or None when it is no longer kept."""
        entry = SET.new()
        slot = self._at["sets"] + (revision % SET_SLOTS) * (8 + SET.dtype.itemsize)
        return entry[0] if get(slot, slot + 8, entry.ctypes.data, entry.nbytes, 2 * revision + 2) else None

    # -- commands --

    def send(self, code: int, *, at_tick: int = 0, number: int = 0, values: Any = ()) -> None:
        """Put a command into the queue."""
        item = ITEM.new()
        item[0].code, item[0].at_tick, item[0].number = code, at_tick, number
        item[0]["values"][: len(values)] = values
        with self._turn():
            count = int(self.header.queue_in)
            if count - int(self.header.queue_out) >= QUEUE_SLOTS:
                raise LoopError("it takes no more commands (its queue is full)")
            self._queue[count % QUEUE_SLOTS] = item[0]
            store_word(self._word["queue_in"], count + 1)

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
        """Loop side: what the compiled `knock` looks at."""
        return self._word["queue_in"], self._word["queue_out"], self._word["proposed"]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One writer at a time; a writer that dies gives its turn back."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    # -- telemetry --

    @property
    def publisher(self) -> tuple[int, int, int]:
        """Loop side: (head, ring, slots), where the compiled `publish` puts records."""
        return self._word["head"], self._at["ring"], int(self.header.ring_slots)

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
            return TELEMETRY.new(0), max(first, start), max(0, start - first)
        out = TELEMETRY.new(last - start)
        kept = collect(self._at["ring"], slots, TELEMETRY.dtype.itemsize, start, last, out.ctypes.data)
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
    def status(self) -> int:
        return lock_word(self._word["status"])

    def set_status(self, status: int) -> None:
        store_word(self._word["status"], status)

    def remove(self) -> None:
        """Take the block out of the file system; those who have it open keep it until they close."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        os.close(self._fd)


def alive(pid: int) -> bool:
    """Whether a process exists (and is not a zombie)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True


def running() -> list[str]:
    """Names of the loops whose board is in shared memory."""
    return sorted(path.name.removeprefix("pliant-") for path in board_folder().glob("pliant-*"))


def sweep() -> None:
    """Remove boards that a killed owner and a killed loop left behind."""
    for path in board_folder().glob("pliant-*"):
        try:
            header = np.fromfile(path, HEADER.dtype, 1)
        except (OSError, ValueError):
            continue
        if len(header) == 1 and header[0].magic == MAGIC:
            pids = [int(pid) for pid in (header[0].owner_pid, header[0].loop_pid) if pid > 0]
            if not any(alive(pid) for pid in pids):
                path.unlink(missing_ok=True)
