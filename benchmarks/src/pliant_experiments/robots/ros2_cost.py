"""The cost of a ROS 2 message: patched into a template against built as an object, all topics in turns.

The cost is processor time of the whole process, including middleware threads, in batches. Unlike elapsed time, it does
not depend on other programs. Elapsed time is reported too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.analysis.targets import Figure, at_most, reported
from pliant.bridge.published_topics import cmd_vel, live_topics
from pliant.control.telemetry import TELEMETRY
from pliant.errors import PliantError
from pliant.ros2 import message_types
from pliant.ros2.dds_types import dds_type
from pliant.ros2.node import Node, Writer
from pliant.ros2.templates import Stencil
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]

MESSAGES, BATCH, EVERY_S = 4000, 50, 0.002
NAMES = [f"joint_{i}" for i in range(6)]
TARGET_US = 20.0


@dataclass(frozen=True)
class Cost:
    """Cost of a message [µs]: processor time, as one mean per batch, and elapsed time, for each message."""

    cpu: Array
    wall: Array


@dataclass(frozen=True)
class Costs:
    """Costs of each topic by template, of all topics in turns as a bridge sends them, of joint states as objects."""

    topics: dict[str, Cost]
    paced: Cost
    objects: Cost


def _timed(actions: list[Callable[[int], object]], count: int) -> list[Cost]:
    """The cost of this many calls of each: batches in turns, so that no disturbance affects only one of them."""
    cpu, wall = np.empty((len(actions), count // BATCH)), np.empty((len(actions), count))
    for first in range(0, count, BATCH):
        for which, action in enumerate(actions):
            at = time.process_time()
            for i in range(first, first + BATCH):
                began = time.perf_counter()
                action(i)
                wall[which, i] = time.perf_counter() - began
            cpu[which, first // BATCH] = (time.process_time() - at) / BATCH
    return [Cost(1e6 * one, 1e6 * other) for one, other in zip(cpu, wall, strict=True)]


# A process that subscribes to everything: messages have to leave this process.
_LISTENER = """
import json, sys, time
from pliant.ros2.node import Node
with Node("listener") as node:
    readers = [node.reader(topic, kind) for topic, kind in json.loads(sys.argv[1])]
    while True:
        for reader in readers:
            reader.take(100)
        time.sleep(0.002)
"""


@contextmanager
def _listener(topics: list[tuple[str, str]]) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", _LISTENER, json.dumps(topics)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _await_listener(writers: list[Writer]) -> None:
    deadline = time.monotonic() + 60.0
    while not all(writer.listeners for writer in writers):
        if time.monotonic() > deadline:
            raise PliantError("The listener process of the experiment did not start.")
        time.sleep(0.01)


def cost(seed: int, count: int = MESSAGES) -> Costs:
    """The cost of messages to a listener in another process."""
    count = max(BATCH, count // BATCH * BATCH)
    records = np.random.default_rng(seed).normal(size=(count, TELEMETRY.dtype.itemsize // 8))
    rows = [row.view(np.uint8).data for row in records]
    every = [*live_topics(Task()), *live_topics(Task(interface="velocity")), cmd_vel("cmd_vel")]
    topics = list({topic.name: topic for topic in every}.values())
    with Node("pliant") as node:
        names = [node.full_name(topic.name) for topic in topics]
        kinds = [topic.message_type for topic in topics]
        writers = [node.writer(name, kind) for name, kind in zip(names, kinds, strict=True)]
        objects = node.writer("objects", message_types.JOINT_STATE)
        heard = [*zip(names, kinds, strict=True), ("/objects", message_types.JOINT_STATE)]
        with _listener(heard):
            _await_listener([*writers, objects])
            pairs = [(Stencil(topic, NAMES), writer) for topic, writer in zip(topics, writers, strict=True)]
            senders = [lambda i, s=stencil, w=writer: w.send(s.fill(rows[i], i)) for stencil, writer in pairs]
            *found, rival = _timed([*senders, _object_sender(objects, records.view(TELEMETRY.dtype)[:, 0])], count)
            return Costs(dict(zip(names, found, strict=True)), _in_turns(pairs, rows[: count // 4]), rival)


def _in_turns(pairs: list[tuple[Stencil, Writer]], rows: list[memoryview]) -> Cost:
    """As a bridge sends them: one of each topic, then a pause until the next tick.

    Only the sending thread counts here: other threads may do unrelated work in the pause.
    """
    cpu, wall = [], []
    for i, row in enumerate(rows):
        at, began = time.thread_time(), time.perf_counter()
        for stencil, writer in pairs:
            writer.send(stencil.fill(row, i))
        wall.append((time.perf_counter() - began) / len(pairs))
        cpu.append((time.thread_time() - at) / len(pairs))
        time.sleep(EVERY_S)
    return Cost(1e6 * np.array(cpu), 1e6 * np.array(wall))


def _object_sender(writer: Writer, records: Array) -> Callable[[int], object]:
    """Joint states the usual way: fields of an object of Cyclone DDS are set, and it is serialised."""
    of = dds_type
    stamp = of("builtin_interfaces/msg/Time")(sec=0, nanosec=0)
    header = of("std_msgs/msg/Header")(stamp=stamp, frame_id="")
    made = of(message_types.JOINT_STATE)(header=header, name=NAMES, position=[], velocity=[], effort=[])

    def send(i: int) -> None:
        reading = records[i]["reading"]
        stamp.sec, stamp.nanosec = divmod(i, 10**9)
        made.position, made.velocity, made.effort = (reading[name][:6].tolist() for name in ("q", "qd", "tau"))
        writer.send(made.serialize())

    return send


def cost_figures(costs: Costs) -> list[Figure]:
    """Processor time and elapsed time, with targets."""
    figures = [at_most(f"{topic}, median", np.median(one.cpu), "µs", TARGET_US) for topic, one in costs.topics.items()]
    states, late = costs.topics["/joint_states"], [np.median(one.wall) for one in costs.topics.values()]
    return [
        *figures,
        reported("elapsed time: cheapest topic, median", min(late), "µs"),
        at_most("elapsed time: most expensive topic, median", max(late), "µs", TARGET_US),
        reported("all topics every 2 ms, cold caches: per message, median", np.median(costs.paced.cpu), "µs"),
        reported("the same, elapsed time, median", np.median(costs.paced.wall), "µs"),
        reported("joint states as an object, median", np.median(costs.objects.cpu), "µs"),
        reported("object relative to template", np.median(costs.objects.cpu) / np.median(states.cpu), "×"),
    ]
