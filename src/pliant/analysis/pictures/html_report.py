"""A run as one self-contained HTML page: the task, the results and the parameters."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from html import escape
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ruamel.yaml import YAML

from pliant.analysis import signals, summary
from pliant.analysis.pictures import run_picture, style
from pliant.analysis.signals import Names
from pliant.analysis.summary import Row, text
from pliant.errors import UnwritableError
from pliant.record import Recording
from pliant.records import Layout

Array = np.ndarray[Any, Any]

MOST_CHANGES = 200  # rows in the table of parameter changes, to keep the page readable

_STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --text: #1f2328; --faint: #5d6673; --line: #e3e6ea;
  --card: #f6f7f9; --alarm: #b3261e; --alarm-back: #fdeceb; --accent: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --back: #16181d; --text: #e6e8eb; --faint: #9aa3af; --line: #2b2f37;
  --card: #1e2128; --alarm: #ff8a80; --alarm-back: #3a1f1f; --accent: #58b2f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 2.5rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.01em; }
h2 { margin: 2.75rem 0 0.75rem; font-size: 1.15rem; }
p { margin: 0.4rem 0; max-width: 44rem; }
.faint { color: var(--faint); }
.alarm { margin: 1.25rem 0 0; padding: 0.7rem 1rem; border-left: 4px solid var(--alarm); border-radius: 4px;
  background: var(--alarm-back); max-width: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 0.75rem; margin: 1.75rem 0; }
.card { padding: 0.8rem 1rem; border-radius: 8px; background: var(--card); }
.card b { display: block; font-size: 1.5rem; line-height: 1.3; font-weight: 650; font-variant-numeric: tabular-nums; }
.card b small { font-size: 0.9rem; font-weight: 400; color: var(--faint); }
.card span { font-size: 0.85rem; color: var(--faint); }
figure { margin: 0; padding: 0.5rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
figure img { display: block; width: 100%; min-width: 760px; height: auto; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 0 3rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.92rem; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
thead th { color: var(--faint); font-weight: 500; font-size: 0.85rem; }
tbody th { min-width: 7.5rem; font-weight: 500; overflow-wrap: normal; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: 0.88em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { margin: 0; padding: 0.8rem 1rem; border-radius: 8px; background: var(--card); font-size: 0.9rem; }
footer { margin-top: 3rem; font-size: 0.85rem; color: var(--faint); }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


class Parameter(NamedTuple):
    """One parameter of a set, by its dotted name."""

    name: str
    unit: str
    help: str
    value: Any


class Change(NamedTuple):
    """A parameter change."""

    time_s: float
    revision: int
    name: str
    unit: str
    before: Any
    after: Any


def write_report(recording: Recording, path: Path | str, names: Names | None = None) -> Path:
    """Write the report of a run as one HTML file; `names` maps limits and faults to text."""
    path = Path(path)
    page = html(recording, names)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UnwritableError(path, error) from None
    return path


def html(recording: Recording, names: Names | None = None) -> str:
    """The report as HTML text."""
    title = escape(run_picture.title(recording))
    parts = [
        f"<header><h1>{title}</h1>",
        f'<p class="faint">{escape(run_picture.extent(recording))}</p></header>',
        *_warnings(recording, names),
        _cards(recording, names),
        _picture(recording, names),
        '<div class="columns">',
        f"<section><h2>Run</h2>{_rows(summary.overview(recording))}</section>",
        f"<section><h2>Results</h2>{_rows(summary.numbers(recording, names))}</section>",
        "</div>",
        *_task(recording),
        *_parameters(recording),
        f"<footer>Report of <code>{escape(recording.path.name)}</code>. Forces act from the environment on the "
        "robot, in the base frame at the tool.</footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _warnings(recording: Recording, names: Names | None) -> Iterator[str]:
    for began_s, name in signals.faults(recording, names):
        yield f'<p class="alarm"><b>Fault at {text(began_s)} s:</b> {escape(name)}.</p>'
    if not recording.complete:
        yield '<p class="alarm"><b>Incomplete file:</b> the report covers only the part that could be read.</p>'
    if recording.lost:
        yield f'<p class="alarm"><b>{recording.lost} ticks are missing:</b> the recorder could not keep up.</p>'


def _cards(recording: Recording, names: Names | None) -> str:
    """The few numbers at the top."""
    rows = {row.name: row for row in summary.numbers(recording, names)}
    error = next(row for name, row in rows.items() if name.startswith("Peak") and "tracking error" in name)
    late = rows.get("Lateness, 99th percentile")
    chosen = [rows["Peak force"], rows["Peak moment"], rows["Peak tool speed"]]
    chosen += [error._replace(name="Peak tracking error"), *([late] if late else [])]
    cards = "".join(
        f'<div class="card"><b>{text(value)} <small>{escape(unit)}</small></b><span>{escape(name)}</span></div>'
        for name, value, unit in chosen
    )
    return f'<div class="cards">{cards}</div>'


def _picture(recording: Recording, names: Names | None) -> str:
    """The picture in both themes; the browser shows the one that fits."""
    light, dark = (
        "data:image/png;base64," + base64.b64encode(style.render(run_picture.draw(recording, names, theme))).decode()
        for theme in (style.LIGHT, style.DARK)
    )
    return (
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="Force, motion, tracking, limits and timing of the run over time"></picture></figure>'
    )


def _rows(rows: Iterable[Row]) -> str:
    lines = []
    for name, value, unit in rows:
        shown = escape(text(value)) + (f' <span class="faint">{escape(unit)}</span>' if unit else "")
        kind = "" if isinstance(value, str) else ' class="number"'
        lines.append(f'<tr><th scope="row">{escape(name)}</th><td{kind}>{shown}</td></tr>')
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def _task(recording: Recording) -> Iterator[str]:
    """The task in the form of a task file; its parameters are in a separate table."""
    task = recording.meta.get("task")
    if not isinstance(task, dict):
        return
    yield "<section><h2>Task</h2>"
    yield f'<pre class="scroll"><code>{escape(task_text(task))}</code></pre></section>'


def task_text(task: dict[str, Any]) -> str:
    """A task without its parameters, in YAML."""
    stream = StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = None, False  # pyright: ignore[reportAttributeAccessIssue]
    yaml.width = 110
    said = {name: value for name, value in task.items() if name != "params" and value not in ([], None, "")}
    yaml.dump(said, stream)
    return stream.getvalue()


def _parameters(recording: Recording) -> Iterator[str]:
    yield "<section><h2>Parameters at the end</h2>"
    if not recording.parameters:
        yield '<p class="faint">The recording contains no parameters.</p></section>'
        return
    last = recording.parameters[-1]
    yield f'<p class="faint">Set {last.revision}, active since {text(last.time_s)} s.</p>'
    head = ("Parameter", "Value", "Unit", "Meaning")
    yield _table(
        head,
        (
            (f"<code>{escape(p.name)}</code>", escape(value_text(p.value)), escape(p.unit), escape(p.help))
            for p in flatten(recording.parameter_layout, last.values)
        ),
    )
    yield "</section><section><h2>Parameter changes during the run</h2>"
    found = changes(recording)
    if not found:
        yield '<p class="faint">None.</p></section>'
        return
    yield _table(
        ("Time", "Set", "Parameter", "From", "To", "Unit"),
        (
            (
                f"{text(c.time_s)} s",
                str(c.revision),
                f"<code>{escape(c.name)}</code>",
                escape(value_text(c.before)),
                escape(value_text(c.after)),
                escape(c.unit),
            )
            for c in found[:MOST_CHANGES]
        ),
    )
    if len(found) > MOST_CHANGES:
        yield f'<p class="faint">{len(found) - MOST_CHANGES} more changes are in the recording.</p>'
    yield "</section>"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    top = "".join(f"<th>{name}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def flatten(layout: Layout | None, values: Any, prefix: str = "") -> list[Parameter]:
    """The parameters of a set as a flat list; nested ones have dotted names."""
    found: list[Parameter] = []
    for field in layout.fields if layout else ():
        name, value = f"{prefix}{field.name}", values[field.name]
        if isinstance(field.kind, Layout) and not field.shape:
            found += flatten(field.kind, value, f"{name}.")
        else:
            found.append(Parameter(name, field.unit, field.help, value))
    return found


def changes(recording: Recording) -> list[Change]:
    """Every parameter change of the run, ordered by time."""
    found: list[Change] = []
    for before, after in pairwise(recording.parameters):
        old = flatten(recording.parameter_layout, before.values)
        new = flatten(recording.parameter_layout, after.values)
        for was, now in zip(old, new, strict=True):
            if np.asarray(was.value).tobytes() != np.asarray(now.value).tobytes():
                found.append(Change(after.time_s, after.revision, now.name, now.unit, was.value, now.value))
    return found


def value_text(value: Any) -> str:
    """A parameter's value as text: a number, a list or a matrix (diag(…) if it is diagonal)."""
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{value:g}" if array.dtype.kind in "fi" else str(value)
    if array.dtype.kind not in "fi":
        return str(array.tolist())
    if array.ndim == 2 and array.shape[0] == array.shape[1] and np.array_equal(array, np.diag(np.diag(array))):
        return f"diag({', '.join(f'{v:g}' for v in np.diag(array))})"
    if array.ndim > 1:
        return "[" + ", ".join(value_text(row) for row in array) + "]"
    return "[" + ", ".join(f"{v:g}" for v in array) + "]"
