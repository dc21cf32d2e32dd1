"""Publishing telemetry: every tick on every topic; state, fault and parameters in words when they change."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pliant.bridge.topics import live_topics
from pliant.contact.states import EVENTS, STATES
from pliant.contact.states import FAULT as CONTACT_FAULT
from pliant.laws import LAWS
from pliant.params.declare import flat
from pliant.records import FAULTS, TELEMETRY
from pliant.ros2.messages import STRING, build
from pliant.ros2.node import Node, Writer
from pliant.ros2.templates import Stencil
from pliant.runtime.board_layout import FAULT, STATUS
from pliant.runtime.link import Link

Array = np.ndarray[Any, Any]

_LAW = {number: name for name, number in LAWS.items()}
_SIZE = TELEMETRY.dtype.itemsize


class Ticks:
    """Telemetry records as messages, one by one, by copying their values into messages made once."""

    def __init__(self, node: Node, stencils: list[Stencil]) -> None:
        self._pairs = [(each, node.writer(each.topic.name, each.topic.message_type)) for each in stencils]

    def publish(self, records: Array) -> None:
        """Send the messages of these records."""
        rows = np.ascontiguousarray(records).view(np.uint8).data
        for i, wall_ns in enumerate(records["timing"]["wall_ns"].tolist()):
            row = rows[i * _SIZE : (i + 1) * _SIZE]
            for stencil, writer in self._pairs:
                writer.send(stencil.fill(row, wall_ns))


class Texts:
    """Latched texts: who comes late receives the last one."""

    def __init__(self, node: Node, *names: str) -> None:
        self._writers: dict[str, Writer] = {name: node.writer(name, STRING, latched=True, depth=1) for name in names}
        self._said: dict[str, str] = {}

    def say(self, name: str, text: str) -> None:
        """Publish a text if it is another one than before."""
        if self._said.get(name) != text:
            self._said[name] = text
            self._writers[name].say(build(STRING, {"data": text}))

    def flush(self, within_s: float) -> None:
        for writer in self._writers.values():
            writer.flush(within_s)


class Publisher:
    """All that the bridge publishes of a loop."""

    def __init__(self, link: Link, node: Node) -> None:
        names = list(link.task.ros2.joint_names or link.arm.joint_names)
        latest = link.board.latest()
        mobile = latest is not None and bool(latest["base"]["present"])
        self.link = link
        self.ticks = Ticks(node, [Stencil(topic, names) for topic in live_topics(link.task, mobile=mobile)])
        self.texts = Texts(node, "~/state", "~/fault", "~/parameters")
        self._revision = -1

    def publish(self, records: Array) -> None:
        """Send what is in these records."""
        if len(records):
            self.ticks.publish(records)
            self.tell(records[-1])

    def tell(self, record: Any) -> None:
        """State, fault and parameters, where they have changed."""
        status = self.link.board.status
        self.texts.say("~/state", state_words(record, status))
        self.texts.say("~/fault", fault_words(record, status, self.link.board.reason if status == FAULT else ""))
        if self.link.board.adopted != self._revision:
            self._revision = self.link.board.adopted
            self.texts.say("~/parameters", json.dumps(flat(self.link.parameters)))

    def tell_death(self) -> None:
        """The loop ended without a word."""
        self.texts.say("~/state", STATUS[FAULT])
        self.texts.say("~/fault", "the process of the loop ended without a word")


def state_words(record: Any, status: int) -> str:
    """The state of a loop in a few words: what the loop does, the law, the state of its contact."""
    law = _LAW.get(int(record.goal.law), "")
    words = [STATUS[status], law]
    if law == "hybrid":
        words.append(STATES[int(record.state.contact.state)])
    if record.goal.stop:
        words.append("halted")
    return " ".join(words)


def fault_words(record: Any, status: int, reason: str) -> str:
    """Why the robot was stopped; empty while nothing is wrong."""
    if status == FAULT:
        return reason
    if record.state.fault:
        return FAULTS[int(record.state.fault)]
    contact = record.state.contact
    if _LAW.get(int(record.goal.law)) == "hybrid" and contact.state == CONTACT_FAULT:
        return EVENTS[int(contact.reason)]
    return ""
