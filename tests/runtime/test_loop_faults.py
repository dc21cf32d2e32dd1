"""The loop itself fails, or refuses to start: the robot is stopped first, and somebody says why."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from loop_ends import nothing_is_left_of

from pliant.errors import InputError, LoopError
from pliant.loop.board_layout import FAULT
from pliant.params.declare import validated
from pliant.record.reader import Recording
from pliant.records import FAULT_SENSOR, WRENCH_SATURATED
from pliant.session import started_loop as started_module
from pliant.session.in_process.rerun import replay
from pliant.session.session import Session, connect
from pliant.task.schema import Task

GOAL = (0.4, -1.4, 1.7, -1.9, -1.5, 0.3)

# A loop with a robot at the end of a cable: it fails to answer at its 150th reading, and notes what it is asked to do.
FAILING = """
import sys
from pathlib import Path
from pliant.robots import open_robot
from pliant.loop import control_loop, task_runner


class Cabled:
    def __init__(self, inner):
        self.inner, self.count, self.log = inner, 0, Path(sys.argv[2])

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def read(self, reading):
        self.count += 1
        if self.count == 150:
            raise ConnectionResetError("the cable is out")
        self.inner.read(reading)

    def stop(self):
        self.note("stop")

    def close(self):
        self.note("close")

    def note(self, word):
        with self.log.open("a") as file:
            print(word, file=file)


task_runner.open_robot = lambda address, task: Cabled(open_robot(address, task))
sys.exit(control_loop.main(sys.argv[1]))
"""


@pytest.fixture
def loop_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Path], None]:
    """`loop_program(code, argument)`: sessions run this program as their loop."""

    def use(code: str, argument: Path) -> None:
        program = tmp_path / "loop_program.py"
        program.write_text(code)

        def spawn(module: str, board: str) -> subprocess.Popen[bytes]:
            assert module == "pliant.loop.control_loop"
            return subprocess.Popen([sys.executable, str(program), board, str(argument)])

        monkeypatch.setattr(started_module, "spawn", spawn)

    return use


def test_an_exception_in_the_loop_stops_the_robot_and_says_where(out: Path, tmp_path: Path, loop_program) -> None:
    loop_program(FAILING, tmp_path / "log")
    arm = connect("sim:ur5e").start()
    with pytest.raises(
        LoopError,
        match=r"driver of sim:ur5e raised ConnectionResetError: the cable is out in read \(loop_program.py:18\)",
    ) as caught:
        arm.wait(60)
    assert (tmp_path / "log").read_text().split() == ["stop", "close"]
    assert arm._loop.returncode == 3
    assert nothing_is_left_of(arm)
    box = caught.value.black_box
    assert box is not None
    saved = Recording.load(box)
    assert saved.records["tick"].tolist() == list(range(149))  # one reading before the first tick; the last one failed
    assert "the cable is out" in saved.meta["fault"]
    assert replay(saved).largest == 0.0


def test_a_start_that_does_not_fit_the_arm_is_refused_at_the_door() -> None:
    with pytest.raises(InputError, match=r"start_q has 2 values, but ur5e has 6 joints\."):
        connect("sim:ur5e", start_q=(0.0, 0.0))


def test_a_fault_brakes_the_moving_arm_within_its_limits(out: Path, faulting_task: Task) -> None:
    arm = Session(faulting_task).start()
    with pytest.raises(
        LoopError,
        match=r"force sensor reported saturation .*\. The last seconds are in .*\. Diagnose them: pliant doctor ",
    ) as caught:
        arm.wait(60)
    assert arm.board.status == FAULT
    assert arm._loop.returncode == 3
    assert nothing_is_left_of(arm)
    assert caught.value.black_box is not None
    saved = Recording.load(caught.value.black_box)
    assert "force sensor" in saved.meta["fault"]
    state = saved.records["state"]
    first = int(np.flatnonzero(state["fault"])[0])
    assert state["wrench_age_s"][first - 1] <= 0.05 < state["wrench_age_s"][first]
    assert (state["fault"][first:] == FAULT_SENSOR + WRENCH_SATURATED).all()
    speed = state["qd_cmd"][:, : arm.arm.n]
    assert np.abs(speed[first - 1]).max() > 0.5  # it was moving
    assert (speed[-1] == 0).all()  # and stands
    most = faulting_task.params.limits.acceleration_scale * arm.arm.a_max * faulting_task.dt
    assert (np.abs(np.diff(speed, axis=0)) <= most * (1 + 1e-9)).all()
    braking = np.abs(speed[first - 1 :]).max(axis=1)
    assert (np.diff(braking[: int(np.argmin(braking > 0)) + 1]) < 0).all()  # slower in every tick, and then at rest
    assert not braking[int(np.argmin(braking > 0)) :].any()
    assert np.abs(saved.records["reading"]["qd"][-1]).max() < 2e-3  # the arm itself stands too
    assert replay(saved).largest == 0.0


def test_a_sensor_that_never_answers_is_a_fault_before_anything_moves(out: Path) -> None:
    arm = connect("sim:ur5e", sim={"sensor": {"dropout": 1.0}}, events=[{"at_s": 0.0, "goal_q": GOAL}]).start()
    with pytest.raises(LoopError, match="force sensor") as caught:
        arm.wait(60)
    assert caught.value.black_box is not None
    records = Recording.load(caught.value.black_box).records
    assert (records["reading"]["q"] == records["reading"]["q"][0]).all()
    assert (records["command"]["qd"] == 0).all()


NOTING = """
import sys; from pathlib import Path; from pliant.kernel import on_compile
names = []
with on_compile(names.append):
    from pliant.loop import control_loop
    code = control_loop.main(sys.argv[1])
Path(sys.argv[2]).write_text(repr(names))
sys.exit(code)
"""


@pytest.mark.slow
def test_a_loop_in_a_fault_calls_only_kernels_of_its_group(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loop_program
) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    compile_loop = "from pliant.compiling.ahead import ensure; ensure('loop', 'law hold', 'law admittance')"
    subprocess.run([sys.executable, "-c", compile_loop], check=True)
    loop_program(NOTING, tmp_path / "names")
    params = {"limits": {"pose_error_m": 0.01}, "admittance": {"frame": "tool"}}
    arm = Session(validated(Task, {"law": "admittance", "params": params})).start()
    arm.set({"sense.cutoff_hz": 40})
    arm.push([20, 0, 0], for_s=10.0)
    with pytest.raises(LoopError, match="from its goal"):
        arm.wait(60)
    assert (tmp_path / "names").read_text() == "[]"


def test_nothing_is_compiled_in_a_loop_whose_kernels_are_cached(tmp_path: Path, loop_program) -> None:
    loop_program(NOTING, tmp_path / "names")
    with connect("sim:ur5e", law="admittance") as arm:
        arm.set({"sense.cutoff_hz": 40})
        arm.push([10, 0, 0], for_s=0.05)
        arm.law("hold")
        arm.wait(0.1)
    assert (tmp_path / "names").read_text() == "[]"
