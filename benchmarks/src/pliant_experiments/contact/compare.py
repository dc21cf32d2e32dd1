"""The same contact with Pliant and with other laws: peak force, bounces and force error of each."""

from __future__ import annotations

import time
from pathlib import Path

from pliant.analysis.experiment_options import Option
from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.world.world_config import Surface
from pliant_experiments.rivals.rival_contact import RIVALS, judge_rival, run_rival
from pliant_experiments.rivals.rival_record import save_ours, save_rival
from pliant_experiments.scenes.contact_trial import FORCE, SLOW, Figures, Trace, dome, judge, plane, run_contact, task

STIFFNESS = (2e4, 1e5, 1e6)
OURS = "contact"
OPTIONS = (
    Option("rival", "Law to compare with. Repeatable. Default: all.", tuple(RIVALS), many=True),
    Option("record", "Folder for a recording of every run, for pliant doctor and pliant plot."),
)
Rows = list[tuple[str, Figures, Trace]]


def _laws(surface: Surface, seed: int, rivals: tuple[str, ...], folder: Path | None) -> Rows:
    """The laws on one surface, with a total lag of 50 ms; Pliant's law knows only the declared stiffness range."""
    stiffest, where = max(1e5, surface.stiffness_n_m), f"{surface.kind}-{surface.stiffness_n_m:.0f}"
    what = task((surface,), SLOW, seed, 40.0, stiffness_max_n_m=stiffest, height_m=0.0025)
    ours = run_contact(what)
    rows: Rows = [(OURS, judge(ours), ours)]
    if folder:
        save_ours(folder / f"{where}-{OURS}.mcap", what, ours)
    for key in rivals:
        trace, phase = run_rival(RIVALS[key], surface, SLOW, seed)
        rows.append((RIVALS[key].name, judge_rival(trace, phase), trace))
        if folder:
            save_rival(folder / f"{where}-{key}.mcap", RIVALS[key], SLOW, seed, trace)
    return rows


def _figures(where: str, rows: Rows) -> list[Figure]:
    ours, records = rows[0][1], rows[0][2].records
    assert records is not None
    travelled = float(records["contact"]["travelled_m"].max())
    figures = [
        at_most(f"{where}: peak, Pliant", ours.peak_n, "N", 10.0),
        at_most(f"{where}: contact losses, Pliant", ours.losses, "", 0.0),
        reported(f"{where}: RMS error while sliding, Pliant", ours.slide_rms_n, "N"),
        reported(f"{where}: mean speed while sliding, Pliant", 1e3 * travelled / ours.slide_s, "mm/s"),
        at_least(
            f"{where}: lowest rival peak / Pliant's peak",
            min(f.peak_n for _, f, _ in rows[1:]) / ours.peak_n,
            "×",
            1,
        ),
    ]
    for name, found, _ in rows[1:]:
        figures += [
            reported(f"{where}: peak, {name}", found.peak_n, "N"),
            reported(f"{where}: contact losses, {name}", found.losses),
            reported(f"{where}: RMS error while sliding, {name}", found.slide_rms_n, "N"),
        ]
    return figures


def run(seed: int, progress: Progress, rival: tuple[str, ...] = (), record: Path | None = None) -> Outcome:
    """A plane and a dome of three stiffnesses, with Pliant and with the named other laws (default: all)."""
    rivals = tuple(dict.fromkeys(rival)) or tuple(RIVALS)
    began = time.perf_counter()
    figures: list[Figure] = []
    drawn: list[tuple[str, Rows]] = []
    for i, stiffness in enumerate(STIFFNESS):
        for j, surface in enumerate((plane(stiffness), dome(stiffness))):
            where = f"{surface.kind}, {stiffness:g} N/m"
            rows = _laws(surface, seed, rivals, record)
            figures += _figures(where, rows)
            drawn.append((where, rows))
            progress((2 * i + j + 1) / (2 * len(STIFFNESS)))
    notes = [f"Recordings: {record}"] if record else []
    return Outcome("compare", seed, time.perf_counter() - began, figures, notes, lambda path: _draw(drawn, path))


def _draw(drawn: list[tuple[str, Rows]], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            len(STIFFNESS), 2, f"{len(drawn[0][1])} laws, one contact", "true force since first touch; total lag 50 ms",
            panel_inches=(6.4, 2.2),
        )  # fmt: skip
        for i, (where, rows) in enumerate(drawn):
            ax = axes[i // 2, i % 2]
            for k, (name, _, trace) in enumerate(rows):
                touched = int((trace.normal_n > 0).argmax())
                ours = name == OURS
                ax.plot(
                    trace.time_s[touched:] - trace.time_s[touched], trace.normal_n[touched:],
                    color=theme.lines[k], lw=1.8 if ours else 0.7, zorder=3 if ours else 2,
                    label=name if i == 0 else None,
                )  # fmt: skip
            ax.axhline(FORCE, color=theme.faint, lw=0.6)
            ax.set_xlim(0.0, 1.5)
            ax.set_yscale("symlog", linthresh=10.0)
            ax.set_ylim(0.0, 600.0)
            ax.set_yticks([0, 5, 10, 100, 500], labels=["0", "5", "10", "100", "500"])
            style.label(ax, where, "N", "force")
        for ax in axes[-1]:
            ax.set_xlabel("time since first touch [s]")
        fig.legend(loc="outside lower center", ncols=3, frameon=False)
    style.save(fig, path)
