"""A run in one picture: contact and tool motion on the left; joints, limits and timing on the right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pliant.analysis import signals
from pliant.analysis.pictures import style
from pliant.analysis.pictures.contact_plots import draw_contact, had_contact
from pliant.analysis.pictures.style import LIGHT, Theme
from pliant.analysis.signals import Names
from pliant.analysis.summary import text
from pliant.record import Recording

Array = np.ndarray[Any, Any]

_MARKS = 20  # of each kind; more of them would hide the plot
_ROW = 36.0  # room for the name and the bar of a limit, in units of the panel's percent scale


def plot_recording(recording: Recording, path: Path | str, names: Names | None = None, theme: Theme = LIGHT) -> Path:
    """Draw the run and save it as PNG, SVG or PDF; `names` maps limits and faults to text."""
    return style.save(draw(recording, names, theme), path)


def draw(recording: Recording, names: Names | None = None, theme: Theme = LIGHT) -> Figure:
    """The picture of a run as a figure, not saved."""
    if "mission" in recording.meta:  # a mission has a picture of its own, which imports the mobile modules
        from pliant.analysis import mission_figures
        from pliant.analysis.pictures import mission_picture

        return mission_picture.figure(mission_figures.recorded_mission(recording), theme)
    with style.applied(theme):
        fig, axes = style.figure(4, 2, title(recording), _subtitle(recording, names), theme=theme, even=True)
        _force(axes[0, 0], recording, theme)
        if had_contact(recording):
            draw_contact(axes[1, 0], recording, theme)
        else:
            _moment(axes[1, 0], recording, theme)
        _position(axes[2, 0], recording, theme)
        _speed(axes[3, 0], recording, theme)
        _tracking(axes[0, 1], recording)
        _joint_velocity(axes[1, 1], recording)
        _limits(axes[2, 1], recording, names, theme)
        if signals.is_paced(recording):
            _timing(axes[3, 1], recording, theme)
        else:
            _singular_value(axes[3, 1], recording, theme)
        for ax in axes.flat:
            _mark_faults(ax, recording, theme)
        for ax in axes[:, 0]:
            _mark_happenings(ax, recording, theme, words=ax is axes[0, 0])
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
        _time_axis(axes[0, 0], recording)
    return fig


def title(recording: Recording) -> str:
    """Task, robot and laws, as far as they are recorded."""
    ran = [] if "mission" in recording.meta else signals.laws(recording)
    laws = dict.fromkeys([str(recording.meta.get("law") or ""), *ran])
    named = (str(recording.meta.get(key) or "") for key in ("name", "robot"))
    known = [*named, ", ".join(filter(None, laws))]
    return " · ".join(filter(None, known)) or recording.path.name


def extent(recording: Recording) -> str:
    """Rate, duration and missing data."""
    step_s = signals.period_s(recording)
    parts = [f"{text(float(f'{1 / step_s:.6g}'))} Hz"] if step_s > 0 else []
    parts += [f"{recording.duration_s:.3g} s", f"{len(recording.records)} record{'s' * (len(recording.records) != 1)}"]
    if recording.lost:
        parts.append(f"{recording.lost} ticks lost")
    if not recording.complete:
        parts.append("incomplete file")
    return " · ".join(parts)


def _subtitle(recording: Recording, names: Names | None) -> str:
    stops = [f"fault at {text(began_s)} s: {name}" for began_s, name in signals.faults(recording, names)[:1]]
    return " · ".join([extent(recording), *stops])


def _line(ax: Axes, recording: Recording, values: Array, **options: Any) -> None:
    """One line over time; a run of very few records is drawn as dots, which a line would not show."""
    if len(recording.records) < 4:
        options = {"marker": "o", "markersize": 4, **options}
    ax.plot(signals.time_s(recording), signals.finite(values), **options)


def _xyz(ax: Axes, recording: Recording, vectors: Array, theme: Theme, names: bool = True, **options: Any) -> None:
    for i, (name, colour) in enumerate(zip("xyz", theme.xyz, strict=True)):
        _line(ax, recording, vectors[:, i], color=colour, label=name if names else None, **options)


def _force(ax: Axes, recording: Recording, theme: Theme) -> None:
    _xyz(ax, recording, recording.records["observed"]["wrench"][:, :3], theme)
    style.label(ax, "Measured force at the tool", "N", "force")
    style.least_span(ax, 1.0)
    style.legend(ax)


def _moment(ax: Axes, recording: Recording, theme: Theme) -> None:
    _xyz(ax, recording, recording.records["observed"]["wrench"][:, 3:], theme)
    style.label(ax, "External moment at the tool", "N m", "moment")
    style.least_span(ax, 0.1)
    style.legend(ax)


def _position(ax: Axes, recording: Recording, theme: Theme) -> None:
    tool = signals.position(recording, "observed")
    origin = signals.start(tool)
    keys = []
    for part, name, dashes, width in (
        ("goal", "goal", (0, (5, 3)), 1.0),
        ("state", "compliant frame", (0, (1, 1.5)), 1.3),
    ):
        other = signals.position(recording, part)
        if np.isfinite(other).any():
            _xyz(ax, recording, (other - origin) * 1e3, theme, names=False, linestyle=dashes, lw=width, alpha=0.85)
            keys.append((Line2D([], [], color=theme.faint, linestyle=dashes, lw=width), name))
    _xyz(ax, recording, (tool - origin) * 1e3, theme, lw=1.5)
    style.label(ax, "Tool position", "mm", "from the start")
    style.least_span(ax, 1.0)
    handles, labels = ax.get_legend_handles_labels()
    style.legend(ax, [*handles, *(h for h, _ in keys)], [*labels, *(name for _, name in keys)])


def _speed(ax: Axes, recording: Recording, theme: Theme) -> None:
    dashes = (0, (1, 1.5))
    _xyz(ax, recording, recording.records["observed"]["twist"][:, :3] * 1e3, theme, alpha=0.9)
    handles, labels = ax.get_legend_handles_labels()
    if np.any(recording.records["state"]["twist"][:, :3]):
        virtual = recording.records["state"]["twist"][:, :3] * 1e3
        _xyz(ax, recording, virtual, theme, names=False, linestyle=dashes)
        handles.append(Line2D([], [], color=theme.faint, linestyle=dashes))
        labels.append("compliant frame")
    style.label(ax, "Tool velocity", "mm/s", "velocity")
    style.least_span(ax, 1.0)
    style.legend(ax, handles, labels)


def _tracking(ax: Axes, recording: Recording) -> None:
    error, quantity, unit = signals.tracking(recording)
    scale, shown, least = (1e3, "m" + unit, 0.1) if unit.startswith("rad") else (1.0, unit, 0.1)
    for i, name in enumerate(short_names(recording.joint_names)):
        _line(ax, recording, error[:, i] * scale, label=name)
    style.label(ax, f"Joint {quantity} error", shown, "error")
    style.least_span(ax, least)
    style.legend(ax)


def _joint_velocity(ax: Axes, recording: Recording) -> None:
    for i, name in enumerate(short_names(recording.joint_names)):
        _line(ax, recording, recording.records["reading"]["qd"][:, i], label=name)
    style.label(ax, "Joint velocity", "rad/s", "velocity")
    style.least_span(ax, 0.01)
    style.legend(ax)


def _limits(ax: Axes, recording: Recording, names: Names | None, theme: Theme) -> None:
    """The share of the motion that was let through, and below it one bar per limit that acted."""
    _line(ax, recording, recording.records["observed"]["scale"] * 100, color=theme.text)
    style.label(ax, "Fraction of the commanded motion left after limits", "%", "share")
    ax.grid(axis="y", visible=False)
    acted = signals.limits(recording, names)
    for row, (name, active) in enumerate(acted.items()):
        top = -12.0 - _ROW * row
        y = top - 0.68 * _ROW
        bars = [(span.start_s, span.end_s - span.start_s) for span in signals.spans(recording, active)]
        colour = theme.lines[(row + 1) % len(theme.lines)]
        ax.broken_barh(bars, (y - 5, 10), facecolor=colour, edgecolor=colour, lw=0.6)
        ax.axhspan(y - 5, y + 5, color=colour, alpha=0.12, lw=0)
        place = {"transform": ax.get_yaxis_transform(), "ha": "left", "va": "top", "fontsize": 8, "color": theme.faint}
        ax.text(0.006, top, name, **place)
    ax.set_yticks([0, 50, 100])
    ax.set_ylim(-_ROW * len(acted) - 14, 108)
    if not acted:
        ax.text(0.5, 0.5, "no limit acted", transform=ax.transAxes, ha="center", va="center", color=theme.faint)


def _timing(ax: Axes, recording: Recording, theme: Theme) -> None:
    clock = recording.records["timing"]
    for name, colour, word in (("busy_s", theme.z, "busy"), ("late_s", theme.x, "lateness")):
        micros = clock[name] * 1e6
        _line(ax, recording, np.where(micros > 0, micros, np.nan), color=colour, lw=0.8, label=word)
    step_s = signals.period_s(recording)
    if np.isfinite(step_s):
        ax.axhline(step_s * 1e6, color=theme.faint, lw=1.0, ls=(0, (5, 3)), label="period")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    style.label(ax, "Loop timing", "µs", "duration")
    style.legend(ax)


def _singular_value(ax: Axes, recording: Recording, theme: Theme) -> None:
    _line(ax, recording, recording.records["observed"]["singular_value"], color=theme.text)
    style.label(ax, "Smallest singular value of the Jacobian", "m/rad, -")
    style.least_span(ax, 0.01)


def _mark_faults(ax: Axes, recording: Recording, theme: Theme) -> None:
    for span in signals.spans(recording, recording.records["state"]["fault"] != 0):
        ax.axvspan(*span, color=theme.alarm, alpha=0.12, lw=0)
        ax.axvline(span.start_s, color=theme.alarm, lw=1.0)


def _mark_happenings(ax: Axes, recording: Recording, theme: Theme, *, words: bool) -> None:
    """A dashed line where a parameter set took effect, a grey band where the force sensor had a problem."""
    marks = [(start_s, start_s, "parameters") for start_s in signals.changes(recording)[:_MARKS]]
    troubles = signals.spans(recording, recording.records["state"]["trouble"] != 0)
    marks += [(*span, "sensor fault") for span in troubles[:_MARKS]]
    for start_s, end_s, word in marks:
        if end_s > start_s:
            ax.axvspan(start_s, end_s, color=theme.faint, alpha=0.35, lw=0)
        else:
            ax.axvline(start_s, color=theme.faint, lw=1.0, ls=(0, (5, 3)))
        if words:
            place = {"xycoords": ("data", "axes fraction"), "xytext": (3, -2), "textcoords": "offset points"}
            ax.annotate(word, (end_s, 1.0), va="top", fontsize=8, color=theme.faint, **place)


def _time_axis(ax: Axes, recording: Recording) -> None:
    """The whole run without margins; a run of a single tick gets some margin."""
    times = signals.time_s(recording)
    times = times[np.isfinite(times)]
    if not len(times):
        return
    first, last = float(times.min()), float(times.max())
    if last > first:
        ax.set_xlim(first, last)
    else:
        ax.set_xlim(first - 0.5, first + 0.5)


def short_names(names: list[str]) -> list[str]:
    """Joint names without their common suffix; numbers if the names do not fit above a panel."""
    short = [name.removesuffix("_joint") for name in names]
    if sum(map(len, short)) + 4 * len(short) > 46:
        return [str(i + 1) for i in range(len(names))]
    return short
