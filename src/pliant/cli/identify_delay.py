"""`pliant identify delay`: announce the motion and print the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.runtime.delay import Excitation, Lag
    from pliant.runtime.task import Task


def excitation(options: dict[str, Any]) -> Excitation:
    """The motion from the options of the command line, where amplitudes are in millimetres or degrees."""
    from math import radians

    from pliant.params.declare import validated
    from pliant.runtime.delay import Excitation

    given = {name: value for name, value in options.items() if value is not None}
    amplitude = given.pop("amplitude", None)
    if "bandwidth" in given:
        given["bandwidth_hz"] = given.pop("bandwidth")
    if amplitude is not None:
        name, value = ("amplitude_rad", radians(amplitude)) if given.get("joint") else ("amplitude_m", amplitude * 1e-3)
        given[name] = value
    return validated(Excitation, given)


def run(task: Task, how: Excitation, *, contact: bool, fast: bool, yes: bool) -> dict[str, Any]:
    """Identify the lag and print it; returns the values for the task file."""
    from pliant.cli.show import ask_once, out, progress
    from pliant.runtime.delay import as_settings, find_lag

    _say_start(task, how, contact)
    ask_once(task, yes=yes)
    with progress("moving") as update:
        found = find_lag(task, how, contact=contact, fast=fast, progress=update)
    out.print(_table(task, found))
    settings = as_settings(found)
    out.print(
        f"contact.lag_s should be {settings['params.contact.lag_s']:g} s (upper end of the interval, to be safe)."
    )
    return settings


def _say_start(task: Task, how: Excitation, contact: bool) -> None:
    """What is about to move."""
    from math import degrees

    from rich.text import Text

    from pliant.cli.show import out

    moves = f"the tool of {task.robot} moves back along its axis by {how.amplitude_m * 1e3:g} mm and returns"
    if how.joint:
        moves = f"joint {how.joint} of {task.robot} turns by {degrees(how.amplitude_rad):.2g}° and returns"
    then = f"; then the tool seeks a surface and presses with {task.params.contact.target_n:g} N" if contact else ""
    words = f"{moves}, for {how.seconds:g} s with a bandwidth of {how.bandwidth_hz:g} Hz{then}."
    out.print(Text(task.name, "bold"), words, sep=": ")


def _table(task: Task, found: Lag) -> Table:
    from rich.table import Table

    from pliant.sense.delay import CONFIDENT

    table = Table(title=f"lag of {task.name}", title_justify="left", title_style="bold")
    for column in ("figure", "estimate", "± 95 %", "unit"):
        table.add_column(column, justify="left" if column in ("figure", "unit") else "right")

    def row(name: str, value: float, std: float | None, unit: str = "ms") -> None:
        table.add_row(name, f"{value:.2f}", "" if std is None else f"{CONFIDENT * std:.2f}", unit)

    motion, force = found.motion, found.force
    row("command to motion", motion.lag_s * 1e3, motion.lag_std_s * 1e3)
    row("  transport", motion.delay_s * 1e3, motion.split_std_s * 1e3)
    row("  servo", motion.servo_s * 1e3, motion.split_std_s * 1e3)
    if force is not None:
        row("motion to force (surface damping reduces it)", force.lag_s * 1e3, force.lag_std_s * 1e3)
        table.add_row("surface stiffness", f"{force.stiffness_n_m:.4g}", "", "N/m")
    row("wrench filter", found.filter_s * 1e3, None)
    row("period", found.period_s * 1e3, None)
    row("total", found.total_s * 1e3, found.std_s * 1e3)
    row("motion carried out, of the command", motion.gain * 100, None, "%")
    row("residual of the motion", motion.left * 100, None, "%")
    row("condition number of transport and servo", motion.condition, None, "")
    return table
