"""A mission in real time, on a board, in its own process: ``python -m pliant.mobile.mission.mission_loop <board>``.

It waits at its start for a request to begin, and stops again at the end. While nothing moves it accepts another goal
of the tool; the path is planned in a separate thread, and a rejection is a sentence in the log on the board. The robot
is simulated, so no real-time scheduling is requested.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from pliant.compiling.ahead import load_group
from pliant.control.telemetry import TELEMETRY
from pliant.errors import PliantError, RejectedError
from pliant.loop import goal_requests
from pliant.loop.board import Board
from pliant.loop.board_layout import RUNNING, STOPPED
from pliant.loop.control_loop import live
from pliant.loop.pacing import PACE, start_at
from pliant.loop.periods import stamp_and_wait
from pliant.loop.processes import arguments
from pliant.loop.slots import has_request
from pliant.mobile.mission.mission_task import MissionTask, begun, within
from pliant.mobile.mission.simulated_mission import MissionLoop, account, lags_of, simulated
from pliant.mobile.mission.stage_machine import Change, Mission
from pliant.mobile.planning.base_poses import ReachPose
from pliant.mobile.whole_body.kinematic_body import Body

Array = np.ndarray[Any, Any]

READY = "ready"
"""A path is known, and the mission waits for a request to begin."""
STILL_M_S = 1e-3
"""A base slower than this [m/s, rad/s] counts as stopped."""
_KEPT = 20
_BRAKE_S = 10.0


class MissionProcess:
    """One robot on a map, and its missions one after another."""

    def __init__(self, board: Board) -> None:
        self.board, self.task, self.asked = board, MissionTask.model_validate(board.config["mission"]), ""
        load_group("body")
        load_group("planner")
        body, _, mission = begun(self.task)
        self.robot = simulated(self.task, body)
        self.loop = MissionLoop(self.robot, body, mission, lags_of(self.task))
        self.is_moving, self.ends_at = False, 0
        self.past: list[Change] = []
        self.answers: dict[str, str] = {}
        """Answers to the last requests: why they were rejected, empty if they were accepted."""
        self._searcher = ThreadPoolExecutor(1)
        mission.seek = self._search_from
        self._search: tuple[Future[Mission], Callable[[Mission], None], int] | None = None
        self._published: Any = None

    @property
    def mission(self) -> Mission:
        """The mission that runs, or that waits for a request to begin."""
        return self.loop.mission

    @property
    def stage(self) -> str:
        """Ready, or the stage that the mission is in or ended with."""
        return self.mission.stage if self.is_moving or self.mission.ended else READY

    def run(self) -> tuple[int, str]:
        """Run periods until a request to end; a moving robot brakes first."""
        board, pace, out = self.board, PACE.new(), TELEMETRY.new()
        pace[0].period = round(self.task.dt * 1e9)
        ring, number = board.ring, 0
        self._publish()
        board.set_status(RUNNING)
        start_at(pace)
        while self._listen(number):
            if self.is_moving:
                self.loop.period(out)
            else:
                self.loop.period_at_rest(out)
            stamp_and_wait(out.ctypes.data, ring, number, pace)
            number += 1
            self.is_moving = self.is_moving and not self.mission.ended
            self._publish()
        self._searcher.shutdown(wait=False, cancel_futures=True)
        return STOPPED, self.asked

    # ---- requests ----

    def _listen(self, number: int) -> bool:
        """Process requests; False: end."""
        if os.getppid() != int(self.board.header.owner_pid):
            self.asked = "the process that started the loop has exited"
        if has_request(*self.board.door, 0):
            while (item := self.board.take()) is not None:
                self._carry_out(item)
        if self._search is not None and self._search[0].done():
            self._finish_search()
        if self.asked and self.is_moving and not self.ends_at:
            self.mission.stop("a stop of the loop was requested")
            self.ends_at = number + round(_BRAKE_S / self.task.dt)
        return not self.asked or (self.is_moving and number < self.ends_at)

    def _carry_out(self, item: Any) -> None:
        code, number = int(item.code), int(item.number)
        if code == goal_requests.QUIT:
            self.asked = "a stop was requested"
        elif code == goal_requests.HALT:
            self._halt()
        elif code in (goal_requests.RESUME, goal_requests.GOAL_POSE):
            if why := self._busy():
                self._answer(number, why)
            elif code == goal_requests.GOAL_POSE:
                self._start_search(np.array(item["values"][:7]), self._adopt, number)
            elif self.mission.ended:  # begin again, from here
                self._start_search(self.mission.goal, self._begin, number)
            else:
                self.is_moving = True
                self._answer(number, "")

    def _halt(self) -> None:
        """Brake. If a path is being planned to be driven at once, it will not be driven."""
        if self.is_moving:
            self.mission.stop("a stop was requested")
        elif self._search is not None and self._search[1] == self._begin:
            self._search = self._search[0], self._adopt_stopped, self._search[2]

    def _busy(self) -> str:
        """Why another mission cannot begin now; empty if it can."""
        base = self.loop.loop.base[0]
        if self._search is not None:
            return "A path is already being planned. Wait until it is found."
        if self.is_moving or np.abs(base.twist).max() > STILL_M_S:
            return "The mission is running. Stop it first."
        return ""

    # ---- another goal ----

    def _start_search(self, goal: Array, then: Callable[[Mission], None], number: int) -> None:
        place = self.loop.loop.base[0].pose.copy()
        self._search = self._searcher.submit(self._prepared, goal, place), then, number

    def _prepared(self, goal: Array, place: Array) -> Mission:
        """A mission from `place`, with its path planned; it has its own model, because the periods continue
        meanwhile.
        """
        _, _, mission = begun(self.task, goal, place)
        return mission

    def _search_from(self, place: Array) -> Callable[[], ReachPose | None]:
        """Plans a path for the running mission, whose base is not where the known path begins."""
        grid, goal, task, arm = self.mission.grid, self.mission.goal, self.task, self.mission.body.arm_name

        def look() -> ReachPose:  # with its own model
            body = Body(arm, limits=task.base, tool=task.tool)
            return Mission(body, grid, goal, task, task.dt, within).prepare(place)

        found = self._searcher.submit(look)
        return lambda: found.result() if found.done() else None

    def _finish_search(self) -> None:
        assert self._search is not None
        (future, then, number), self._search = self._search, None
        try:
            then(future.result())
            self._answer(number, "")
        except PliantError as error:
            self._answer(number, str(error))

    def _adopt(self, mission: Mission) -> None:
        self.past = [*self.past, *self.mission.log][-_KEPT:]
        mission.seek = self._search_from
        self.loop.mission = mission

    def _begin(self, mission: Mission) -> None:
        self._adopt(mission)
        self.is_moving = True

    def _adopt_stopped(self, mission: Mission) -> None:
        self._adopt(mission)
        raise RejectedError("The mission was stopped while its path was being planned. Begin again to drive it.")

    # ---- publishing ----

    def _answer(self, number: int, why: str) -> None:
        self.answers[str(number)] = why
        for old in list(self.answers)[:-_KEPT]:
            del self.answers[old]

    def _publish(self) -> None:
        """Put the log of the mission on the board if it has changed."""
        mission = self.mission
        seeks = self._search is not None or (self.is_moving and mission.drive.seeks)
        content = (
            self.stage,
            self.is_moving,
            len(mission.log),
            id(mission),
            id(mission.reach_pose),
            seeks,
            tuple(self.answers),
        )
        if content == self._published:
            return
        self._published = content
        log = [*self.past, *mission.log]
        self.board.write_mission_log(
            {
                "stage": self.stage,
                "seeking": seeks,
                "moving": self.is_moving,
                "answers": self.answers,
                "account": account(log, mission.reach_pose, mission.goal, mission.park_q),
            }
        )


if __name__ == "__main__":
    (its_board,) = arguments()
    sys.exit(live(its_board, MissionProcess))
