"""The scene that is shown: a loop of an arm or of a mission, with everything a page needs to draw it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from pliant.control.parameters import Parameters
from pliant.mobile.mission.mission_link import MissionLink
from pliant.mobile.planning.map_files import load_map
from pliant.robots import is_simulated
from pliant.session.link import Link
from pliant.studio.page_messages import LoopWords, MissionMessage, MissionWords, ParametersMessage
from pliant.studio.shown_parameters import in_force
from pliant.studio.stage.mission_view import channels_of, mission_in_words, mission_log_in_words
from pliant.studio.stage.shapes import Shapes
from pliant.studio.wire import SAMPLE_HZ, Channel, arm_channels

L = TypeVar("L", bound=Link | MissionLink)


class Scene(ABC, Generic[L]):
    """A loop that is shown, with everything that belongs to it: replaced whole, so no reader sees half a change."""

    def __init__(self, link: L, shapes: Shapes, source: str, number: int) -> None:
        self.link, self.shapes, self.source = link, shapes, source
        self.channels: tuple[Channel, ...] = arm_channels()
        self.law = ""
        """The law that the task starts with."""
        self.pushable = False
        """Whether a page can push the arm."""
        self.mission: MissionWords | None = None
        """Map and stages, if it is an arm on a base with a mission."""
        self.number = number
        """Counts the loops shown so far: a page with another number gets the description again."""

    @property
    def parameters_kind(self) -> type[Parameters]:
        """The kind of parameter set of the loop."""
        return Parameters

    @property
    def every(self) -> int:
        """Ticks per sample of the plots."""
        return max(1, round(self.link.task.rate_hz / SAMPLE_HZ))

    @property
    @abstractmethod
    def news(self) -> int:
        """A number that changes whenever `tell` has something new."""

    @abstractmethod
    def tell(self) -> ParametersMessage | MissionMessage:
        """The message with the current parameters or the state of the mission."""

    def describe(self) -> LoopWords:
        """Everything a page needs before it can read frames."""
        task = self.link.task
        return {
            "name": self.link.name,
            "task": task.name,
            "law": self.law,
            "source": self.source,
            "robot": task.robot,
            "rate_hz": task.rate_hz,
            "shapes": self.shapes.describe(),
            "bodies": self.shapes.bodies,
            "up": self.shapes.up,
            "pushable": self.pushable,
            "mission": self.mission,
            "now": self.tell(),
        }


class ArmScene(Scene[Link]):
    """An arm under a law."""

    def __init__(self, link: Link, source: str, number: int) -> None:
        super().__init__(link, Shapes.of_arm(link.task), source, number)
        self.law = link.task.law
        self.pushable = is_simulated(link.task.robot)

    @property
    def parameters_kind(self) -> type[Parameters]:
        return type(self.link.task.params)

    @property
    def news(self) -> int:
        return int(self.link.board.adopted)

    def tell(self) -> ParametersMessage:
        return {"type": "parameters", **in_force(self.link)}


class MissionScene(Scene[MissionLink]):
    """An arm on a base, on a map."""

    def __init__(self, link: MissionLink, source: str, number: int) -> None:
        super().__init__(link, Shapes.of_mission(link.task), source, number)
        self.grid = load_map(link.task.map)
        self.mission = mission_in_words(link.task, self.grid)
        self._goal = link.task.goal_pose
        self.channels = channels_of(link.task, self.grid, lambda: self._goal)

    @property
    def news(self) -> int:
        return self.link.board.mission_log_number

    def tell(self) -> MissionMessage:
        mission_log = self.link.mission_log
        self._goal = np.array(mission_log["account"]["goal"])
        return {"type": "mission", **mission_log_in_words(mission_log)}
