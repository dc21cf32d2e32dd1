"""A simulated robot and its controller in this process, as fast as they go.

    arm = pliant.Simulation(pliant.load_task("push"))
    arm.set({"admittance.stiffness": 400})
    before = arm.snapshot()
    arm.push([20, 0, 0], for_s=0.2)
    print(arm.step(500).observed.pose)
    arm.restore(before)

It has the calls of a `Session`, runs the same compiled tick and gives the same numbers, bit for bit. Simulations in
several threads scale with the cores, because compiled code does not hold the GIL.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import mujoco
import numpy as np

from pliant.control.laws.registry import law_of
from pliant.control.parameters import Parameters, changed_record, parameters_of
from pliant.errors import InputError, LoopError, RejectedError, said
from pliant.loop.fault_text import fault_words
from pliant.loop.goal_requests import Request
from pliant.loop.task_runner import TaskRunner
from pliant.records import SHARED_STATE, copied
from pliant.robots import is_simulated
from pliant.sensors.sensor_link import check_keeps_pace
from pliant.session.arm_verbs import ArmVerbs
from pliant.session.board_link import too_late
from pliant.session.in_process.compiled_steps import TRUTH, addresses_of, steps
from pliant.session.input_checks import flag, function, must_be_task, number, whole
from pliant.session.preflight import compile_task, preflight
from pliant.session.undo import Changes
from pliant.task.schema import Task, located
from pliant.world.world_layout import WORLD

Array = np.ndarray[Any, Any]

# So many parameter sets are kept for `history`: more than the events of a task can make.
_SETS = 128
_NEVER = 2**62
# A compiled call simulates no longer than this, so that Ctrl-C takes effect soon [s of simulated time].
_CALL_S = 5.0
_PHYSICS = mujoco.mjtState.mjSTATE_INTEGRATION
# The world's record begins with addresses, which a snapshot must not bring from elsewhere; nor those of its surfaces.
_OWN = WORLD.dtype.fields["h"][1] // 8 if WORLD.dtype.fields else 0


@dataclass(frozen=True)
class Snapshot:
    """The whole state of a `Simulation` at one tick; it can be pickled."""

    task: Task
    """The task of the simulation that it was taken of."""
    tick: int
    """Number of ticks that had been run."""
    content: dict[str, Any]
    """Records, physics, schedule and parameter sets."""


class Simulation(ArmVerbs):
    """A simulated arm that runs in this process, with the calls of a `Session`. See also `simulate`."""

    def __init__(self, task: Task, *, unchecked: bool = False) -> None:
        must_be_task(task, "Simulation")
        flag("unchecked", unchecked)
        task = located(task)
        self.task = task
        """The task, with the seed of the last `reset`."""
        self.sets: deque[tuple[int, int, Array]] = deque(maxlen=_SETS)
        """The latest parameter sets: (revision, first tick, parameter record)."""
        if not is_simulated(task.robot):
            sentence = f"A simulation needs a simulated robot, but robot is {said(task.robot)}. "
            remedy = "Use robot='sim:…', or run the task in real time with pliant.Session(task)."
            raise RejectedError(sentence + remedy, field="robot", value=task.robot)
        check_keeps_pace(task.sensor)
        compile_task(task, "batch")
        self.runner = TaskRunner(task, lambda *found: self.sets.append((found[0], found[1], copied(found[2]))))
        """The robot and its controller, with their records."""
        robot: Any = self.runner.robot
        self.world = robot.world
        """The simulated world."""
        self._fresh = self.world.record.copy()
        self.runner.begin()
        preflight(task, unchecked=unchecked)
        self._begin(self.runner.controller.arm)
        self.unchecked = unchecked
        """Whether the task and its changes are accepted without the stability check."""
        self.tick = 0
        """Number of ticks that have been run."""
        self._most = round(_CALL_S * task.rate_hz)
        self.fault = ""
        """Why the controller stops the robot ("" if it does not)."""
        self._addresses = addresses_of(self.world.record, self.runner.controller)
        self._telemetry = self.runner.controller.telemetry.new()
        self._record, self._at = self._telemetry[0], self._telemetry.ctypes.data
        self._asked_law = self._telemetry["goal"]["law"]  # fields of an array are cheap, those of a record are not
        self._known: tuple[int, Parameters] = (0, task.params)
        self._ended, self._pending, self._first = False, list[tuple[int, Request]](), task
        self._show_start()
        self._plan()
        self._start = self.snapshot()

    def _show_start(self) -> None:
        """Fill the record before the first tick: the arm is at rest where it starts."""
        controller, t = self.runner.controller, self._record
        t.tick, t.time_s = -1, -self.task.dt
        t.reading, t.goal, t.command = (one[0] for one in (controller.reading, controller.goal, controller.command))
        for name in SHARED_STATE.dtype.names or ():
            t.state[name] = controller.state[0][name]
        t.state.law, t.state.pose = controller.goal[0].law, controller.goal[0].pose
        t.observed.pose = controller.goal[0].pose

    # -- time --

    @property
    def time_s(self) -> float:
        """Simulated time [s]."""
        return self.tick * self.task.dt

    @property
    def running(self) -> bool:
        """Whether it can go on: a fault ends it once the arm has stopped."""
        return not self._ended

    def step(self, n: int = 1) -> Any:
        """Run `n` ticks, with the events of the task that are due; returns the newest record, which is a view.

        Raises `LoopError` once a fault has stopped the robot.
        """
        if type(n) is not int or n < 1:
            n = whole("n", n, 1)
        if n <= self._most and self.tick + n <= self._due:
            done = steps(self._addresses, self.tick, n, self.runner.revision, self._at, 0, 0)
            if done == n:
                self.tick += n
                return self._record
            self._count(done)
            n -= abs(done)
        self._run(n, self._at, every=False)
        self._must_run()
        return self._record

    def advance(self, ticks: int, truth: Array | None = None) -> Array:
        """Run `ticks` ticks and return the telemetry of each; fewer once a fault has stopped the robot.

        `truth` is an array (ticks, 10) that takes the true contact at every tick: the force of all surfaces on the tool
        in the base frame [N] (3), its part along their normals [N], the direction of that part (3), and what the static
        errors of the force sensor add to a reading, in the base frame [N] (3).
        """
        ticks = whole("ticks", ticks, 0)
        if truth is not None and (
            truth.shape != (ticks, TRUTH) or truth.dtype != float or not truth.flags.c_contiguous
        ):
            raise InputError("truth", truth, f"a contiguous array of float64 of shape ({ticks}, {TRUTH})")
        out = self.runner.controller.telemetry.new(ticks)
        done = self._run(ticks, out.ctypes.data, every=True, truth=0 if truth is None else truth.ctypes.data)
        if done:
            self._telemetry.view(np.uint8)[:] = out[done - 1 : done].view(np.uint8)
        return out[:done]

    def wait(self, seconds: float) -> Any:
        """Run for `seconds` of simulated time; returns the newest record, which is a view."""
        ticks = round(number("seconds", seconds, 0.0, math.inf, "s") * self.task.rate_hz)
        return self.step(ticks) if ticks else self._record

    def wait_until(self, condition: Callable[[], object], timeout_s: float = 10.0) -> Any:
        """Run until ``condition()`` is true, which is checked after every tick; returns the newest record.

        Raises `WaitTimeoutError` after `timeout_s` of simulated time, and `LoopError` if a fault stops the robot first.
        """
        condition = function("condition", condition)
        timeout_s = number("timeout_s", timeout_s, 0.0, math.inf, "s")
        last = self.time_s + timeout_s
        while not condition():
            if self.time_s >= last:
                raise too_late(timeout_s)
            self.step()
        return self._record

    def watch(self, seconds: float) -> Array:
        """Run for `seconds` of simulated time; returns the telemetry of that time, one record for each tick."""
        records = self.advance(round(number("seconds", seconds, 0.0, math.inf, "s") * self.task.rate_hz))
        self._must_run()
        return records

    def _run(self, ticks: int, out: int, *, every: bool, truth: int = 0) -> int:
        """Run ticks from event to event, and past the tick that finds a fault; returns how many were run."""
        first, last = self.tick, self.tick + ticks
        while self.tick < last and not self._ended:
            if self._due <= self.tick:
                self._perform()
            at, past = self.tick, self.tick - first
            self._count(
                steps(
                    self._addresses, at, min(last, self._due, at + self._most) - at, self.runner.revision,
                    out + past * self._telemetry.itemsize * every, int(every), truth and truth + 8 * TRUTH * past,
                )
            )  # fmt: skip
        return self.tick - first

    def _count(self, done: int) -> None:
        """Note what a compiled call has done: it comes back early when a fault is found and when it has ended."""
        self.tick += abs(done)
        if done > 0:
            return
        c = self.runner.controller
        words = fault_words(c.state[0], c.goal[0], c.reading[0], c.parameters[0])
        self.fault = self.fault or words or self.runner.robot.fault
        self._ended = bool(self._addresses[0].ended)
        self._plan()

    def _must_run(self) -> None:
        if self._ended:
            raise LoopError(self.fault, headline="The simulation stopped")

    # -- state --

    @property
    def state(self) -> Any:
        """The newest telemetry record, as a view: the next step changes it in place. Copy what you want to keep."""
        return self._record

    @property
    def goal(self) -> Any:
        """The goal of the next tick, as a view. What you write there is not checked: for goals at every tick."""
        return self.runner.controller.goal[0]

    @property
    def true_force(self) -> Array:
        """The true force of all surfaces on the tool in the base frame [N], without sensor errors; a view."""
        return self.world.record[0].contact_force

    @property
    def true_normal_force(self) -> float:
        """The part of the true contact force along the normals of what is touched [N]."""
        world = self.world.record
        return float(world["surface"]["press"][0, : world["n_surfaces"][0]].sum())

    @property
    def parameters(self) -> Parameters:
        """The current parameters."""
        revision, known = self._known
        if revision != self.runner.revision:
            known = parameters_of(type(self.task.params), self.runner.controller.parameters)
            self._known = self.runner.revision, known
        return known

    # -- back in time --

    def snapshot(self) -> Snapshot:
        """The whole state, to `restore` it later: continuing from there gives the same bytes again."""
        physics = np.empty(mujoco.mj_stateSize(self.world.model, _PHYSICS))
        mujoco.mj_getState(self.world.model, self.world.data, physics, _PHYSICS)
        content = {
            "records": [copied(one) for one in self._state_records()],
            "physics": physics,
            "sensors": self.world.data.sensordata.copy(),
            "revision": self.runner.revision,
            "script": dict(self.runner.script),
            "pending": list(self._pending),
            "sets": list(self.sets),
            "fault": (self.fault, self._ended),
            "seed": self.task.sim.seed,
        }
        return Snapshot(self._first, self.tick, content)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this simulation, or of another one of the same task."""
        if not isinstance(snapshot, Snapshot):
            raise InputError("snapshot", snapshot, "a Snapshot, from snapshot()")
        if snapshot.task is not self._first and snapshot.task != self._first:
            raise RejectedError(
                f"The snapshot is of another task ({snapshot.task.name} on {snapshot.task.robot}). "
                "Restore it in a simulation of that task.",
                field="snapshot",
            )
        if snapshot.content["seed"] != self.task.sim.seed:
            self.world.restart(snapshot.content["seed"], self._fresh)  # another specimen of the arm
        then, world = snapshot.content, self.world.record.view(np.int64)
        own, kernels = world[:_OWN].copy(), self.world.record[0].surface["measure_at"]
        surfaces = kernels.copy()
        for one, record in zip(self._state_records(), then["records"], strict=True):
            one.view(np.uint8)[:] = record.view(np.uint8)
        world[:_OWN], kernels[:] = own, surfaces
        mujoco.mj_setState(self.world.model, self.world.data, then["physics"], _PHYSICS)
        self.world.data.sensordata[:] = then["sensors"]
        self.tick, self.runner.revision, (self.fault, self._ended) = snapshot.tick, then["revision"], then["fault"]
        self._addresses[0].ended = self._ended
        self.runner.script, self._pending = dict(then["script"]), list(then["pending"])
        self.sets.clear()
        self.sets.extend(then["sets"])
        self._known = -1, self.task.params
        self._use_seed(then["seed"])
        controller = self.runner.controller
        for law in {int(controller.goal[0].law), int(controller.state[0].law)} - {0}:
            controller.use(law_of(law).name)
        self._plan()

    def reset(self, seed: int | None = None) -> Any:
        """Begin again with another seed of the sensor noise (None: the task's own); returns the first record.

        The run is that of a new simulation of the task with this seed, bit for bit, but no model is built.
        """
        seed = self._first.sim.seed if seed is None else whole("seed", seed, 0)
        self.restore(self._start)
        self._changes = Changes()
        self.world.restart(seed, self._fresh)
        self._use_seed(seed)
        self.runner.robot.read(self.runner.controller.reading)
        if self.world.differs:
            self.runner.begin_again()
            self._plan()
        self._show_start()
        return self._record

    def _state_records(self) -> tuple[Array, ...]:
        c = self.runner.controller
        return c.parameters, c.state, c.reading, c.goal, c.command, c.observed, self._telemetry, self.world.record

    def _use_seed(self, seed: int) -> None:
        if seed != self.task.sim.seed:
            self.task = self.task.model_copy(update={"sim": self.task.sim.model_copy(update={"seed": seed})})

    # -- how requests and parameter sets reach the controller --

    def _latest(self) -> Any:
        return self._record

    def _law(self) -> str:
        return law_of(self._asked_law[0]).name

    def _ticks(self) -> int:
        return self.tick

    def _send(self, code: int, *, number: int = 0, values: Any = (), at_tick: int = 0) -> int:
        self._must_run()
        request = Request(code, number, values)
        if at_tick > self.tick:
            self._pending.append((at_tick, request))
            self._plan()
        else:
            self._carry_out(request)
        return 0

    def _await(self, request: int) -> None:
        """It has been carried out when it was sent."""

    def _carry_out(self, request: Request) -> None:
        self.runner.request(request)
        self._record.goal = self.runner.controller.goal[0]

    def _plan(self) -> None:
        """Find the next tick at which something is scheduled."""
        known = [*self.runner.script, *(tick for tick, _ in self._pending)]
        self._due = -1 if self._ended else min((tick for tick in known if tick >= self.tick), default=_NEVER)

    def _perform(self) -> None:
        """Carry out what is scheduled for this tick: first the events of the task, then requests."""
        self.runner.perform(self.tick)
        due = [request for tick, request in self._pending if tick <= self.tick]
        self._pending = [item for item in self._pending if item[0] > self.tick]
        for request in due:
            self._carry_out(request)
        self._plan()

    def _propose(self, make: Callable[[Parameters], Parameters], what: Any) -> tuple[Parameters, Parameters]:
        self._must_run()
        before = self.parameters
        after = make(before)
        self.check_now(before, after)
        self._guard(before, after)
        self.runner.adopt(changed_record(before, self.runner.controller.parameters, after), self.tick)
        self._known = self.runner.revision, after
        return before, after

    def _known_sets(self) -> Iterator[tuple[int, int, Parameters]]:
        for revision, tick, values in self.sets:
            yield revision, tick, parameters_of(type(self.task.params), values)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be stopped."""
