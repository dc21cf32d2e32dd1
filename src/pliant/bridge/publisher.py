"""Publishing telemetry: every tick on every topic; state, fault and parameters in words when they change."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.bridge.command_topics import Drive
from pliant.bridge.helper_process import AnyLink
from pliant.bridge.odometry import Odometry
from pliant.bridge.published_topics import command_topics, shown_topics
from pliant.bridge.status_text import ArmWords, MissionWords
from pliant.control.telemetry import TELEMETRY
from pliant.loop.board_layout import FAULT, STATUS
from pliant.model.arm import Arm
from pliant.robots import model_of
from pliant.ros2.message_types import STRING, build
from pliant.ros2.node import Node, Writer
from pliant.ros2.templates import Stencil
from pliant.session.link import Link

Array = np.ndarray[Any, Any]

_SIZE = TELEMETRY.dtype.itemsize


def send(records: Array, pairs: list[tuple[Stencil, Writer]]) -> None:
    """Send telemetry records as messages, by copying their values into prepared messages."""
    rows = np.ascontiguousarray(records).view(np.uint8).data
    for i, wall_ns in enumerate(records["timing"]["wall_ns"].tolist()):
        row = rows[i * _SIZE : (i + 1) * _SIZE]
        for stencil, writer in pairs:
            writer.send(stencil.fill(row, wall_ns))


class Texts:
    """Latched texts: late subscribers receive the last one."""

    def __init__(self, node: Node, *names: str) -> None:
        self._writers: dict[str, Writer] = {name: node.writer(name, STRING, latched=True, depth=1) for name in names}
        self._said: dict[str, str] = {}

    def say(self, name: str, text: str) -> None:
        """Publish a text if it has changed; retry if it could not be sent."""
        if self._said.get(name) != text and self._writers[name].say(build(STRING, {"data": text})):
            self._said[name] = text

    def flush(self, within_s: float) -> None:
        """Wait until all texts have arrived, at most so long [s]."""
        for writer in self._writers.values():
            writer.flush(within_s)


class Publisher:
    """Everything that the bridge publishes for a loop."""

    def __init__(self, link: AnyLink, node: Node, *, agreed: bool) -> None:
        names = joint_names(link)
        shown = [Stencil(topic, names) for topic in shown_topics(link.task)]
        self.link = link
        self._shown = [(each, node.writer(each.topic.name, each.topic.message_type)) for each in shown]
        self.drive = Drive(node, [Stencil(topic, names) for topic in command_topics(link.task)], agreed=agreed)
        self._odometry = None if isinstance(link, Link) else Odometry(node)
        self._words = ArmWords(link) if isinstance(link, Link) else MissionWords(link)
        self.texts = Texts(node, *self._words.topics)

    def publish(self, records: Array) -> None:
        """Publish these records."""
        if len(records):
            send(records, [*self._shown, *self.drive.pairs])
            if self._odometry is not None:
                self._odometry.send(records)
            self.tell(records[-1])

    def tell(self, record: Any) -> None:
        """Publish state, fault and parameters if they have changed."""
        for topic, text in self._words.of(record).items():
            held = self.drive.held if topic == "~/state" else []
            self.texts.say(topic, "; withheld: ".join([text, " ".join(held)]) if held else text)

    def publish_crash(self) -> None:
        """Report that the loop's process exited without reporting a reason."""
        self.texts.say("~/state", STATUS[FAULT])
        self.texts.say("~/fault", "the loop's process exited without reporting a reason")


def joint_names(link: AnyLink) -> list[str]:
    """The joint names of a loop's arm, as used in messages."""
    arm = link.arm if isinstance(link, Link) else Arm.load(model_of(link.task.robot))
    return list(link.task.ros2.joint_names or arm.joint_names)
