"""What the Studio shows: one loop, started here or attached to, and the recorder that follows it on request."""

from __future__ import annotations

import contextlib
import datetime
import string
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, RecordingError, RefusedError
from pliant.model.catalogue import available_models
from pliant.params.control import Parameters
from pliant.params.declare import validated
from pliant.runtime.guard import guard_start
from pliant.runtime.link import Link, attach, board_of
from pliant.runtime.mission_link import MissionLink, MissionSession, attach_mission
from pliant.runtime.mission_task import changed_mission, find_mission
from pliant.runtime.save import NOW, claim_recording, follow, output_folder
from pliant.runtime.session import Session
from pliant.runtime.task import MISSION, Task, find_file, find_task, is_mission, load_task, located, shipped_tasks
from pliant.studio.archive import experiments
from pliant.studio.scene import ArmScene, MissionScene
from pliant.studio.schema import parameters_in_words
from pliant.studio.wire import CHANNELS, HEAD, VERSION, limits_in_words


def _file_of(name: str) -> Path:
    """The file of a task. What is none, a device or a pipe, could be read without an end."""
    if not (path := find_file(name)).is_file():
        raise RefusedError(f"There is no task file {path}: give the path of an existing YAML file.")
    return path


class Stage:
    """One loop at a time. What takes long is done under `lock`; stopping and pushing never wait for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.scene: ArmScene | MissionScene | None = None
        self._count = self._keeps = 0
        self.kept: dict[str, Parameters] = {}
        """Sets of parameters that were kept to compare, by letter."""
        self._starting = self._stop_asked = False
        self._recorder: subprocess.Popen[bytes] | None = None
        self.recording = ""

    # -- which loop --

    def attach(self, name: str | None) -> None:
        """Show a loop that someone else has started."""
        with self.lock:
            is_driving = MISSION in board_of(name).config
            self._show(attach_mission(name) if is_driving else attach(name), "")

    def start(self, source: str, robot: str = "") -> None:
        """End the loop that is shown, and start the task or the mission `source`, on another robot if one is named."""
        if is_mission(_file_of(source)):
            self._start_mission(source, robot)
            return
        task = find_task(source)
        if robot:
            data = task.model_dump()
            data["robot"] = robot
            task = located(validated(Task, data))
        with self.lock:
            session = Session(task)
            guard_start(session.task)  # before the one that runs is ended
            self._starting, self._stop_asked = True, False
            try:
                self.close()
                session.start()
                self._show(session, source)
            finally:
                self._starting = False
            if self._stop_asked:
                session.halt()

    def _start_mission(self, source: str, robot: str) -> None:
        mission = find_mission(source)
        assert mission is not None
        session = MissionSession(changed_mission(mission, [], {"robot": robot or None}))
        with self.lock:
            session.start()  # a mission that cannot be done is refused here, and the loop that runs goes on
            self.close()
            self._show(session, source)

    def _show(self, link: Link | MissionLink, source: str) -> None:
        self._count += 1
        if isinstance(link, Link):
            self.scene = ArmScene(link, source, self._count)
        else:
            self.scene = MissionScene(link, source, self._count)

    def close(self) -> None:
        """End what was started here; a loop that was attached to goes on."""
        with self.lock:
            self.stop_recording()
            scene, self.scene = self.scene, None
            link = None if scene is None else scene.link
            if isinstance(link, Session | MissionSession):
                with contextlib.suppress(PliantError):  # it has ended by a fault, of which the page was told
                    link.stop()

    def halt(self) -> None:
        """Bring the robot to rest; one that is just being started, as soon as it can be told to."""
        self._stop_asked = True
        if self.scene is not None or not self._starting:
            self.shown.halt()

    @property
    def shown(self) -> Link | MissionLink:
        """The loop, whatever runs in it; raises when there is none."""
        if (scene := self.scene) is None:
            raise RefusedError("No loop is running. Start a task first.")
        return scene.link

    @property
    def running(self) -> Link:
        """The loop of an arm; raises when it is none."""
        if isinstance(link := self.shown, MissionLink):
            raise RefusedError("This is a mission: it can be begun, stopped and given another goal, and no more.")
        return link

    @property
    def mission(self) -> MissionLink:
        """The mission; raises when it is none."""
        if isinstance(link := self.shown, Link):
            raise RefusedError("This is the loop of an arm, not a mission.")
        return link

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
        return self.kept[name] if name in self.kept else load_task(_file_of(name)).params

    # -- recording --

    def record(self) -> str:
        """Let a recorder follow the loop from now on; returns the file."""
        with self.lock:
            link = self.shown
            if self._recorder is not None and self._recorder.poll() is None:
                raise RefusedError(f"It is being recorded already, into {self.recording}.")
            stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
            path = output_folder() / f"{link.task.name.replace(' ', '_').replace('/', '_')}-{stamp}.mcap"
            claim_recording(path)
            link.board.recording = False
            self._recorder = follow(link.board.path, path, NOW)
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
            "channels": [channel.describe() for channel in (CHANNELS if scene is None else scene.channels)],
            "head": list(HEAD),
            "limits": limits_in_words(),
            "parameters": parameters_in_words(),
            "tasks": list(shipped_tasks()),
            "presets": [name for name, path in shipped_tasks().items() if not is_mission(path)],
            "experiments": experiments(),
            "robots": [f"sim:{name}" for name in available_models()],
            "kept": list(self.kept),
            "loop": None if scene is None else scene.describe(),
        }
