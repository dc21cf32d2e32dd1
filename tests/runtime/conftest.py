"""What the tests of the runtime share: compiled kernels, patience, and folders of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tuned_loop import NAME, TASK

from pliant.compiling.ahead import ensure
from pliant.control.parameters import Parameters
from pliant.loop.board import Board
from pliant.loop.boards import board_files
from pliant.params.declare import flat, validated
from pliant.session.link import Link, attach
from pliant.session.session import Session
from pliant.task.schema import Task
from support import waiting

Until = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Every kernel is in the cache before a test starts a process."""
    ensure("loop", "batch", "replay")


@pytest.fixture(scope="session")
def until() -> Until:
    """`until(condition)`: wait until it is true, however slow the machine; fail when it never becomes true."""

    return waiting.until


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for black boxes."""
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "out"))
    return tmp_path / "out"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for boards, apart from those of real loops."""
    folder = tmp_path / "boards"
    folder.mkdir()
    monkeypatch.setattr(board_files, "board_folder", lambda: folder)
    return folder


@pytest.fixture
def make(shelf: Path) -> Callable[..., Board]:
    """`make(name, ring_slots, **config)`: a board on a shelf of its own."""

    def create(name: str = "one", ring_slots: int = 8, **config: Any) -> Board:
        return Board.create(name, config, ring_slots)

    return create


@pytest.fixture(scope="session")
def faulting_task() -> Task:
    """On its way to another pose the arm is pushed harder than its sensor can show: a fault in full motion."""
    return validated(
        Task,
        {
            "params": {"sense": {"hold_s": 0.05}},
            "sim": {
                "sensor": {"range_n": 40.0},
                "pushes": [{"at_s": 0.3, "for_s": 9, "ramp_s": 0, "wrench": [60, 60, 60, 0, 0, 0]}],
            },
            "events": [{"at_s": 0.1, "goal_q": [0.4, -1.4, 1.7, -1.9, -1.5, 0.3]}],
        },
    )


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A loop that holds its arm; tests tune it."""
    with Session(validated(Task, TASK), name=NAME) as arm:
        yield arm


@pytest.fixture
def link(session: Session) -> Link:
    """A fresh connection to a loop with the parameters of its task."""
    before = flat(Parameters())
    session.set(
        {name: before[name] for name in ("admittance.stiffness", "sense.cutoff_hz", "sense.bias", "sense.deadband_n")}
    )
    return attach(NAME)
