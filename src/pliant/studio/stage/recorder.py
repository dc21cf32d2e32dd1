"""The recorder that follows the loop: its file and its result."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import subprocess
import time
from pathlib import Path

from pliant.errors import RecordingError, RejectedError
from pliant.loop.processes import ended_within
from pliant.loop.saving import (
    NOW,
    claim_recording,
    end_recorder,
    follow,
    has_begun,
    output_folder,
    recording_problem,
)
from pliant.mobile.mission.mission_link import MissionLink, MissionSession
from pliant.session.link import Link
from pliant.session.session import Session

# Automatic recordings that are kept, and the size at which one stops [bytes].
MOST_AUTOMATIC = 20
AUTOMATIC_BYTES = 200_000_000
_AUTOMATIC = "studio-"
# How long a recorder may take to finish after its loop has ended [s].
_END_S = 10.0


class Recorder:
    """One recording at a time, in its own process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._file = self._mishap = ""
        self.is_automatic = False
        """Whether the recording began with its run, and ends with it."""

    def begin(self, link: Link | MissionLink) -> str:
        """Start recording a loop; returns the file."""
        if self._process is not None and self._process.poll() is None:
            raise RejectedError(f"A recording is already running: {self._file}.")
        return self._follow(link, _free_name(link.task.name))

    def claim(self, task: str) -> Path | None:
        """A file for an automatic recording of a task; None if none can be written. Old ones are deleted."""
        path = _free_name(f"{_AUTOMATIC}{task}")
        try:
            claim_recording(path)
        except RecordingError as error:
            self._mishap = f"The run is not recorded: {error}"
            return None
        _prune(MOST_AUTOMATIC - 1)
        return path

    def adopt(self, session: Session | MissionSession, path: Path | None) -> None:
        """Take over the automatic recording of a run that has just started."""
        if path is None:
            return
        if session.recorder is None:  # a mission does not move yet: nothing is missed
            self._follow(session, path)
        else:
            self._process, self._file, self._mishap = session.recorder, str(path), ""
        self.is_automatic = True

    def _follow(self, link: Link | MissionLink, path: Path) -> str:
        claim_recording(path)
        process = self._process = follow(link.board.path, path, NOW)
        while not has_begun(link.board, path):
            if process.poll() is not None:
                raise RecordingError(path, "could not be started: the recorder exited at once.")
            time.sleep(0.01)
        self._file, self._mishap, self.is_automatic = str(path), "", False
        return self._file

    def end(self, wait_s: float = 0.0) -> str:
        """End the recording; returns its file. It counts as running until everything is written.

        `wait_s`: how long it may take to end by itself, because its loop has ended.
        """
        path, process = self._file, self._process
        if process is not None:
            ended_within(process, wait_s)
            process.terminate()
            end_recorder(process, _END_S)
        self._file, self._process, self.is_automatic = "", None, False
        return path

    def end_with_loop(self) -> str:
        """End the recording of a loop that has ended, when it has read everything."""
        return self.end(_END_S)

    def look(self) -> tuple[str, str]:
        """The file that is being written (or ""), and what went wrong with the last one. Never waits."""
        process, file = self._process, self._file
        if not file or process is None:
            return self._file, self._mishap
        if (code := process.poll()) is not None:
            self._file = ""
            if code:
                self._mishap = f"{file} {recording_problem(process)}"
        elif self.is_automatic and _size(file) > AUTOMATIC_BYTES:
            process.terminate()
            self.is_automatic = False
            self._mishap = (
                f"The automatic recording stopped at {AUTOMATIC_BYTES / 1e6:.0f} MB: {file}. Press Record for another."
            )
        return self._file, self._mishap


def _size(file: str) -> int:
    with contextlib.suppress(OSError):
        return Path(file).stat().st_size
    return 0


def _prune(most: int) -> None:
    """Delete old automatic recordings; the newest `most` stay."""
    files = [(path.stat().st_mtime, path) for path in output_folder().glob(f"{_AUTOMATIC}*.mcap")]
    for _, path in sorted(files)[: max(0, len(files) - most)]:
        with contextlib.suppress(OSError):
            path.unlink()


def _free_name(task: str) -> Path:
    """A file that does not exist yet: two recordings may start within a second."""
    name = task.replace(" ", "_").replace("/", "_")
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (f"{name}-{stamp}{f'-{number}' if number > 1 else ''}.mcap" for number in itertools.count(1))
    return next(path for each in names if not (path := output_folder() / each).exists())
