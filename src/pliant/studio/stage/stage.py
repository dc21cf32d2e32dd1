"""What the Studio shows: one loop, started here or attached to, and its recorder."""

from __future__ import annotations

import contextlib
import string
import threading
from collections.abc import Callable
from pathlib import Path

from pliant.control.parameters import Parameters
from pliant.errors import PliantError, RejectedError, UnknownNameError
from pliant.mobile.mission.mission_link import MissionLink, MissionSession, attach_any
from pliant.mobile.mission.mission_task import MissionTask, changed_mission, find_mission
from pliant.model.catalogue import available_models
from pliant.params.declare import validated
from pliant.records import TROUBLES
from pliant.robots import is_simulated
from pliant.session.link import Link
from pliant.session.session import Session
from pliant.session.stop_request import Brake
from pliant.stability.guard import guard_start
from pliant.studio.law_words import laws_in_words
from pliant.studio.page_messages import Hello
from pliant.studio.shown_parameters import parameters_in_words
from pliant.studio.stage.liveness import status_of, was_killed
from pliant.studio.stage.recorder import Recorder
from pliant.studio.stage.shown_scene import ArmScene, MissionScene
from pliant.studio.stage.task_folders import TaskFolders
from pliant.studio.wire import HEAD, arm_channels, limits_in_words
from pliant.studio.work.archive import experiments_in_words
from pliant.studio.work.background import Work
from pliant.task.bundled_files import bundled_files, find_bundled, find_file
from pliant.task.schema import Task, is_mission, load_task, located

_ANOTHER = "This was requested for another loop, so it was not done. Repeat it if you still want it."


def _read(path: Path) -> Task | MissionTask:
    """The task or mission in a file."""
    return find_mission(str(path)) or load_task(path)


class Stage:
    """One loop at a time. Slow operations hold `lock`; stops and pushes never wait for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.scene: ArmScene | MissionScene | None = None
        self._count = self._keeps = 0
        self.kept: dict[str, Parameters] = {}
        """Kept sets of parameters to compare with, by letter."""
        self.stops = 0
        """Counts the requested stops: a request from before a stop must not move a robot after it."""
        self._beginning: Session | MissionSession | None = None
        self._ending: Session | MissionSession | None = None
        self._leaving = threading.Lock()
        self._robots: set[str] = set()
        self._waiting: tuple[str, bool, int] | None = None
        self._opening = False
        self.folders = TaskFolders()
        """The files that a page may name."""
        self.mishap = ""
        """Why the task from the command line could not be started."""
        self.recorder = Recorder()
        self.work = Work()

    # -- which loop --

    def attach(self, name: str | None) -> None:
        """Show a loop that was started elsewhere."""
        with self.lock:
            self._show(attach_any(name), "")

    def begin(self, source: str, *, record: bool = True) -> None:
        """Take the task or mission from the command line; its robot may be a real one.

        A simulated task waits for the first page (`open`), so that nothing of it is missed. A real robot starts at
        once, because the user has just confirmed it. So does a mission, which waits for its own command.
        """
        if not (path := find_file("task", source)).is_file():  # reading a device or a pipe might never end
            raise RejectedError(f"{path} is not a regular file. Give the path of a YAML file.")
        if find_bundled("task", source) != path:
            self.folders.add_file(path)
        task = _read(path)  # what is wrong with it is reported in the terminal
        if isinstance(task, MissionTask):
            self.start(source, record=record)
            return
        task = located(task)
        self._robots.add(task.robot)
        if not is_simulated(task.robot):
            self.start(source, record=record)
            return
        guard_start(task)
        self._waiting = source, record, self.stops

    def open(self) -> Callable[[], None] | None:
        """A page has opened: returns a slow function that starts the waiting task, or None if no task is waiting.

        Any stop, and any other task that a page starts first, prevents it.
        """
        if self._waiting is None:
            return None
        source, record, stops = self._waiting
        self._opening, self._waiting = True, None

        def start() -> None:
            try:
                with self.lock:
                    if self._count == 0:
                        self.start(source, record=record, stops=stops)
            except PliantError as error:
                self.mishap = str(error)
            finally:
                self._opening = False

        return start

    def start(self, source: str, robot: str = "", *, record: bool = False, stops: int | None = None) -> None:
        """End the loop that is shown and start the task or mission `source`, on another robot if one is given.

        `record`: record the run from its start. `stops`: how many stops had come when it was requested, if not now.
        """
        if robot and robot not in self.robots:
            raise UnknownNameError("robot", robot, self.robots)
        stops = self.stops if stops is None else stops
        task = self.folders.load(source, _read)
        if isinstance(task, MissionTask):
            self._start_mission(task, source, robot, record)
            return
        if robot:
            data = task.model_dump()
            data["robot"] = robot
            task = located(validated(Task, data))
        self._check_robot(task.robot)
        with self.lock:
            file = self.recorder.claim(task.name) if record else None
            session = Session(task, record=file)
            guard_start(session.task)  # before the running loop is ended
            if self.stops != stops:
                raise RejectedError("A stop came before the task started, so it was not started.")
            self._start_arm(session, source, stops)
            self.recorder.adopt(session, file)

    def _start_arm(self, session: Session, source: str, stops: int) -> None:
        self._beginning = session
        try:
            self.close()
            session.start()
            self._show_or_stop(session, source, stops)
        finally:
            self._beginning = None
        if self.stops != stops:
            session.halt()

    def _start_mission(self, mission: MissionTask, source: str, robot: str, record: bool) -> None:
        session = MissionSession(changed_mission(mission, [], {"robot": robot or None}))
        self._check_robot(session.task.robot)
        with self.lock:
            self._beginning = session
            try:
                session.start()  # an impossible mission is rejected here, and the running loop continues
                self._show_or_stop(session, source)
            finally:
                self._beginning = None
            self.recorder.adopt(session, self.recorder.claim(session.task.name) if record else None)

    def _show_or_stop(self, session: Session | MissionSession, source: str, stops: int | None = None) -> None:
        """Show a loop that was started in place of the previous one; it must not move before it is shown. Nor may it
        move if a stop has arrived since `stops`: an arm moves as soon as its loop ticks, a mission only after it has
        begun.
        """
        try:
            if stops is not None and self.stops != stops:
                session.halt()  # before all else
            self.close()
            self._show(session, source)
        except BaseException:
            session.stop()
            raise

    @property
    def _starting(self) -> bool:
        return self._beginning is not None

    @property
    def is_opening(self) -> bool:
        """Whether the task from the command line waits for a page, or is about to start."""
        return self._waiting is not None or self._opening

    @property
    def robots(self) -> list[str]:
        """The robots that a page may choose from."""
        return [f"sim:{name}" for name in available_models()]

    def _check_robot(self, robot: str) -> None:
        """Raise if a page would start a real robot that was not given at the command line."""
        if not is_simulated(robot) and robot not in self._robots:
            raise RejectedError(
                f"{robot} is a real robot. A page may start it only if the Studio was started with its task "
                "(pliant studio TASK)."
            )

    def _show(self, link: Link | MissionLink, source: str) -> None:
        number = self._count + 1
        arm = isinstance(link, Link)
        self.scene = ArmScene(link, source, number) if arm else MissionScene(link, source, number)
        self._count = number  # last: no page may see the number of a loop that is not there yet

    def close(self) -> None:
        """End a loop that was started here; one that was attached to keeps running."""
        with self.lock:
            self.clean_up_killed()
            if not self.recorder.is_automatic:
                self.stop_recording()
            link = None if self.scene is None else self.scene.link
            self._ending = link if isinstance(link, Session | MissionSession) else None
            self.scene = None  # last: a loop that lifts its tool off before it ends can be stopped meanwhile
            try:
                if self._ending is not None:
                    with contextlib.suppress(PliantError):  # it has ended by a fault, which the page has received
                        self._ending.stop()
            finally:
                self._ending = None
                self.recorder.end_with_loop()

    @property
    def was_killed(self) -> bool:
        """Whether a loop that was started here was killed and not cleaned up yet."""
        link = None if (scene := self.scene) is None else scene.link
        return isinstance(link, Session | MissionSession) and was_killed(link)

    def clean_up_killed(self) -> None:
        """Clean up once after a loop that was killed: save its last seconds, and note on its board why it ended."""
        scene = self.scene
        if scene is not None and self.was_killed:
            with self._leaving, contextlib.suppress(PliantError):  # the reason, for every client of the loop
                scene.link.check()

    def note_stop(self) -> None:
        """Note a stop: earlier requests no longer move anything."""
        self.stops += 1

    def brake(self) -> list[Brake]:
        """Send the loop a stop. A loop that is starting stops as soon as it can, because the stop was noted."""
        told = self.brake_at_once()
        if not told and (self.scene is not None or not self._starting):
            self.shown().halt()
        return told

    def brake_at_once(self) -> list[Brake]:
        """Send a stop to every running loop, including one that is starting or ending, and wait for nothing.

        An arm's loop that is starting and cannot receive commands yet is included, as not confirmed.
        """
        loops = [(link, link.running) for link in self._loops]
        return [Brake(link, can_hear=runs) for link, runs in loops if runs or self._cannot_receive_stop(link)]

    def _cannot_receive_stop(self, link: Link | MissionLink) -> bool:
        """Whether this arm's loop is starting and cannot receive a stop yet. (A mission does not move before its
        command.)
        """
        return link is self._beginning and isinstance(link, Session)

    @property
    def _loops(self) -> list[Link | MissionLink]:
        """All loops that may move a robot now. They are read in this order, because a loop moves from the first
        attribute to the last.
        """
        beginning, scene, ending = self._beginning, self.scene, self._ending
        found = [beginning, None if scene is None else scene.link, ending]
        return list(dict.fromkeys(link for link in found if link is not None))

    @property
    def is_idle(self) -> bool:
        """Whether there is no loop to stop, now or soon: all have ended."""
        return not self._starting and all(status_of(link)[0] in ("fault", "ended") for link in self._loops)

    @property
    def number(self) -> int:
        """Counts the loops shown so far: a request carries the number of its loop."""
        scene = self.scene
        return self._count if scene is None else scene.number

    def check_run(self, run: int) -> None:
        """Raise if the loop of this number is not the one shown."""
        if run != self.number:
            raise RejectedError(_ANOTHER)

    def shown(self, run: int | None = None) -> Link | MissionLink:
        """The loop of any kind; raises if no loop is shown, or not the one of the number `run`."""
        scene = self.scene
        if run is not None and run != (self._count if scene is None else scene.number):
            raise RejectedError(_ANOTHER)
        if scene is None:
            raise RejectedError("No loop is running. Start a task first.")
        self.clean_up_killed()
        return scene.link

    def arm(self, run: int | None = None) -> Link:
        """The loop of an arm; raises if a mission is shown."""
        if isinstance(link := self.shown(run), MissionLink):
            raise RejectedError("This is not possible in a mission. You can begin it, stop it, and set another goal.")
        return link

    def mission(self, run: int | None = None) -> MissionLink:
        """The mission; raises if an arm's loop is shown."""
        if isinstance(link := self.shown(run), Link):
            raise RejectedError("This needs a mission, but the loop of an arm is running.")
        return link

    # -- sets to compare --

    def keep(self, parameters: Parameters) -> str:
        """Keep parameters under the next letter; after Z, A is replaced."""
        with self.lock:
            name = string.ascii_uppercase[self._keeps % len(string.ascii_uppercase)]
            self.kept[name] = parameters
            self._keeps += 1
            return name

    def preset(self, name: str) -> Parameters:
        """A kept set, or the one of a task."""
        return self.kept[name] if name in self.kept else self.folders.load(name, load_task).params

    # -- recording --

    def record(self) -> str:
        """Start recording the loop; returns the file."""
        with self.lock:
            return self.recorder.begin(self.shown())

    def stop_recording(self) -> str:
        """End the recording; returns its file."""
        with self.lock:
            return self.recorder.end()

    # -- in words --

    def describe(self) -> Hello:
        """Everything a page needs before it can read frames."""
        scene, tasks = self.scene, bundled_files("task")
        kind = Parameters if scene is None else scene.parameters_kind
        experiments, why_none = experiments_in_words()
        return {
            "type": "hello",
            "number": self._count if scene is None else scene.number,
            "channels": [channel.describe() for channel in (arm_channels() if scene is None else scene.channels)],
            "head": HEAD,
            "limits": limits_in_words(),
            "troubles": {str(number): words for number, words in TROUBLES.items()},
            "laws": laws_in_words(kind),
            "parameters": parameters_in_words(kind),
            "tasks": list(tasks),
            "presets": [name for name, path in tasks.items() if not is_mission(path)],
            "experiments": experiments,
            "no_experiments": why_none,
            "robots": self.robots,
            "loop": None if scene is None else scene.describe(),
        }
