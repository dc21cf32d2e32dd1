"""The recorder that follows the loop on request: its file and its result."""

from __future__ import annotations

import datetime
import itertools
import subprocess
import time
from pathlib import Path

from pliant.errors import RecordingError, RejectedError
from pliant.runtime.link import Link
from pliant.runtime.mission_link import MissionLink
from pliant.runtime.save import NOW, claim_recording, follow, output_folder


class Recorder:
    """One recording at a time, in its own process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._file = self._mishap = ""

    def begin(self, link: Link | MissionLink) -> str:
        """Start recording a loop; returns the file."""
        if self._process is not None and self._process.poll() is None:
            raise RejectedError(f"A recording is already running: {self._file}.")
        path = _free_name(link.task.name.replace(" ", "_").replace("/", "_"))
        claim_recording(path)
        link.board.recording = False
        process = self._process = follow(link.board.path, path, NOW)
        while not link.board.recording:
            if process.poll() is not None:
                raise RecordingError(path, "could not be started: the recorder exited at once.")
            time.sleep(0.01)
        self._file, self._mishap = str(path), ""
        return self._file

    def end(self) -> str:
        """End the recording; returns its file. It counts as running until everything is written."""
        path, process = self._file, self._process
        if process is not None:
            process.terminate()
            process.wait()
        self._file, self._process = "", None
        return path

    def look(self) -> tuple[str, str]:
        """The file that is being written (or ""), and what went wrong with the last one. Never waits."""
        process, file = self._process, self._file
        if file and process is not None and (code := process.poll()) is not None:
            self._file = ""
            self._mishap = f"The recorder exited early (exit code {code}): {file} is not complete." if code else ""
        return self._file, self._mishap


def _free_name(task: str) -> Path:
    """A file that is not there yet: two recordings may begin within a second."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (f"{task}-{stamp}{f'-{number}' if number > 1 else ''}.mcap" for number in itertools.count(1))
    return next(path for name in names if not (path := output_folder() / name).exists())
