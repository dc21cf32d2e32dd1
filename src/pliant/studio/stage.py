"""What the Studio shows: one loop, started here or attached to, and the recorder that follows it on request."""

from __future__ import annotations

import contextlib
import datetime
import subprocess
import threading
import time
from typing import Any

from pliant.errors import PliantError, RecordingError, RefusedError
from pliant.model.catalogue import available_models
from pliant.params.declare import validated
from pliant.runtime.link import Link, attach
from pliant.runtime.save import follow, output_folder
from pliant.runtime.session import Session
from pliant.runtime.task import Task, find_task, located, shipped_tasks
from pliant.studio.archive import experiments
from pliant.studio.schema import parameters_in_words, values_of
from pliant.studio.shapes import Shapes
from pliant.studio.wire import CHANNELS, HEAD, SAMPLE_HZ, VERSION, limits_in_words


class Stage:
    """One loop at a time. What takes long is done under `lock`; stopping and pushing never wait for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.link: Link | None = None
        self.shapes: Shapes | None = None
        self.source = ""
        self.number = 0
        """Counts the loops shown so far: a page that knows another number asks for the description again."""
        self._recorder: subprocess.Popen[bytes] | None = None
        self.recording = ""

    # -- which loop --

    def attach(self, name: str | None) -> None:
        """Show a loop that someone else has started."""
        with self.lock:
            self._show(attach(name), "")

    def start(self, source: str, robot: str = "") -> None:
        """End the loop that is shown, and start the task `source`, on another robot if one is named."""
        task = find_task(source)
        if robot:
            data = task.model_dump()
            data["robot"] = robot
            task = located(validated(Task, data))
        with self.lock:
            self.close()
            session = Session(task)
            session.start()
            self._show(session, source)

    def _show(self, link: Link, source: str) -> None:
        self.shapes = Shapes(link.task)
        self.link, self.source = link, source
        self.number += 1

    def close(self) -> None:
        """End what was started here; a loop that was attached to goes on."""
        with self.lock:
            self.stop_recording()
            link, self.link = self.link, None
            if isinstance(link, Session):
                with contextlib.suppress(PliantError):  # it has ended by a fault, of which the page was told
                    link.stop()

    @property
    def running(self) -> Link:
        """The loop; raises when there is none."""
        if self.link is None:
            raise RefusedError("No loop is running. Start a task first.")
        return self.link

    # -- recording --

    def record(self) -> str:
        """Let a recorder follow the loop from now on; returns the file."""
        with self.lock:
            link = self.running
            if self._recorder is not None and self._recorder.poll() is None:
                raise RefusedError(f"It is being recorded already, into {self.recording}.")
            stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
            path = output_folder() / f"{link.task.name.replace(' ', '_').replace('/', '_')}-{stamp}.mcap"
            link.board.recording = False
            self._recorder = follow(link.board.path, path, link.board.head)
            while not link.board.recording:
                if self._recorder.poll() is not None:
                    raise RecordingError(path, "could not be begun: the recorder ended at once.")
                time.sleep(0.01)
            self.recording = str(path)
            return self.recording

    def stop_recording(self) -> str:
        """End the recording; returns its file."""
        with self.lock:
            path, self.recording = self.recording, ""
            if self._recorder is not None:
                self._recorder.terminate()
                self._recorder.wait()
                self._recorder = None
            return path

    # -- in words --

    def describe(self) -> dict[str, Any]:
        """All that a page needs to know before frames mean something."""
        link = self.link
        return {
            "version": VERSION,
            "number": self.number,
            "channels": [channel.describe() for channel in CHANNELS],
            "head": list(HEAD),
            "limits": limits_in_words(),
            "parameters": parameters_in_words(),
            "tasks": list(shipped_tasks()),
            "experiments": experiments(),
            "robots": [f"sim:{name}" for name in available_models()],
            "loop": None if link is None or self.shapes is None else self._loop_in_words(link, self.shapes),
        }

    def _loop_in_words(self, link: Link, shapes: Shapes) -> dict[str, Any]:
        from pliant.contact.states import EVENTS, STATES
        from pliant.laws import LAWS
        from pliant.records import FAULTS, TROUBLES

        return {
            "name": link.name,
            "task": link.task.name,
            "source": self.source,
            "robot": link.task.robot,
            "interface": link.task.interface,
            "rate_hz": link.task.rate_hz,
            "sample_every": max(1, round(link.task.rate_hz / SAMPLE_HZ)),
            "shapes": shapes.describe(),
            "bodies": shapes.bodies,
            "laws": {str(number): name for name, number in LAWS.items()},
            "states": list(STATES),
            "reasons": {str(number): words for number, words in EVENTS.items()},
            "faults": {str(number): words for number, words in FAULTS.items()},
            "troubles": {str(number): words for number, words in TROUBLES.items()},
            "values": values_of(link.parameters),
            "revision": int(link.board.adopted),
            "pushable": link.task.robot.startswith("sim:"),
        }
