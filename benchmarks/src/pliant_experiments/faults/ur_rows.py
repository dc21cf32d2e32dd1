"""Rows: a UR on an emulated controller, whose loop, owner or controller fails while the arm moves."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pliant.robots.ur.driver import WATCHDOG_S
from pliant.world.world_config import Push
from pliant_experiments.faults.fault_rig import Rig, Run, after
from pliant_experiments.faults.fault_row import Seen, row
from pliant_experiments.faults.loop_rows import ORPHAN_S, PATIENT
from pliant_experiments.robots.emulator_process import Emulator
from pliant_experiments.robots.ur_runs import PATIENT as NO_STALL
from pliant_experiments.robots.ur_runs import STANDS, killed, patient, settled

LOOP, OWNER, CONTROLLER = "loop of a UR", "process that started the loop of a UR", "UR controller"
# Periods of the emulator, and what a busy machine adds [s].
_SLACK_S = 0.1
# A loop that was stopped notices that its robot was stopped, and ends, within this time after it goes on [s].
_NOTICE_S = 10.0


def _task(rig: Rig, **fields: Any) -> Path:
    """Hand guiding with a push that moves the arm; both ends share a machine that may stall, so packets may be late."""
    task = patient("hand_guiding")
    push = Push(at_s=0.3, for_s=600.0, ramp_s=0.1, wrench=(0.0, 8.0, 0.0, 0.0, 0.0, 0.0))
    sim = task.sim.model_copy(update={"pushes": (push,)})
    task = task.model_copy(update={"sim": sim, "interface": "velocity", "duration_s": 600.0, **fields})
    path = rig.folder / f"ur-{len(list(rig.folder.iterdir()))}.yaml"
    path.write_text(json.dumps(task.model_dump(mode="json")))  # JSON is YAML
    return path


@contextlib.contextmanager
def _moving(rig: Rig, options: dict[str, str]) -> Iterator[tuple[Emulator, Run]]:
    """An emulated controller whose arm is pushed, and the run that guides it."""
    with Emulator(traced=False, task=str(_task(rig)), **options) as ur:
        run = rig.run("--yes", "--unchecked", task=_task(rig, robot=ur.robot), record=False)
        yield ur, run.until_tick(500)


def _must_stand(ur: Emulator, seen: Seen) -> None:
    state = settled(ur)
    seen.must(max(map(abs, state["qd"])) < STANDS and not state["plays"], "the arm stands, no program runs")


@row(
    29,
    LOOP,
    "killed while the arm moves",
    "the watchdog stops the arm within its declared time",
    needs="rtde_control",
    quick=False,
)
def ur_loop_killed(rig: Rig, seen: Seen, short: bool) -> None:
    for interface in ("velocity",) if short else ("position", "velocity", "torque"):
        stop = killed(interface)
        seen.safe_s = max(seen.safe_s or 0.0, stop.stands_s)
        seen.must(stop.by_watchdog, f"{interface}: the watchdog stops the program")
        most = WATCHDOG_S + _SLACK_S
        seen.must(stop.stopped_s <= most, f"{interface}: after {stop.stopped_s:.3f} s, at most {most:.3f} s")


@row(
    30,
    LOOP,
    "stopped for a while (SIGSTOP)",
    "the watchdog stops the arm; reported on return",
    needs="rtde_control",
    quick=False,
)
def ur_loop_suspended(rig: Rig, seen: Seen, short: bool) -> None:
    with _moving(rig, {}) as (ur, run):
        os.kill(run.loop, signal.SIGSTOP)
        began = time.monotonic()
        _must_stand(ur, seen)
        seen.safe_s = time.monotonic() - began
        after(lambda: False, 1.0 if short else 10.0)
        os.kill(run.loop, signal.SIGCONT)
        seen.must(run.ended(_NOTICE_S + 20.0) is not None and run.code == 3, "the run ends with exit code 3")
        seen.saved = bool(rig.boxes())
        seen.must(seen.saved, "the black box is saved")


@row(31, OWNER, "killed", "the loop stops the robot", needs="rtde_control", quick=False)
def ur_owner_killed(rig: Rig, seen: Seen, short: bool) -> None:
    with _moving(rig, NO_STALL) as (ur, run):
        run.send(signal.SIGKILL)
        began = time.monotonic()
        seen.safe_s = after(lambda: not ur.state["plays"])
        seen.must(
            (seen.safe_s or PATIENT) < 10.0 * ORPHAN_S, f"its program ends after {time.monotonic() - began:.2f} s"
        )
        _must_stand(ur, seen)


@row(
    32,
    CONTROLLER,
    "killed; frozen for 3 s",
    "the loop ends with the reason and a black box",
    needs="rtde_control",
    quick=False,
)
def ur_controller_killed(rig: Rig, seen: Seen, short: bool) -> None:
    for number in (signal.SIGKILL,) if short else (signal.SIGKILL, signal.SIGSTOP):
        with _moving(rig, NO_STALL) as (ur, run):
            boxes = len(rig.boxes())
            os.kill(ur.pid, number)
            seen.must(run.ended() is not None and run.code == 3, f"{number.name}: exit code 3")
            os.kill(ur.pid, signal.SIGCONT) if number == signal.SIGSTOP else None
            seen.saved = len(rig.boxes()) == boxes + 1
            seen.must(seen.saved, f"{number.name}: the black box is saved")
            seen.must("Traceback" not in run.err and run.err, f"{number.name}: the reason is reported")
