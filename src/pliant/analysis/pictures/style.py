"""The style of all pictures: two themes, units on every axis, colours that are safe for colour-blind readers.

    with style.applied():
        fig, axes = style.figure(2, 1, "A push of 20 N", "sim:ur5e, 500 Hz")
        axes[0, 0].plot(time_s, force_n)
        style.label(axes[0, 0], "External force", "N")
    style.save(fig, "push.png")

Nothing is set globally, and no window is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pliant.errors import InputError, UnwritableError

DPI = 120
FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Theme:
    """Colours of a picture."""

    background: str
    text: str
    faint: str
    grid: str
    alarm: str
    x: str
    y: str
    z: str
    lines: tuple[str, ...]  # joints, or anything else that is counted

    @property
    def xyz(self) -> tuple[str, str, str]:
        return self.x, self.y, self.z


# Okabe and Ito's palette; on a dark background the same hues, lighter.
LIGHT = Theme(
    background="#ffffff",
    text="#1f2328",
    faint="#6b7280",
    grid="#e5e7eb",
    alarm="#c62828",
    x="#D55E00",
    y="#009E73",
    z="#0072B2",
    lines=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#4b4b4b"),
)
DARK = Theme(
    background="#16181d",
    text="#e6e8eb",
    faint="#9aa3af",
    grid="#2b2f37",
    alarm="#ff6b6b",
    x="#FF8C4B",
    y="#2BC596",
    z="#58B2F0",
    lines=("#58B2F0", "#FF8C4B", "#2BC596", "#E39AC4", "#E8B93A", "#A6D8F7", "#c9ced6"),
)


def settings(theme: Theme) -> dict[Any, Any]:
    """The Matplotlib settings of a theme."""
    colours = [theme.lines[i % len(theme.lines)] for i in range(12)]
    dashes = ["-" if i < len(theme.lines) else "--" for i in range(12)]
    return {
        "figure.facecolor": theme.background,
        "figure.dpi": DPI,
        "savefig.facecolor": "auto",
        "font.family": "DejaVu Sans",  # ships with Matplotlib: the same picture on every machine
        "font.size": 9.5,
        "text.color": theme.text,
        "axes.facecolor": theme.background,
        "axes.edgecolor": theme.faint,
        "axes.labelcolor": theme.text,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 7.0,
        "axes.formatter.useoffset": False,
        "axes.prop_cycle": cycler(color=colours, linestyle=dashes),
        "grid.color": theme.grid,
        "grid.linewidth": 0.8,
        "xtick.color": theme.faint,
        "ytick.color": theme.faint,
        "xtick.labelcolor": theme.text,
        "ytick.labelcolor": theme.text,
        "lines.linewidth": 1.3,
        "lines.solid_capstyle": "round",
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "legend.handlelength": 1.4,
        "legend.columnspacing": 1.1,
        "legend.handletextpad": 0.5,
        "agg.path.chunksize": 20000,  # long noisy lines are drawn in pieces
        "svg.hashsalt": "pliant",  # the same run gives the same file
    }


@contextmanager
def applied(theme: Theme = LIGHT) -> Iterator[Theme]:
    """Apply the style within a `with` block; afterwards Matplotlib's settings are restored."""
    with mpl.rc_context(settings(theme)):
        yield theme


def figure(
    n_rows: int,
    n_cols: int,
    title: str,
    subtitle: str = "",
    *,
    theme: Theme = LIGHT,
    panel_inches: tuple[float, float] = (6.6, 2.35),
    share_x: bool = True,
    even: bool = False,
) -> tuple[Figure, np.ndarray[Any, Any]]:
    """An empty picture of n_rows × n_cols panels (a 2-D array of axes) with a title, without overlaps.

    `even` panels get fixed margins. This is faster: fitting margins to the content takes as long as drawing.
    """
    width, height = panel_inches
    with applied(theme):
        fig = Figure(figsize=(width * n_cols, height * n_rows + 0.7), layout=None if even else "constrained")
        FigureCanvasAgg(fig)
        engine: Any = fig.get_layout_engine()
        if engine is None:
            _space_evenly(fig, n_rows, n_cols)
        else:
            engine.set(w_pad=0.08, h_pad=0.07, wspace=0.03, hspace=0.02)
        # Two lines, flush left: a title, and the details in smaller type.
        place = {"y": 1 - 0.1 / fig.get_figheight()} if even else {}  # not laid out
        text = fig.suptitle(title, x=0.012, ha="left", fontsize=14, fontweight="bold", **place)
        if subtitle:
            text.set_text(title + "\n")
            fig.text(0.012, 1 - 0.40 / fig.get_figheight(), subtitle, ha="left", va="top", color=theme.faint)
        axes = fig.subplots(n_rows, n_cols, squeeze=False, sharex=share_x)
    return fig, axes


def _space_evenly(fig: Figure, n_rows: int, n_cols: int) -> None:
    """Margins [inches] for the labels of ordinary panels: ticks and a name at the left, a title or a legend above."""
    left, right, bottom, top, across, between = 0.85, 0.15, 0.55, 1.0, 0.95, 0.5
    width, height = fig.get_size_inches()
    panel_width = (width - left - right - (n_cols - 1) * across) / n_cols
    panel_height = (height - bottom - top - (n_rows - 1) * between) / n_rows
    fig.subplots_adjust(
        left=left / width, right=1 - right / width, bottom=bottom / height, top=1 - top / height,
        wspace=across / panel_width, hspace=between / panel_height,
    )  # fmt: skip


def label(ax: Axes, title: str, unit: str = "", quantity: str = "") -> None:
    """Set a panel's title, the unit of its vertical axis ('-' for none) and, where needed, the axis name."""
    ax.set_title(title)
    ax.set_ylabel(f"{quantity} [{unit}]".strip() if unit else quantity)


def legend(ax: Axes, handles: list[Any] | None = None, labels: list[str] | None = None) -> None:
    """A one-line legend above the panel, on the right, where it hides no data."""
    if handles is None or labels is None:
        handles, labels = ax.get_legend_handles_labels()
    if handles:
        place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.25}
        tight = {"fontsize": 8, "handlelength": 1.0, "handletextpad": 0.3, "columnspacing": 0.6}
        ax.legend(handles, labels, ncols=len(handles), **place, **(tight if len(handles) > 7 else {}))


def least_span(ax: Axes, span: float) -> None:
    """Show at least this much of the vertical axis, so that rounding noise does not fill a panel."""
    low, high = ax.get_ylim()
    if high - low < span:
        middle = (low + high) / 2
        ax.set_ylim(middle - span / 2, middle + span / 2)


def save(fig: Figure, path: Path | str) -> Path:
    """Write the picture as PNG, SVG or PDF, by file extension; the same picture gives the same bytes."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError("picture", str(path), "a file name ending in " + ", ".join(f".{f}" for f in FORMATS))
    data = render(fig, kind)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UnwritableError(path, error) from None
    return path


def render(fig: Figure, kind: str = "png") -> bytes:
    """The picture as file bytes, without date or version."""
    dates: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None},
        "pdf": {"CreationDate": None, "ModDate": None},
    }
    stream = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "pliant"}):
        engine = fig.get_layout_engine()
        if engine is not None:  # lay out once here: `savefig` would draw everything twice
            engine.execute(fig)
            fig.set_layout_engine("none")
        fig.savefig(stream, format=kind, dpi=DPI, metadata=dates[kind])
    return stream.getvalue()
