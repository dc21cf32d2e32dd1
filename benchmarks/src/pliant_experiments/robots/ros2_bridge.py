"""The ROS 2 bridge: cost of a message, round-trip time to a real ROS 2, and its effect on the loop.

Each is compared with an alternative in the same run: a message patched into a template against one built as an object,
and the lateness of one loop without and with the bridge, in turns.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported
from pliant.bridge.published_topics import live_topics
from pliant.bridge.starting import bridged
from pliant.control.telemetry import TELEMETRY
from pliant.ros2 import message_types
from pliant.ros2.node import Node, Reader, Writer
from pliant.ros2.templates import Stencil
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant_experiments.bench.lateness import lateness
from pliant_experiments.robots.ros2_cost import NAMES, TARGET_US, Costs, cost, cost_figures
from pliant_experiments.robots.ros2_peer import Peer, PeerMissingError, own_network
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

MESSAGES, ROUND_TRIPS, RATE_HZ = 4000, 1000, 500.0
# How long the loop is measured without the bridge, and with it [s], and how often in turns.
SECONDS, TURNS = 4.0, 3
EFFECT_US = 10.0
# A message that has not returned by then is lost [s].
_GIVE_UP_S = 5.0


@contextmanager
def _network(notes: list[str]) -> Iterator[None]:
    """A network of our own; where that is not permitted, the loopback in a domain that is hardly used."""
    before = dict(os.environ)
    own = own_network()
    try:
        own.__enter__()
    except PeerMissingError as error:
        notes.append(f"{error} The experiment used the loopback of this machine instead, in domain 97.")
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


# ---- round trip ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trips:
    """Messages to a real ROS 2 and back, sent at a fixed rate whether or not the last one has returned."""

    times_us: Array
    """Round-trip times of the messages that returned."""
    lost: int
    changed: int
    """Messages that did not return, and messages that returned with other values."""
    rate_hz: float
    """Messages sent per second."""


def round_trip(seed: int) -> Trips:
    """Joint states to a real ROS 2 and back at 500 Hz."""
    records = np.random.default_rng(seed).normal(size=(ROUND_TRIPS, TELEMETRY.dtype.itemsize // 8))
    topic = next(topic for topic in live_topics(Task()) if topic.message_type == message_types.JOINT_STATE)
    with Peer() as peer, Node("pliant") as node:
        writer = node.writer("there", message_types.JOINT_STATE, depth=ROUND_TRIPS)
        reader = node.reader("back", message_types.JOINT_STATE, depth=ROUND_TRIPS)
        node.announce()
        peer("echo", here="/there", there="/back", type=message_types.JOINT_STATE)
        deadline = time.monotonic() + 30.0
        while not (writer.listeners and reader.publishers) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.5)  # the other side may not have discovered this node yet
        sent_s, back_s, came = _exchange(records, Stencil(topic, NAMES), writer, reader)
    joints = records.view(TELEMETRY.dtype)["reading"][:, 0]
    said = np.concatenate([joints[name][:, :6] for name in ("q", "qd", "tau")], axis=1)
    back = np.isfinite(back_s)
    changed = sum(one.tobytes() != other.tobytes() for one, other in zip(said[back], came[back], strict=True))
    rate_hz = (len(sent_s) - 1) / (sent_s[-1] - sent_s[0])
    return Trips((back_s - sent_s)[back] * 1e6, int((~back).sum()), changed, rate_hz)


def _exchange(records: Array, stencil: Stencil, writer: Writer, reader: Reader) -> tuple[Array, Array, Array]:
    """Send at fixed times and receive meanwhile: when each was sent and when it returned [s, NaN: never], and what
    returned.
    """
    n = len(records)
    sent_s, back_s, came = np.full(n, np.nan), np.full(n, np.nan), np.zeros((n, 18))

    def hear_until(due: float) -> None:
        while time.perf_counter() < due and not np.isfinite(back_s[-1]):
            for found in reader.messages():
                number = found.header.stamp.nanosec  # which message it answers
                back_s[number] = time.perf_counter()
                came[number] = np.concatenate([found.position, found.velocity, found.effort])
            time.sleep(20e-6)

    due = time.perf_counter()
    for i, row in enumerate(records):
        due += 1.0 / RATE_HZ
        hear_until(due)
        sent_s[i] = time.perf_counter()
        writer.send(stencil.fill(row.view(np.uint8).data, i))
    hear_until(time.perf_counter() + _GIVE_UP_S)
    return sent_s, back_s, came


# ---- effect on the loop --------------------------------------------------------------------------------------------


def _watch(session: Session) -> Array:
    """Lateness of every tick [s] for a while."""
    session.read()
    parts = []
    for _ in range(max(1, round(SECONDS))):
        session.wait(min(1.0, SECONDS))
        parts.append(session.read()["timing"]["late_s"])
    return np.concatenate(parts)


def beside(progress: Progress) -> tuple[list[Array], list[Array], str]:
    """Lateness of one loop [s] without and with the bridge, in turns, and its real-time scheduling."""
    without, with_bridge = [], []
    with Session(Task(law="admittance", tool=TOOL, duration_s=3600)) as session:
        session.wait(0.5)
        for turn in range(TURNS):
            without.append(_watch(session))
            with bridged(session, agreed=True):
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
        costs = cost(seed, MESSAGES)
        progress(0.1)
        trips = np.zeros(0)
        figures = cost_figures(costs)
        try:
            made = round_trip(seed)
            trips = made.times_us
            figures += _trip_figures(made)
        except PeerMissingError as error:
            notes.append(f"Round trip not measured. {error}")
        progress(0.4)
        without, with_bridge, granted = beside(progress)
    figures += _effect_figures(without, with_bridge)
    notes.append(f"Real-time scheduling: {granted}.")
    return Outcome(
        "ros2", seed, time.perf_counter() - began, figures, notes,
        draw=lambda path: _draw(costs, trips, np.concatenate(without), np.concatenate(with_bridge), path),
    )  # fmt: skip


def _trip_figures(trips: Trips) -> list[Figure]:
    return [
        reported("joint states sent to a real ROS 2", trips.rate_hz, "Hz"),
        reported("round trip, median", np.median(trips.times_us), "µs"),
        reported("round trip, 99 %", np.percentile(trips.times_us, 99), "µs"),
        at_most(f"messages not returned within {_GIVE_UP_S:g} s", trips.lost, "", 0.0),
        at_most("messages returned with other values", trips.changed, "", 0.0),
    ]


def _effect_figures(without: list[Array], with_bridge: list[Array]) -> list[Figure]:
    a, b = np.concatenate(without), np.concatenate(with_bridge)
    spread = np.ptp([np.median(turn) for turn in without]) * 1e6
    return [
        *lateness("loop alone", a),
        *lateness("loop with the bridge", b),
        reported("spread of the median between turns, loop alone", spread, "µs"),
        at_most("lateness added by the bridge, median", (np.median(b) - np.median(a)) * 1e6, "µs", EFFECT_US),
    ]


def _draw(costs: Costs, trips: Array, alone: Array, beside_it: Array, path: Path) -> None:
    with style.applied() as theme:
        title = "ROS 2 bridge with a loop at 500 Hz"
        fig, axes = style.figure(3, 1, title, "sim:ur5e; messages by template, without ROS", share_x=False)
        names = [*(name.rpartition("/")[2] for name in costs.topics), "joint_states, as an object"]
        medians = [np.median(one.cpu) for one in (*costs.topics.values(), costs.objects)]
        colours = [theme.z] * len(costs.topics) + [theme.x]
        axes[0, 0].barh(names[::-1], medians[::-1], color=colours[::-1], height=0.6)
        axes[0, 0].axvline(TARGET_US, color=theme.faint, ls="--", lw=1)
        axes[0, 0].set_title("Processor time to publish a message, median")
        axes[0, 0].set_xlabel(f"µs (dashed: target {TARGET_US:g} µs)")
        if len(trips):
            axes[1, 0].plot(np.sort(trips), np.linspace(0, 1, len(trips)), color=theme.z)
            axes[1, 0].set_xlim(0, 2 * np.percentile(trips, 95))
        style.label(axes[1, 0], "Round trip to a real ROS 2", "-", "share within")
        axes[1, 0].set_xlabel("µs")
        for late, name, colour in ((alone, "loop alone", theme.faint), (beside_it, "with the bridge", theme.z)):
            axes[2, 0].plot(np.sort(late) * 1e6, np.linspace(0, 1, len(late)), color=colour, label=name)
        axes[2, 0].set_xlim(0, 2 * 1e6 * np.percentile(np.concatenate([alone, beside_it]), 95))
        style.label(axes[2, 0], "Wake-up lateness", "-", "share within")
        axes[2, 0].set_xlabel("µs")
        style.legend(axes[2, 0])
    style.save(fig, path)
