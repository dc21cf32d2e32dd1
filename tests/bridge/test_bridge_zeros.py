"""Zero goes out in time and often enough, also without a guard; told by writers and a clock of the tests' own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pliant.bridge import bridge_process
from pliant.bridge import command_topics as drive_module
from pliant.bridge.command_topics import Drive
from pliant.bridge.published_topics import command_topics
from pliant.control.telemetry import TELEMETRY
from pliant.ros2.templates import Stencil
from pliant.ros2.watchdog import TIMES
from pliant.task.schema import Task

JOINTS = [f"joint_{i}" for i in range(6)]


class Writer:
    """What was sent, and whether it arrived."""

    def __init__(self) -> None:
        self.sent, self.arrives, self.listeners = [], True, 1

    def send(self, data: bytes) -> bool:
        self.sent.append(bytes(data))
        return True

    def flush(self, within_s: float) -> bool:
        return self.arrives


class Guard:
    """A guard that can be killed."""

    dead = ""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.released = False

    def start(self) -> None: ...

    def wait(self) -> None: ...

    def beat(self) -> str:
        return self.dead

    def release(self) -> None:
        self.released = True


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def drive(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> Drive:
    monkeypatch.setattr(drive_module, "Guard", Guard)
    monkeypatch.setattr(Guard, "dead", "")
    monkeypatch.setattr(drive_module, "time", SimpleNamespace(sleep=lambda _: None))
    node: Any = SimpleNamespace(
        name="pliant", namespace="/", writer=lambda *_: writer, full_name=lambda name: f"/{name}"
    )
    return Drive(node, [Stencil(topic, JOINTS) for topic in command_topics(Task(interface="velocity"))], agreed=True)


def test_when_the_guard_dies_zero_is_said_as_often_as_at_the_end(
    drive: Drive, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drive:
        drive.beat()
        assert writer.sent == []
        monkeypatch.setattr(Guard, "dead", "gone")
        drive.beat()
        assert len(writer.sent) == TIMES
        assert (drive.agreed, drive.pairs) == (False, [])
        assert "watchdog of the bridge has exited" in drive.news[0]
        drive.beat()
        drive.send_zero()
        assert len(writer.sent) == TIMES  # everyone has it
    assert len(writer.sent) == TIMES


def test_a_zero_that_nobody_has_confirmed_is_said_again_until_someone_does(
    drive: Drive, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.arrives = False
    with drive:
        monkeypatch.setattr(Guard, "dead", "gone")
        drive.beat()
        drive.beat()
        assert "Zero is sent until all subscribers have it" in drive.news[0]
        writer.arrives = True
        drive.beat()
        assert len(writer.sent) == TIMES + 2
        drive.beat()  # who takes over from here is not fought
        drive.send_zero()
    assert len(writer.sent) == TIMES + 2


def test_one_that_nobody_ever_confirms_is_said_until_the_end_and_then_too(
    drive: Drive, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.arrives = False
    with drive:
        monkeypatch.setattr(Guard, "dead", "gone")
        drive.beat()
        drive.beat()
        drive.beat()
        assert len(writer.sent) == TIMES + 2
        drive.send_zero()  # as while the loop hangs
        assert len(writer.sent) == TIMES + 3
    assert len(writer.sent) == 2 * TIMES + 3
    assert len(set(writer.sent)) == 1
    assert drive.pairs == []


def test_a_guard_that_dies_at_the_very_end_changes_nothing(
    drive: Drive, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drive:
        monkeypatch.setattr(Guard, "dead", "gone")
    assert len(writer.sent) == TIMES


class Board:
    """A loop that gives records until it hangs."""

    def __init__(self) -> None:
        self.head, self.hangs = 1, False

    def read(self, at: int) -> tuple[Any, int, int]:
        self.head += 0 if self.hangs else 1
        records = np.zeros(self.head - at, TELEMETRY.dtype)
        return records, self.head, 0


class Rounds:
    """The bridge of a loop at 125 Hz, on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.rested_s, self.looks, self.ends = 0.0, [], 0, False
        self.task = Task.model_validate({"rate_hz": 125.0, "ros2": {"stale_s": 0.1}})
        self.board = Board()
        link: Any = SimpleNamespace(board=self.board, task=self.task)
        publisher: Any = SimpleNamespace(drive=self, publish=lambda records: None)
        self.news: list[str] = []
        monkeypatch.setattr(bridge_process, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep))
        self.follow = lambda: bridge_process._follow(link, publisher, self._goes_on)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.board.hangs = self.now > 1.0

    def _goes_on(self) -> bool:
        self.looks += 1
        return self.now < 1.5

    def beat(self) -> None: ...

    def look(self) -> None: ...

    def send_zero(self) -> None:
        self.rested_s.append(self.now)


def test_a_loop_that_hangs_and_one_that_has_ended_are_noticed_in_the_same_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = Rounds(monkeypatch)
    rounds.follow()
    assert rounds.rested_s[0] == pytest.approx(1.1, abs=2.5 * rounds.task.dt)
    assert rounds.looks == pytest.approx(1.5 / rounds.task.dt, abs=2)


class Jumping:
    """A loop whose bridge comes to look only every so many ticks."""

    def __init__(self, steps: list[int]) -> None:
        self.head, self._steps = 1, steps

    def read(self, at: int) -> tuple[Any, int, int]:
        records = np.zeros(self.head - at, TELEMETRY.dtype)
        records["tick"] = np.arange(at, self.head)
        return records, self.head, 0

    def go_on(self) -> bool:
        if self._steps:
            self.head += self._steps.pop(0)
            return True
        return False


@pytest.mark.parametrize(("late", "left_out"), [(1, 0), (99, 0), (100, 0), (130, 30)])
def test_a_bridge_that_is_held_up_catches_up_and_leaves_out_only_what_is_older_than_a_hundred_ticks(
    late: int, left_out: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, ticks = Jumping([1, 1, late, 1, 1]), list[int]()
    link: Any = SimpleNamespace(board=board, task=Task())
    drive = SimpleNamespace(beat=lambda: None, look=lambda: None, send_zero=lambda: None, news=[])
    publisher: Any = SimpleNamespace(drive=drive, publish=lambda records: ticks.extend(records["tick"].tolist()))
    monkeypatch.setattr(bridge_process, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: None))
    bridge_process._follow(link, publisher, board.go_on)
    before = list(range(3))
    assert ticks == [*before, *range(3 + left_out, 3 + late + 2)]
