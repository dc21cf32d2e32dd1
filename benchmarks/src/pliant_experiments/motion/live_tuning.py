"""Gains that change under load: bounded energy, no jumps, no partly applied changes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.control.laws.registry import prepare
from pliant.control.parameters import PARAMETERS, Admittance, Parameters, Sense, diagonal, record_of
from pliant.control.tick_entries import new_work
from pliant.model.arm import Arm
from pliant.params.declare import changed
from pliant.records import COMMAND, OBSERVED, POSITION, STATE
from pliant.session.in_process.fast_run import Run, simulate
from pliant.session.in_process.rerun import difference, rerun
from pliant.task.schema import Event, Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.rivals.explicit_law import Choices, ExplicitLaw, Trace, alike, run_in_simulator
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

DT, SOFT, STIFF, FORCE = 0.002, 100.0, 1000.0, 5.0
CHANGE_S, LET_GO_S, END_S = 3.0, 6.0, 9.0
OPEN = Sense(deadband_n=0.0, deadband_nm=0.0)
STEP_J = 0.5 * (STIFF - SOFT) * (FORCE / SOFT) ** 2
TANK_J = Admittance().tank_j


# ---- a stiffer spring under load -----------------------------------------------------------------------------------


def _scene(seed: int) -> SimConfig:
    """5 N until the hand releases: 50 mm on the soft spring."""
    return SimConfig(seed=seed, pushes=(Push(at_s=0.2, for_s=LET_GO_S - 0.2, wrench=(FORCE, 0, 0, 0, 0, 0)),))


def _stiffen(seed: int, tank_j: float) -> Run:
    task = Task(
        law="admittance", tool=TOOL, duration_s=END_S, sim=_scene(seed),
        params=Parameters(sense=OPEN, admittance=Admittance(stiffness=diagonal(SOFT, 20.0), tank_j=tank_j)),
        events=(Event(at_s=CHANGE_S, set={"admittance.stiffness": diagonal(STIFF, 20.0)}),),
    )  # fmt: skip
    return simulate(task)


def _stiffen_at_once(seed: int) -> Trace:
    law = ExplicitLaw(np.array(diagonal(8.0, 0.5)), np.array(diagonal(SOFT, 20.0)), 1.0, DT, Choices(deadband=0.0))
    stiff = np.array(diagonal(STIFF, 20.0))
    change = {round(CHANGE_S / DT): lambda law: law.change(stiff)}
    return run_in_simulator(law, _scene(seed), TOOL, END_S, changes=change)


def _dissipated(run: Run) -> Array:
    """Energy dissipated since the change [J], from recorded speeds and the recorded sets."""
    gains = next(values[0]["gains"] for revision, _, values in run.sets if revision == 1)
    state = run.records["state"]
    share = np.where(run.records["revision"] == 1, state["ramp"], 0.0)
    v = state["twist"]
    first, last = (np.einsum("ni,ij,nj->n", v, gains[name], v) for name in ("D0", "D1"))
    power = np.where(run.records["revision"] == 1, first + share * (last - first), 0.0)
    return np.cumsum(power) * DT


def _peaks(times: Array, velocity: Array) -> tuple[float, float]:
    """Largest commanded speed [m/s] and acceleration [m/s²] between the change and the release."""
    seen = (times >= CHANGE_S - DT) & (times < LET_GO_S)
    v = velocity[seen, :3]
    return float(np.linalg.norm(v, axis=1).max()), float(np.linalg.norm(np.diff(v, axis=0), axis=1).max() / DT)


def _under_load(seed: int) -> tuple[list[Figure], dict[str, Run], Trace]:
    runs = {"default": _stiffen(seed, TANK_J), "empty": _stiffen(seed, 0.0), "ample": _stiffen(seed, 10.0)}
    rival = _stiffen_at_once(seed)
    records = runs["default"].records
    injected = records["state"]["injected_j"]
    ahead = float((injected - np.concatenate([[0.0], _dissipated(runs["default"])[:-1]])).max())
    speed, acceleration = _peaks(records["time_s"], records["state"]["twist"])
    rival_speed, rival_acceleration = _peaks(rival.time_s, rival.velocity)
    held = records["time_s"] < LET_GO_S
    at = round(CHANGE_S / DT)
    figures = [
        at_most("K 100 → 1000 at 50 mm: energy injected before motion removes it", round(ahead, 9), "J", TANK_J),
        at_most("the same relative to a step", 100 * ahead / STEP_J, "%", 5.0),
        reported("total energy injected while held", injected[held][-1], "J"),
        reported(
            "total energy injected by a ramp with an ample tank",
            runs["ample"].records["state"]["injected_j"][-1],
            "J",
        ),
        at_most("peak speed relative to a step", 100 * speed / rival_speed, "%", 50.0),
        at_most("peak acceleration relative to a step", 100 * acceleration / rival_acceleration, "%", 50.0),
        reported("peak speed", speed * 1e3, "mm/s"),
        reported("peak acceleration", acceleration, "m/s²"),
        reported("step of the gains: energy injected", 0.5 * (STIFF - SOFT) * rival.moved()[at] ** 2, "J"),
        reported("step of the gains: peak speed", rival_speed * 1e3, "mm/s"),
        reported("step of the gains: peak acceleration", rival_acceleration, "m/s²"),
    ]
    for name, text in (("default", "default tank"), ("empty", "empty tank")):
        ramp, revision = runs[name].records["state"]["ramp"], runs[name].records["revision"]
        done = np.flatnonzero((revision == 1) & (ramp == 1.0))
        figures += [
            reported(f"{text}: applied share of the change while held", 100 * ramp[held][-1], "%"),
            at_least(f"{text}: applied share of the change at the end", 100 * ramp[-1], "%", 100.0),
            reported(
                f"{text}: time from release until fully applied", done[0] * DT - LET_GO_S if len(done) else np.nan, "s"
            ),
        ]
    return figures, runs, rival


# ---- nothing jumps -------------------------------------------------------------------------------------------------

# Changes made while the tool moves, a quarter of a second apart.
_BUMPS = (
    {"sense.cutoff_hz": 3.0}, {"sense.deadband_n": 5.0}, {"admittance.damping_ratio": (2.0,) * 6},
    {"sense.cutoff_hz": 100.0}, {"sense.deadband_n": 0.0}, {"admittance.damping_ratio": (0.4,) * 6},
    {"admittance.mass": diagonal(3.0, 0.5)}, {"admittance.stiffness": diagonal(400.0, 20.0)},
)  # fmt: skip


def _moving(seed: int, *, with_changes: bool) -> Run:
    events = tuple(Event(at_s=1.0 + 0.25 * i, set=values) for i, values in enumerate(_BUMPS)) if with_changes else ()
    pushes = tuple(Push(at_s=0.3 + 0.5 * i, for_s=0.5, wrench=((-1) ** i * 20.0, 0, 0, 0, 0, 0)) for i in range(6))
    task = Task(
        law="admittance", tool=TOOL, duration_s=4.0, sim=SimConfig(seed=seed, pushes=pushes), events=events,
        params=Parameters(admittance=Admittance(damping_ratio=alike(0.7))),
    )  # fmt: skip
    return simulate(task)


def _bumpless(seed: int) -> tuple[list[Figure], tuple[Array, Array, Array]]:
    run, plain = _moving(seed, with_changes=True), _moving(seed, with_changes=False)
    v, v_plain = (r.records["state"]["twist"][:, :3] for r in (run, plain))
    jump = np.linalg.norm(np.diff(v, axis=0), axis=1)
    limit = Parameters().limits.linear_acceleration_m_s2 * DT
    first = round(1.0 / DT)  # up to here both runs are the same: what follows in this tick is the change alone
    alone = float(np.linalg.norm(v[first] - v_plain[first]))
    ticks = [tick for revision, tick, _ in run.sets if revision > 0]
    figures = [
        at_most(
            "changes while moving: largest velocity jump in a tick",
            jump.max() * 1e3,
            "mm/s",
            limit * 1e3,
        ),
        reported("in the ticks of the changes", max(jump[tick - 1] for tick in ticks) * 1e3, "mm/s"),
        reported("of the first change alone, compared with a run without it", alone * 1e3, "mm/s"),
        reported("largest tool speed at the changes", max(np.linalg.norm(v[tick]) for tick in ticks) * 1e3, "mm/s"),
    ]
    return figures, (run.records["time_s"], v[:, 0], v_plain[:, 0])


# ---- all of it or none ---------------------------------------------------------------------------------------------


def _coupled(seed: int) -> Run:
    """Forty sets, each with another mass, stiffness, ratio, cut-off and deadband, at random ticks."""
    random = np.random.default_rng(seed)
    ticks = np.sort(random.choice(np.arange(100, 1900), 40, replace=False))
    events = tuple(
        Event(
            at_s=float(tick * DT),
            set={
                "admittance.mass": diagonal(4.0 + i % 7, 0.5), "admittance.stiffness": diagonal(100.0 + 20 * i, 20.0),
                "admittance.damping_ratio": (0.5 + 0.03 * i,) * 6, "sense.cutoff_hz": 5.0 + i,
                "sense.deadband_n": 0.1 * i,
            },
        )
        for i, tick in enumerate(ticks)
    )  # fmt: skip
    pushes = tuple(Push(at_s=0.1 + 0.4 * i, for_s=0.4, wrench=(0, (-1) ** i * 15.0, 0, 0, 0, 0)) for i in range(9))
    task = Task(law="admittance", tool=TOOL, duration_s=4.0, sim=SimConfig(seed=seed, pushes=pushes), events=events)
    return simulate(task)


def _again(run: Run, sets: Array) -> float:
    """Largest difference when the recorded ticks run again, each with the set of its revision."""
    records = run.records
    out, arm = records.copy(), Arm.load("ur5e", TOOL)
    state, command, observed, work = STATE.new(), COMMAND.new(), OBSERVED.new(), new_work()
    which = records["revision"].astype(np.int64)
    span = (records.ctypes.data, out.ctypes.data, records.itemsize, 0, len(records))
    rerun(arm.handle, sets, which, span, state, command, observed, work, POSITION, DT)
    return difference(records, out)[0]


def _adoption(seed: int) -> list[Figure]:
    run = _coupled(seed)
    sets = PARAMETERS.new(len(run.sets))
    for revision, _, values in run.sets:
        sets[revision] = values[0]
    late = sum(int(np.searchsorted(run.records["revision"], n)) != tick for n, tick, _ in run.sets if n)
    mixed = sets.copy()
    mixed["sense"]["deadband_n"][21] = mixed["sense"]["deadband_n"][20]
    return [
        at_most("sets of 40 that took effect in the wrong tick", late, "", 0.0),
        at_most("largest difference when every tick is replayed with its whole set", _again(run, sets), "", 0.0),
        at_least("the same with one outdated number in one set", _again(run, mixed), "", 1e-9),
    ]


def _recomputed() -> list[Figure]:
    """Which changes cause the matrices to be recomputed."""
    base = Parameters()
    before = record_of(base)
    prepare(before, None, 1.0, 0, DT)

    def count(*changes: dict[str, Any]) -> int:
        return sum(prepare(record_of(changed(base, values)), before, 1.0, 1, DT) for values in changes)

    other = (
        {"sense.cutoff_hz": 5.0}, {"sense.deadband_n": 3.0}, {"admittance.ramp_s": 1.0},
        {"limits.linear_speed_m_s": 0.1}, {"hold.bandwidth_hz": 1.0}, {"admittance.mass": base.admittance.mass},
    )  # fmt: skip
    gains = (
        {"admittance.mass": 9.0}, {"admittance.stiffness": 150.0}, {"admittance.damping_ratio": 0.5},
        {"admittance.damping_by": "value"}, {"admittance.axes": (True, True, False, True, True, True)},
    )  # fmt: skip
    return [
        at_most("matrices recomputed by 6 changes they do not depend on", count(*other), "", 0.0),
        at_least("matrices recomputed by 5 changes they depend on", count(*gains), "", 5.0),
    ]


def _undo(seed: int) -> list[Figure]:
    """A change and its undo, under load."""
    events = (
        Event(at_s=1.5, set={"admittance.stiffness": diagonal(STIFF, 20.0), "admittance.damping_ratio": (0.6,) * 6}),
        Event(at_s=2.5, set={"admittance.stiffness": diagonal(SOFT, 20.0), "admittance.damping_ratio": (1.0,) * 6}),
    )
    task = Task(
        law="admittance", tool=TOOL, duration_s=6.0, sim=_scene(seed), events=events,
        params=Parameters(sense=OPEN, admittance=Admittance(stiffness=diagonal(SOFT, 20.0))),
    )  # fmt: skip
    run = simulate(task)
    first, last = run.sets[0][2][0]["gains"], run.sets[-1][2][0]["gains"]
    gap = max(float(np.abs(first[name] - last[name]).max()) for name in ("M1", "D1", "K1"))
    never = simulate(Task.model_validate({**task.model_dump(), "events": ()}))
    way = run.records["state"]["pose"][-1, :3] - never.records["state"]["pose"][-1, :3]
    return [
        at_most("undone: largest difference of the gains", gap, "", 0.0),
        at_most("undone: tool position compared with a run without the change", np.linalg.norm(way) * 1e3, "mm", 0.5),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """Stiffen under load, change while moving, change forty times, undo a change."""
    began = time.perf_counter()
    load, runs, rival = _under_load(seed)
    progress(0.4)
    bumps, curves = _bumpless(seed)
    progress(0.6)
    adoption = [*_adoption(seed), *_recomputed()]
    progress(0.8)
    figures = [*load, *bumps, *adoption, *_undo(seed)]
    progress(1.0)
    return Outcome(
        "live-tuning", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(runs, rival, curves, path)
    )


def _draw(runs: dict[str, Run], rival: Trace, curves: tuple[Array, Array, Array], path: Path) -> None:
    with style.applied() as theme:
        title = (
            f"Stiffness {SOFT:g} → {STIFF:g} N/m at {CHANGE_S:g} s, under a push of {FORCE:g} N until {LET_GO_S:g} s"
        )
        fig, axes = style.figure(2, 2, title, "sim:ur5e, 500 Hz", share_x=False, panel_inches=(6.2, 2.6))
        names = {"default": f"tank of {TANK_J:g} J", "empty": "empty tank", "ample": "ample tank"}
        for (key, run), line, colour in zip(runs.items(), ("-", ":", "-."), theme.lines, strict=False):
            times, state = run.records["time_s"], run.records["state"]
            seen = times > CHANGE_S - 0.5
            share = np.where(run.records["revision"] == 1, state["ramp"], 0.0)
            moved = state["pose"][:, 0] - state["pose"][0, 0]
            axes[0, 0].plot(times[seen], moved[seen] * 1e3, line, color=colour, label=names[key])
            axes[0, 1].plot(times[seen], 100 * share[seen], line, color=colour, label=names[key])
            axes[1, 0].plot(times[seen], state["injected_j"][seen], line, color=colour, label=names[key])
        seen = rival.time_s > CHANGE_S - 0.5
        axes[0, 0].plot(rival.time_s[seen], rival.moved()[seen] * 1e3, "--", color=theme.alarm, label="step")
        axes[1, 0].plot(
            rival.time_s[seen],
            np.where(rival.time_s[seen] < CHANGE_S, 0, STEP_J),
            "--",
            color=theme.alarm,
            label="step",
        )
        style.label(axes[0, 0], "Tool motion", "mm")
        style.label(axes[0, 1], "Applied share of the change", "%", "share")
        style.label(axes[1, 0], "Energy injected", "J")
        times, v, plain = curves
        axes[1, 1].plot(times, plain * 1e3, color=theme.faint, lw=1, label="without changes")
        axes[1, 1].plot(times, v * 1e3, color=theme.lines[0], label="eight changes")
        for i in range(len(_BUMPS)):
            axes[1, 1].axvline(1.0 + 0.25 * i, color=theme.faint, lw=0.6, ls=":")
        style.label(axes[1, 1], "Changes while moving", "mm/s", "commanded speed")
        for ax in axes.flat:
            ax.set_xlabel("time [s]")
            style.legend(ax)
    style.save(fig, path)
