"""Slots in shared memory that are written by one process and read by others, without locks.

Every slot has a sequence number: odd while it is being written, even when it holds something whole. A reader copies and
looks again; if the number is not the same, the copy is thrown away. Release and acquire order and fences make this
hold on weakly ordered processors too.
"""

from __future__ import annotations

from pliant.control.published import pack, unpack
from pliant.kernel import copy_bytes, fence, kernel, load_acquire, store_release

Ring = tuple[int, int, int, int, int]
"""A ring of telemetry: the addresses of its head and of its first slot, its slots, the address of the plan after which
records are published, and the bytes of a published record."""


@kernel
def put(lock, target, source, size, sequence):
    """Write `size` bytes at `target` under the lock word: odd while writing, `sequence` (even) when done."""
    store_release(lock, sequence - 1)
    fence()
    copy_bytes(target, source, size)
    fence()
    store_release(lock, sequence)


@kernel
def get(lock, source, target, size, sequence):
    """Copy `size` bytes from `source` if the lock word is `sequence` before and after; True when it was."""
    if load_acquire(lock) != sequence:
        return False
    copy_bytes(target, source, size)
    fence()
    return load_acquire(lock) == sequence


@kernel
def lock_word(address):
    """The sequence number at `address`."""
    return load_acquire(address)


@kernel
def publish(ring, record, number):
    """Put what is published of telemetry record `number` into a ring (see `Ring`), and move its head past it."""
    head, slots, count, plan, step = ring
    slot = slots + (number % count) * (step + 8)
    store_release(slot, 2 * number + 1)
    fence()
    pack(record, plan, slot + 8)
    fence()
    store_release(slot, 2 * number + 2)
    store_release(head, number + 1)


@kernel
def has_request(queue_in, queue_out, proposed, seen):
    """Whether there is a request in the queue, or a proposed parameter set other than `seen`."""
    return load_acquire(queue_in) != load_acquire(queue_out) or load_acquire(proposed) != seen


@kernel
def collect(ring, first, last, spare, out, size):
    """Copy records first … last-1 of a ring to `out`, leaving out those that are gone; returns how many were copied.

    A record in memory has `size` bytes and is all zero before; there is room for a published one at `spare`.
    """
    _, slots, count, plan, step = ring
    kept = 0
    for number in range(first, last):
        slot = slots + (number % count) * (step + 8)
        if get(slot, slot + 8, spare, step, 2 * number + 2):
            unpack(spare, plan, out + kept * size)
            kept += 1
    return kept


@kernel
def store_word(address, value):
    """Write one 8-byte word so that everything before it is visible first."""
    store_release(address, value)
