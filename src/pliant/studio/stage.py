"""What the Studio shows: one loop, started here or attached to, and the recorder that follows it on request."""

from __future__ import annotations

import contextlib
import datetime
import string
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import Any

from pliant.contact.states import EVENTS, STATES
from pliant.errors import PliantError, RecordingError, RefusedError
from pliant.laws import LAWS
from pliant.model.catalogue import available_models
from pliant.params.control import Parameters
from pliant.params.declare import validated
from pliant.records import FAULTS, TROUBLES
from pliant.runtime.guard import guard_start
from pliant.runtime.link import Link, attach
from pliant.runtime.save import claim_recording, follow, output_folder
from pliant.runtime.session import Session
from pliant.runtime.task import Task, find_task, is_mission, located, shipped_tasks
from pliant.studio.archive import experiments
from pliant.studio.schema import parameters_in_words, values_of
from pliant.studio.shapes import Shapes
from pliant.studio.wire import CHANNELS, HEAD, SAMPLE_HZ, VERSION, limits_in_words


@dataclass(frozen=True)
class Scene:
    """A loop that is shown, with all that belongs to it: swapped whole, so that nobody sees half of a change."""

    link: Link
    shapes: Shapes
    source: str
    number: int
    """Counts the loops shown so far: a page that knows another number asks for the description again."""


class Stage:
    """One loop at a time. What takes long is done under `lock`; stopping and pushing never wait for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.scene: Scene | None = None
        self._count = self._keeps = 0
        self.kept: dict[str, Parameters] = {}
        """Sets of parameters that were kept to compare, by letter."""
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
            session = Session(task)
            guard_start(session.task)  # before the one that runs is ended
            self.close()
            session.start()
            self._show(session, source)

    def _show(self, link: Link, source: str) -> None:
        self._count += 1
        self.scene = Scene(link, Shapes(link.task), source, self._count)

    def close(self) -> None:
        """End what was started here; a loop that was attached to goes on."""
        with self.lock:
            self.stop_recording()
            scene, self.scene = self.scene, None
            if scene is not None and isinstance(scene.link, Session):
                link = scene.link
                with contextlib.suppress(PliantError):  # it has ended by a fault, of which the page was told
                    link.stop()

    @property
    def running(self) -> Link:
        """The loop; raises when there is none."""
        if (scene := self.scene) is None:
            raise RefusedError("No loop is running. Start a task first.")
        return scene.link

    # -- sets to compare --

    def keep(self) -> str:
        """Keep the parameters in force under the next letter; after Z, A is forgotten and begun anew."""
        with self.lock:
            name = string.ascii_uppercase[self._keeps % len(string.ascii_uppercase)]
            self.kept[name] = self.running.parameters
            self._keeps += 1
            return name

    def preset(self, name: str) -> Parameters:
        """A set that was kept, or the one of a task."""
        return self.kept[name] if name in self.kept else find_task(name).params

    # -- recording --

    def record(self) -> str:
        """Let a recorder follow the loop from now on; returns the file."""
        with self.lock:
            link = self.running
            if self._recorder is not None and self._recorder.poll() is None:
                raise RefusedError(f"It is being recorded already, into {self.recording}.")
            stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
            path = output_folder() / f"{link.task.name.replace(' ', '_').replace('/', '_')}-{stamp}.mcap"
            claim_recording(path)
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
        scene = self.scene
        return {
            "version": VERSION,
            "number": 0 if scene is None else scene.number,
            "channels": [channel.describe() for channel in CHANNELS],
            "head": list(HEAD),
            "limits": limits_in_words(),
            "parameters": parameters_in_words(),
            "tasks": [name for name, path in shipped_tasks().items() if not is_mission(path)],
            "experiments": experiments(),
            "robots": [f"sim:{name}" for name in available_models()],
            "kept": list(self.kept),
            "loop": None if scene is None else _in_words(scene),
        }


def _in_words(scene: Scene) -> dict[str, Any]:
    link, shapes = scene.link, scene.shapes
    return {
        "name": link.name,
        "task": link.task.name,
        "source": scene.source,
        "robot": link.task.robot,
        "interface": link.task.interface,
        "rate_hz": link.task.rate_hz,
        "sample_every": max(1, round(link.task.rate_hz / SAMPLE_HZ)),
        "shapes": shapes.describe(),
        "bodies": shapes.bodies,
        "up": shapes.up,
        "laws": {str(number): name for name, number in LAWS.items()},
        "states": list(STATES),
        "reasons": {str(number): words for number, words in EVENTS.items()},
        "faults": {str(number): words for number, words in FAULTS.items()},
        "troubles": {str(number): words for number, words in TROUBLES.items()},
        "values": values_of(link.parameters),
        "revision": int(link.board.adopted),
        "pushable": link.task.robot.startswith("sim:"),
    }
