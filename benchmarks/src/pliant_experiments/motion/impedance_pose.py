"""Impedance by torque on a UR5e: deflection and rotation at force over stiffness, with noise and delay; energy."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Impedance, Limits, Parameters, Sense, diagonal
from pliant.model.arm import Arm
from pliant.session.in_process.fast_run import Run, simulate
from pliant.spatial import pose_error
from pliant.task.schema import Event, Task
from pliant.world.world_config import Push, Sensor, SimConfig
from pliant_experiments.scenes.probe_tool import TOOL
from pliant_experiments.scenes.two_link_lab import asked_torque

Array = np.ndarray[Any, Any]
STIFF, TURN = 200.0, 20.0
OPEN = Sense(cutoff_hz=60.0, deadband_n=0.0, deadband_nm=0.0)
ON_S, END_S = 0.5, 4.5
LAG_S = 1.0 / (2 * np.pi * OPEN.cutoff_hz) + 0.002


def _task(seed: int, seconds: float, pushes: tuple[Push, ...], events: tuple[Event, ...] = (), **law: Any) -> Task:
    return Task(
        law="impedance", interface="torque", tool=TOOL, duration_s=seconds, events=events,
        sim=SimConfig(seed=seed, pushes=pushes),
        params=Parameters(sense=OPEN, impedance=Impedance.model_validate({"stiffness": diagonal(STIFF, TURN), **law})),
    )  # fmt: skip


def turned(records: Array) -> Array:
    """The rotation vector from the first pose to each [rad], in the base frame."""
    pose, out = records["observed"]["pose"], np.zeros((len(records), 6))
    for row, X in zip(out, pose, strict=True):
        pose_error(X, pose[0], row)
    return out[:, 3:]


def _deflections(seed: int) -> tuple[list[Figure], dict[str, Array]]:
    """20 N along each axis, 2 N m about each, by both forms."""
    figures, curves = [], {}
    for form in ("shaped", "simple"):
        far, across, wide = [], [], []
        for axis in range(6):
            wrench = [0.0] * 6
            wrench[axis] = 20.0 if axis < 3 else 2.0
            push = Push.model_validate({"at_s": ON_S, "for_s": 1e3, "wrench": wrench})
            records = simulate(_task(seed, END_S, (push,), form=form)).records
            shift = records["observed"]["pose"][:, :3] - records["observed"]["pose"][0, :3]
            way = np.concatenate(
                [shift[-500:].mean(axis=0) / 20.0 * STIFF, turned(records)[-500:].mean(axis=0) / 2.0 * TURN]
            )
            (far if axis < 3 else wide).append(way[axis])
            across.append(np.abs(np.delete(way, axis)).max())
            if form == "shaped" and axis == 2:
                curves["way"] = np.column_stack([records["time_s"], 1e3 * shift])
        figures += [
            at_most(
                f"{form}: 20 N along x, y, z: largest error of F/K", 100 * np.abs(np.array(far) - 1).max(), "%", 1.0
            ),
            at_most(
                f"{form}: 2 N m about x, y, z: largest error of M/K", 100 * np.abs(np.array(wide) - 1).max(), "%", 1.0
            ),
            at_most(f"{form}: cross-axis motion, largest share", 100 * np.max(across), "%", 1.0),
        ]
    return figures, curves


@dataclass(frozen=True)
class Energy:
    """The energy in a run under random pushes, one row per tick."""

    records: Array
    put: Array
    """Energy supplied by the hand [J]."""
    stored: Array
    """Energy stored in mass and spring [J]."""


def random_pushes(seed: int, form: str, n: int = 8, seconds: float = 5.0, **law: Any) -> Energy:
    """Random pushes and moments on a UR5e, and their energy."""
    random = np.random.default_rng(seed)
    wrenches = np.column_stack([random.uniform(-15, 15, (n, 3)), random.uniform(-1, 1, (n, 3))])
    pushes = tuple(
        Push.model_validate({"at_s": 0.2 + 0.4 * i, "for_s": 0.4, "wrench": wrench.tolist()})
        for i, wrench in enumerate(wrenches)
    )
    run = simulate(_task(seed, seconds, pushes, form=form, **law))
    records, gains = run.records, run.sets[0][2][0]["impedance_gains"]
    v = records["observed"]["twist"]
    at = np.floor((records["time_s"] - 0.2) / 0.4 + 1e-9).astype(int)
    force = np.where(((at >= 0) & (at < n))[:, None], wrenches[np.clip(at, 0, n - 1)], 0.0)
    # constant over a period, while the tool moves by the mean of its speeds
    put = np.concatenate([[0.0], np.cumsum((force[:-1] * 0.5 * (v[1:] + v[:-1])).sum(axis=1)) * 0.002])
    pose = records["observed"]["pose"]
    e = np.column_stack([pose[:, :3] - pose[0, :3], turned(records)])
    spring = 0.5 * np.einsum("ti,ij,tj->t", e, gains["K1"], e)
    if form == "shaped":
        return Energy(records, put, spring + 0.5 * np.einsum("ti,ij,tj->t", v, gains["M1"], v))
    arm, reading = Arm.load("ur5e", TOOL), records["reading"]
    motion = [0.5 * qd[:6] @ arm.mass_matrix(q[:6]) @ qd[:6] for q, qd in zip(reading["q"], reading["qd"], strict=True)]
    return Energy(records, put, spring + np.array(motion))


def _energy(seed: int) -> tuple[list[Figure], Array]:
    """Random pushes and moments: the energy supplied by the hand is stored, or dissipated by the damper."""
    figures, curve = [], np.zeros((0, 2))
    for form in ("shaped", "simple"):
        found = random_pushes(seed, form, 24, 14.0, damping_ratio=(0.3,) * 6)
        taken = found.put - found.stored
        # a push is measured late by the filter's lag and a period: that much of its work may be missing for a moment
        late = LAG_S * float(np.abs(np.diff(found.put)).max()) / 0.002
        figures += [
            reported(f"{form}, 24 random pushes: total energy supplied by the hand", found.put[-1], "J"),
            reported(f"{form}: work of the hand during the lag of the force filter", late, "J"),
            at_least(f"{form}: supplied minus stored in mass and spring, minimum", taken.min(), "J", -late),
            at_most(f"{form}: distance from the start after the last push", 1e3 * _away(found.records), "mm", 2.0),
        ]
        if form == "shaped":
            curve = np.column_stack([found.records["time_s"], found.put, found.stored])
    return figures, curve


def _away(records: Array) -> float:
    pose = records["observed"]["pose"]
    return float(np.linalg.norm(pose[-200:, :3].mean(axis=0) - pose[0, :3]))


def _stiffened(seed: int) -> tuple[list[Figure], Run]:
    """The spring is made ten times as stiff while it is stretched by 50 mm."""
    push = Push(at_s=0.2, for_s=1e3, wrench=(5.0, 0, 0, 0, 0, 0))
    change = Event(at_s=3.0, set={"impedance.stiffness": diagonal(1000.0, TURN)})
    run = simulate(_task(seed, 6.0, (push,), (change,), stiffness=diagonal(100.0, TURN)))
    state, v = run.records["state"], run.records["observed"]["twist"]
    after = run.records["time_s"] > 3.0 - 1e-6
    gains = run.sets[-1][2][0]["impedance_gains"]
    share = np.where(after, state["ramp"], 0.0)[:, None, None]
    D = gains["D0"] + share * (gains["D1"] - gains["D0"])
    taken = np.cumsum(np.where(after, np.einsum("ti,tij,tj->t", v, D, v), 0.0)) * 0.002
    ahead = (state["injected_j"] - np.concatenate([[0.0], taken[:-1]])).max()
    tank = Impedance().tank_j
    return [
        at_most(
            "K 100 → 1000 N/m at 50 mm: energy injected before the damper removes it", round(float(ahead), 6), "J", tank
        ),
        reported("the same as a step: energy injected", 0.5 * 900 * 0.05**2, "J"),
    ], run


def _torques(seed: int) -> list[Figure]:
    """Every torque of a rough run against the limits."""
    random = np.random.default_rng(seed)
    events = tuple(
        Event.model_validate({"at_s": 0.3 + 0.6 * i, "goal_offset_m": random.uniform(-1.5, 1.5, 3).tolist()})
        for i in range(10)
    )
    push = Push(at_s=2.0, for_s=2.0, wrench=(60.0, -40.0, 30.0, 0, 0, 0))
    run = simulate(_task(seed, 8.0, (push,), events))
    tau, qd = run.records["command"]["tau"][:, :6], run.records["reading"]["qd"][:, :6]
    arm, limits = Arm.load("ur5e", TOOL), Limits()
    rise = np.abs(np.diff(tau, axis=0)).max(axis=0) / arm.tau_max / 0.002
    fast = 100 * (np.abs(qd) / arm.v_max).max() / limits.speed_scale
    speed = np.linalg.norm(run.records["observed"]["twist"][:, :3], axis=1)
    pushed = (run.records["time_s"] > 1.99) & (run.records["time_s"] < 4.5)
    return [
        at_most(
            "goals up to 2.6 m away, and 78 N: requested share of the torque limits",
            asked_torque(run.records, arm.tau_max),
            "%",
            100.0,
        ),
        reported("the same: fastest torque change, in torque limits per second", rise.max(), "1/s"),
        at_most("the same: share of the joint speed limit", fast, "%", 105.0),
        at_most("the same: tool speed without a push", speed[~pushed].max(), "m/s", 1.05 * limits.linear_speed_m_s),
        reported("the same: tool speed under the push, which stretches the arm", speed[pushed].max(), "m/s"),
        within("the same: runs that ended in a fault", float(run.fault != ""), "", 0.0, 0.0),
    ]


def _rests(seed: int) -> list[Figure]:
    """A jump of the goal with increasingly stiff springs and the delay of the drives: does the arm settle?"""
    figures = []
    for form, stiffness, target in (
        ("shaped", 2e3, 1e-3),
        ("shaped", 2e4, 1e-3),
        ("simple", 2e3, 1e-3),
        ("simple", 2e4, 0.0),
    ):
        event = Event(at_s=0.1, goal_offset_m=(0.1, -0.15, -0.2))
        task = _task(seed, 5.0, (), (event,), form=form, stiffness=diagonal(stiffness, stiffness / 10))
        quiet = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)  # any later motion comes from the law
        sense = task.params.sense.model_copy(update={"frozen_s": 0.0})
        task = task.model_copy(
            update={"sim": SimConfig(sensor=quiet), "params": task.params.model_copy(update={"sense": sense})}
        )
        end = np.abs(simulate(task).records["reading"]["qd"][-100:]).max()
        name = f"{form}, K {stiffness:g} N/m, after a jump of 0.27 m: final joint speed"
        figures.append(at_most(name, end, "rad/s", target) if target else reported(name, end, "rad/s"))
    return figures


def run(seed: int, progress: Progress) -> Outcome:
    """Pushes and moments along every axis, random pushes, a stiffer spring under load, distant goals."""
    began = time.perf_counter()
    deflections, curves = _deflections(seed)
    progress(0.5)
    energy, put = _energy(seed)
    stiffened, changed_run = _stiffened(seed)
    progress(0.8)
    figures = [*deflections, *energy, *stiffened, *_torques(seed), *_rests(seed)]
    progress(1.0)
    return Outcome(
        "impedance-pose", seed, time.perf_counter() - began, figures,
        draw=lambda path: _draw(curves["way"], put, changed_run.records, path),
    )  # fmt: skip


def _draw(way: Array, put: Array, records: Array, path: Path) -> None:
    with style.applied() as theme:
        subtitle = "sim:ur5e by torque, 500 Hz, 4 ms of delay, a sensor with noise"
        fig, axes = style.figure(1, 3, "A UR5e as a spring", subtitle, share_x=False, panel_inches=(4.6, 3.0))
        for axis in range(3):
            axes[0, 0].plot(way[:, 0], way[:, 1 + axis], color=theme.xyz[axis], label="xyz"[axis])
        style.label(axes[0, 0], "20 N along z on 200 N/m", "mm", "motion")
        axes[0, 1].plot(put[:, 0], put[:, 1], color=theme.text, label="supplied")
        axes[0, 1].plot(put[:, 0], put[:, 2], color=theme.lines[0], label="stored")
        style.label(axes[0, 1], "24 random pushes", "J", "energy")
        style.legend(axes[0, 1])
        moved = records["observed"]["pose"][:, 0] - records["observed"]["pose"][0, 0]
        axes[0, 2].plot(records["time_s"], 1e3 * moved, color=theme.lines[0])
        axes[0, 2].axvline(3.0, color=theme.faint, ls="--", lw=0.8)
        style.label(axes[0, 2], "5 N; K 100 → 1000 N/m at 3 s", "mm", "motion")
        for ax in axes.flat:
            ax.set_xlabel("time [s]")
        style.legend(axes[0, 0])
    style.save(fig, path)
