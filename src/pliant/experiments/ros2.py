"""The bridge to ROS 2: what a message costs, how long it takes to a real ROS 2 and back, and what the loop feels.

Each is measured beside its rival in the same run: a message patched into a template beside one made as an object, and
the lateness of one loop in turns without and with the bridge beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis import style
from pliant.analysis.figures import Figure, Outcome, at_most, told
from pliant.bridge.start import bridged
from pliant.bridge.topics import live_topics
from pliant.errors import PliantError
from pliant.experiments import Progress
from pliant.experiments.lateness import lateness
from pliant.experiments.push import TOOL
from pliant.experiments.ros2_peer import Peer, PeerMissingError, own_network
from pliant.records import TELEMETRY
from pliant.ros2 import messages
from pliant.ros2.dds_types import dds_type
from pliant.ros2.node import Node, Writer
from pliant.ros2.templates import Stencil
from pliant.runtime.session import Session
from pliant.runtime.task import Task

Array = np.ndarray[Any, Any]

MESSAGES, ROUND_TRIPS, RATE_HZ = 2000, 1000, 500.0
# The loop is watched for so long without the bridge and as long with it [s], so many times in turns.
SECONDS, TURNS = 4.0, 3
NAMES = [f"joint_{i}" for i in range(6)]
BAR_US, EFFECT_US = 20.0, 10.0
_GIVE_UP_S = 1.0


@contextmanager
def _network(notes: list[str]) -> Iterator[None]:
    """A network of our own; where that is not permitted, the loopback in a domain that is hardly used."""
    before = dict(os.environ)
    own = own_network()
    try:
        own.__enter__()
    except PeerMissingError as error:
        notes.append(f"{error} So it ran on the loopback of this machine, in domain 97.")
        os.environ.update(ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST", ROS_DOMAIN_ID="97")
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
        return
    try:
        yield
    finally:
        own.__exit__(None, None, None)


# ---- cost of a message ---------------------------------------------------------------------------------------------


def _timed(action: Callable[[int], object]) -> Array:
    """How long each call takes [µs]."""
    taken = np.zeros(MESSAGES)
    for i in range(MESSAGES):
        began = time.perf_counter()
        action(i)
        taken[i] = time.perf_counter() - began
    return taken * 1e6


# Another process that hears everything: what is sent has to leave this one.
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
            raise PliantError("The listener of the experiment did not come.")
        time.sleep(0.01)


def cost(seed: int) -> tuple[dict[str, Array], Array, Array]:
    """Time per message [µs]: of each topic by template, of all of them in turns, and of joint states as objects."""
    records = np.random.default_rng(seed).normal(size=(MESSAGES, TELEMETRY.dtype.itemsize // 8))
    rows = [row.view(np.uint8).data for row in records]
    every = [*live_topics(Task(), mobile=True), *live_topics(Task(interface="velocity"))]
    topics = list({topic.name: topic for topic in every}.values())
    with Node("pliant") as node:
        names = [node.full_name(topic.name) for topic in topics]
        kinds = [topic.message_type for topic in topics]
        writers = [node.writer(name, kind) for name, kind in zip(names, kinds, strict=True)]
        objects = node.writer("objects", messages.JOINT_STATE)
        heard = [*zip(names, kinds, strict=True), ("/objects", messages.JOINT_STATE)]
        with _listener(heard):
            _await_listener([*writers, objects])
            pairs = [(Stencil(topic, NAMES), writer) for topic, writer in zip(topics, writers, strict=True)]
            found = {
                name: _timed(lambda i, s=stencil, w=writer: w.send(s.fill(rows[i], i)))
                for name, (stencil, writer) in zip(names, pairs, strict=True)
            }
            paced = _in_turns(pairs, rows)
            return found, paced, _timed(_object_sender(objects, records.view(TELEMETRY.dtype)[:, 0]))


def _in_turns(pairs: list[tuple[Stencil, Writer]], rows: list[memoryview]) -> Array:
    """Time per message [µs] as a bridge sends them: one of each topic, then a pause until the next tick."""
    taken = []
    for i, row in enumerate(rows[: MESSAGES // 2]):
        for stencil, writer in pairs:
            began = time.perf_counter()
            writer.send(stencil.fill(row, i))
            taken.append(time.perf_counter() - began)
        time.sleep(1.0 / RATE_HZ)
    return np.array(taken) * 1e6


def _object_sender(writer: Writer, records: Array) -> Callable[[int], object]:
    """Joint states the usual way: fields of an object of Cyclone DDS are set, and it is serialised."""
    of = dds_type
    stamp = of("builtin_interfaces/msg/Time")(sec=0, nanosec=0)
    header = of("std_msgs/msg/Header")(stamp=stamp, frame_id="")
    made = of(messages.JOINT_STATE)(header=header, name=NAMES, position=[], velocity=[], effort=[])

    def send(i: int) -> None:
        reading = records[i]["reading"]
        stamp.sec, stamp.nanosec = divmod(i, 10**9)
        made.position, made.velocity, made.effort = (reading[name][:6].tolist() for name in ("q", "qd", "tau"))
        writer.send(made.serialize())

    return send


# ---- there and back ------------------------------------------------------------------------------------------------


def round_trip(seed: int) -> tuple[Array, int, int]:
    """Joint states to a real ROS 2 and back at 500 Hz: times [µs], how many did not return, how many had changed."""
    records = np.random.default_rng(seed).normal(size=(ROUND_TRIPS, TELEMETRY.dtype.itemsize // 8))
    topic = next(topic for topic in live_topics(Task()) if topic.message_type == messages.JOINT_STATE)
    stencil, times, lost, changed = Stencil(topic, NAMES), [], 0, 0
    with Peer() as peer, Node("pliant") as node:
        writer = node.writer("there", messages.JOINT_STATE)
        reader = node.reader("back", messages.JOINT_STATE)
        node.announce()
        peer("echo", here="/there", there="/back", type=messages.JOINT_STATE)
        deadline = time.monotonic() + 30.0
        while not (writer.listeners and reader.speakers) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.5)  # the other side may have to find us yet
        due = time.perf_counter()
        for i, row in enumerate(records):
            due += 1.0 / RATE_HZ
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            writer.send(stencil.fill(row.view(np.uint8).data, i))
            back = _next(reader, i)
            if back is None:
                lost += 1
                continue
            times.append((time.perf_counter() - began) * 1e6)
            joints = row.view(TELEMETRY.dtype)["reading"][0]
            came = np.concatenate([back.position, back.velocity, back.effort])
            changed += came.tobytes() != np.concatenate([joints[name][:6] for name in ("q", "qd", "tau")]).tobytes()
    return np.array(times), lost, changed


def _next(reader: Any, number: int) -> Any:
    """The answer to message `number`; None if it does not come."""
    deadline = time.perf_counter() + _GIVE_UP_S
    while time.perf_counter() < deadline:
        for found in reader.messages():
            if found.header.stamp.nanosec == number:
                return found
        time.sleep(20e-6)
    return None


# ---- what the loop feels -------------------------------------------------------------------------------------------


def _watch(session: Session) -> Array:
    """Lateness of every tick [s] for a while."""
    session.read()
    parts = []
    for _ in range(max(1, round(SECONDS))):
        session.wait(min(1.0, SECONDS))
        parts.append(session.read()["timing"]["late_s"])
    return np.concatenate(parts)


def beside(progress: Progress) -> tuple[list[Array], list[Array], str]:
    """Lateness of one loop [s] in turns without and with the bridge, and what the loop was granted."""
    without, with_bridge = [], []
    with Session(Task(law="admittance", tool=TOOL, duration_s=3600)) as session:
        session.wait(0.5)
        for turn in range(TURNS):
            without.append(_watch(session))
            with bridged(session):
                session.wait(0.5)
                with_bridge.append(_watch(session))
            session.wait(0.5)
            progress(0.4 + 0.6 * (turn + 1) / TURNS)
        granted = ", ".join(session.notes["granted"].values())
    return without, with_bridge, granted


def run(seed: int, progress: Progress) -> Outcome:
    """Cost of a message, round trip, and effect on the loop."""
    began = time.perf_counter()
    notes: list[str] = []
    with _network(notes):
        costs, paced, objects = cost(seed)
        progress(0.1)
        trips = np.zeros(0)
        figures = _cost_figures(costs, paced, objects)
        try:
            trips, lost, changed = round_trip(seed)
            figures += _trip_figures(trips, lost, changed)
        except PeerMissingError as error:
            notes.append(f"No round trip was measured. {error}")
        progress(0.4)
        without, with_bridge, granted = beside(progress)
    figures += _effect_figures(without, with_bridge)
    notes.append(f"The loop was granted: {granted}.")
    return Outcome(
        "ros2", seed, time.perf_counter() - began, figures, notes,
        draw=lambda path: _draw(costs, objects, trips, np.concatenate(without), np.concatenate(with_bridge), path),
    )  # fmt: skip


def _cost_figures(costs: dict[str, Array], paced: Array, objects: Array) -> list[Figure]:
    figures = [at_most(f"{topic}, median", np.median(taken), "µs", BAR_US) for topic, taken in costs.items()]
    states = costs["/joint_states"]
    return [
        *figures,
        told("slowest topic, 99 %", max(np.percentile(taken, 99) for taken in costs.values()), "µs"),
        told("one of each topic every 2 ms, caches cold: a message, median", np.median(paced), "µs"),
        told("joint states as an object, median", np.median(objects), "µs"),
        told("times faster by template", np.median(objects) / np.median(states), "×"),
    ]


def _trip_figures(trips: Array, lost: int, changed: int) -> list[Figure]:
    return [
        told("to a real ROS 2 and back at 500 Hz, median", np.median(trips), "µs"),
        told("the same, 99 %", np.percentile(trips, 99), "µs"),
        told("messages that did not come back within 1 s", lost),
        at_most("messages that came back with other values", changed, "", 0.0),
    ]


def _effect_figures(without: list[Array], with_bridge: list[Array]) -> list[Figure]:
    a, b = np.concatenate(without), np.concatenate(with_bridge)
    spread = np.ptp([np.median(turn) for turn in without]) * 1e6
    return [
        *lateness("loop alone", a),
        *lateness("loop with the bridge", b),
        told("the median of the loop alone differs between turns by", spread, "µs"),
        at_most("lateness that the bridge adds, median", (np.median(b) - np.median(a)) * 1e6, "µs", EFFECT_US),
    ]


def _draw(costs: dict[str, Array], objects: Array, trips: Array, alone: Array, beside_it: Array, path: Path) -> None:
    with style.applied() as theme:
        title = "A bridge to ROS 2 beside a loop at 500 Hz"
        fig, axes = style.figure(3, 1, title, "sim:ur5e; messages by template, without ROS", share_x=False)
        names = [*(name.rpartition("/")[2] for name in costs), "joint_states, as an object"]
        medians = [*(np.median(taken) for taken in costs.values()), np.median(objects)]
        colours = [theme.z] * len(costs) + [theme.x]
        axes[0, 0].barh(names[::-1], medians[::-1], color=colours[::-1], height=0.6)
        axes[0, 0].axvline(BAR_US, color=theme.faint, ls="--", lw=1)
        axes[0, 0].set_title("Time to publish a message, median")
        axes[0, 0].set_xlabel(f"µs (dashed: the bar, {BAR_US:g} µs)")
        if len(trips):
            axes[1, 0].plot(np.sort(trips), np.linspace(0, 1, len(trips)), color=theme.z)
            axes[1, 0].set_xlim(0, 2 * np.percentile(trips, 95))
        style.label(axes[1, 0], "To a real ROS 2 and back", "-", "share within")
        axes[1, 0].set_xlabel("µs")
        for late, name, colour in ((alone, "loop alone", theme.faint), (beside_it, "with the bridge", theme.z)):
            axes[2, 0].plot(np.sort(late) * 1e6, np.linspace(0, 1, len(late)), color=colour, label=name)
        axes[2, 0].set_xlim(0, 2 * 1e6 * np.percentile(np.concatenate([alone, beside_it]), 95))
        style.label(axes[2, 0], "Wake-up lateness", "-", "share within")
        axes[2, 0].set_xlabel("µs")
        style.legend(axes[2, 0])
    style.save(fig, path)
