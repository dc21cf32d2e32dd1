"""Work that Ctrl-C must not leave half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Handle SIGINT and SIGTERM after the block instead of in the middle of it.

    Python runs its signal handlers in the main thread, between any two instructions, so a block in another thread is
    never interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ExitStack() as stack:  # each handler is put back and called although another one raises
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                came: list[FrameType | None] = []
                stack.callback(_hand_over, number, handler, came)
                signal.signal(number, lambda _, frame, came=came: came.append(frame))
        yield


def _hand_over(number: int, handler: Callable[[int, FrameType | None], object], came: list[FrameType | None]) -> None:
    """Put a handler back, and let it handle what came meanwhile."""
    signal.signal(number, handler)
    if came:
        handler(number, came[-1])
