"""Output that the verbs share: progress, questions, tables of figures, JSON."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text

from pliant.errors import RejectedError, UnwritableError

if TYPE_CHECKING:
    from pliant.analysis.experiments import Benchmark, Experiment
    from pliant.analysis.targets import Figure, Outcome
    from pliant.compiling.entry_points import Need
    from pliant.task.schema import Task

# Without markup: brackets in a name or a message must be printed
out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)

# Of more missed targets than this, only the first ones are named.
_MOST_MISSED = 5


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, fed with the completed share; it disappears at the end."""
    if not err.is_terminal:  # a bar that is not drawn would leave an empty line
        yield lambda _share: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bars:
        bar = bars.add_task(label, total=1.0)
        yield lambda share: bars.update(bar, completed=share)


def compile_first(*needs: Need, task: Task | None = None) -> None:
    """Compile what is missing of these groups and jobs of kernels (see `compiling.entry_points`), with progress.

    The robot of a `task` that is not simulated must answer before anything is compiled, which may take minutes.
    """
    from pliant.compiling.ahead import ensure, is_ready, lines_on_stderr, missing
    from pliant.kernel.code_cache import open_cache

    if is_ready(*needs):
        return
    if problem := open_cache().problem:
        err.print(f"The compiled code cannot be cached: {problem}. Set PLIANT_CACHE to a private folder.")
    if not (jobs := missing(*needs)):
        ensure(*needs)
        return
    if task is not None:
        must_respond(task)
    expected = sum(job.seconds for job in jobs) / 1.6
    modules = f"{len(jobs)} module{'s' * (len(jobs) > 1)}"
    err.print(f"Compiling the control code, once per machine ({modules}, about {expected:.0f} s on an idle machine).")
    began = time.monotonic()
    if err.is_terminal:
        columns = (TextColumn("compiling"), BarColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=err, transient=True) as bars:
            bar = bars.add_task("", total=1.0)
            ensure(*needs, notice=lambda now: bars.update(bar, completed=now.share, description=now.text()))
    else:
        ensure(*needs, notice=lines_on_stderr())
    err.print(f"Compiled in {time.monotonic() - began:.0f} s.")
    if missing(*needs) and not open_cache().problem:
        err.print("Not all of it was cached: a source file changed meanwhile, or the disk is full. See `pliant cache`.")


def must_respond(task: Task) -> None:
    """Raise unless the robot of a task responds, if it is not simulated. Nothing moves."""
    from pliant.robots import is_simulated, reach_robot

    if not is_simulated(task.robot):
        reach_robot(task.robot, task, err.print)


def ask_once(task: Task, *, yes: bool) -> None:
    """Before a real robot moves, check that it responds, then ask for confirmation, unless `yes`."""
    from pliant.robots.robot_registry import kind_of

    kind, _ = kind_of(task.robot)
    if kind.is_simulated:
        return
    must_respond(task)
    if yes or not kind.moves_hardware:
        return
    sure = may_it_move()
    if sure is None:
        raise RejectedError("Nothing has moved: no terminal to confirm the start. Use --yes to start without asking.")
    if not sure:
        raise RejectedError("Nothing has moved: the start was not confirmed.")


class YesNo(Confirm):
    """A question that accepts yes and no as well as y and n."""

    prompt_suffix = " "

    def process_response(self, value: str) -> bool:
        """Accept whole words, too."""
        words = {"yes": "y", "no": "n"}
        return super().process_response(words.get(value.strip().lower(), value))


def may_it_move() -> bool | None:
    """Ask whether the robot may move; None if there is no terminal to ask on."""
    question = Text("Workspace clear? Start moving? [y/N]", "prompt")
    try:
        return YesNo.ask(question, console=err, default=False, show_choices=False, show_default=False)
    except EOFError:
        err.print()  # the question is on its own line
        return None


def claim(*paths: Path | None) -> None:
    """Check now that results can be written there, not after the work is done."""
    for path in paths:
        if path is not None:
            there = path.exists()
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("ab"):
                    pass
                if not there:  # an interrupted command must not leave an empty file
                    path.unlink()
            except OSError as error:
                raise UnwritableError(path, error) from None


def list_named(known: Mapping[str, Experiment | Benchmark]) -> None:
    """Print each name with its summary."""
    for name, item in known.items():
        out.print(Text.assemble((f"{name:20}", "bold"), f" {item.summary}"))


def number(value: float) -> str:
    """A value with four significant digits; "-" if it is not finite."""
    if not math.isfinite(value):
        return "-"
    if value == 0 or 0.001 <= abs(value) < 1e5:
        return f"{value:.4g}"
    return f"{value:.2e}"


def figures_table(figures: list[Figure], title: str) -> Table:
    """A table of figures, with targets if any figure has one."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("quantity")
    table.add_column("value", justify="right")
    table.add_column("unit")
    judged = any(figure.target for figure in figures)
    if judged:
        table.add_column("target", justify="right")
        table.add_column("met")
    for figure in figures:
        measured = bool(figure.target) or math.isfinite(figure.value)
        shown = f"{'≥ ' if figure.or_more else ''}{number(figure.value)}"
        row = [figure.name, shown if measured else "not measured", figure.unit if measured else ""]
        if judged:
            mark = Text("yes", "green") if figure.met else Text("no", "red")
            row += [figure.target, mark if figure.target else ""]
        table.add_row(*row)
    return table


def verdict(figures: list[Figure]) -> str:
    """Whether all targets are met, in a sentence; empty if there are none."""
    missed = [figure.name for figure in figures if not figure.met]
    if missed:
        more = f" and {len(missed) - _MOST_MISSED} more" if len(missed) > _MOST_MISSED else ""
        return f"{len(missed)} target{'s' * (len(missed) != 1)} missed: {'; '.join(missed[:_MOST_MISSED])}{more}."
    return "All targets met." if any(figure.target for figure in figures) else ""


def report(outcome: Outcome, *, as_json: bool, picture: Path | None) -> int:
    """Print an outcome and draw its picture. Returns 0 if every target is met, 1 otherwise."""
    if picture is not None and outcome.draw is not None:
        picture.parent.mkdir(parents=True, exist_ok=True)
        outcome.draw(picture)
    if as_json:
        json.dump(outcome.as_dict(), sys.stdout, indent=1, ensure_ascii=False)
        print()
    else:
        out.print(figures_table(outcome.figures, outcome.name))
        for note in outcome.notes:
            out.print(note)
        if said := verdict(outcome.figures):
            out.print(said)
        if picture is not None and outcome.draw is not None:
            out.print(f"Picture: {picture}")
    return 0 if outcome.passed else 1
