"""`pliant identify delay`: announce the motion and print the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.identify.delay_motion import Excitation, Lag
    from pliant.model.arm import Arm
    from pliant.task.schema import Task


def excitation(options: dict[str, Any], arm: Arm) -> Excitation:
    """The motion from the options of the command line, where amplitudes are in millimetres or degrees."""
    from math import radians

    from pliant.cli.options import AMPLITUDE_DEG, AMPLITUDE_MM, Range
    from pliant.identify.delay_motion import Excitation
    from pliant.params.declare import validated

    given = {name: value for name, value in options.items() if value is not None}
    if "joint" in given:
        Range("--joint", 1, arm.n).check(given["joint"], "Leave it out to move the tool.")
    amplitude = given.pop("amplitude", None)
    if amplitude is not None:
        (AMPLITUDE_DEG if "joint" in given else AMPLITUDE_MM).check(amplitude)
    for option, field in {"bandwidth": "bandwidth_hz", "duration": "seconds"}.items():
        if option in given:
            given[field] = given.pop(option)
    if amplitude is not None:
        name, value = ("amplitude_rad", radians(amplitude)) if given.get("joint") else ("amplitude_m", amplitude * 1e-3)
        given[name] = value
    return validated(Excitation, given)


def must_have_surface(task: Task) -> None:
    """Raise unless the task declares a surface to press on."""
    from pliant.errors import RejectedError
    from pliant.identify.delay_motion import declares_surface

    if not declares_surface(task):
        raise RejectedError(
            f"--contact needs a surface, but task {task.name} declares none. Add sim.surfaces or surface_n_m.",
            field="--contact",
        )


def run(task: Task, how: Excitation, *, contact: bool, fast: bool, yes: bool) -> dict[str, Any]:
    """Identify the lag and print it; returns the values for the task file."""
    from pliant.cli.show import ask_once, out, progress
    from pliant.identify.delay_motion import delay_settings, find_lag

    _say_start(task, how, contact)
    ask_once(task, yes=yes)
    with progress("moving") as update:
        found = find_lag(task, how, contact=contact, fast=fast, progress=update)
    out.print(_table(task, found))
    settings = delay_settings(found)
    out.print(
        f"Set contact.lag_s to {settings['params.contact.lag_s']:g} s (upper end of the 95 % interval). "
        "--write stores it in your task file."
    )
    return settings


def _say_start(task: Task, how: Excitation, contact: bool) -> None:
    """What is about to move."""
    from math import degrees

    from rich.text import Text

    from pliant.cli.show import out
    from pliant.identify.delay_motion import pressing_words

    moves = f"the tool of {task.robot} will move back and forth along its axis, by up to {how.amplitude_m * 1e3:g} mm"
    if how.joint:
        moves = f"joint {how.joint} of {task.robot} will turn by {degrees(how.amplitude_rad):.2g}° and back"
    then = f"; then {pressing_words(task)}" if contact else ""
    words = f"{moves}, for {how.seconds:g} s at up to {how.bandwidth_hz:g} Hz{then}."
    out.print(Text(task.name, "bold"), words, sep=": ")


def _table(task: Task, found: Lag) -> Table:
    from rich.table import Table

    from pliant.identify.delay_fit import CONFIDENT

    table = Table(title=f"lag of {task.name}", title_justify="left", title_style="bold")
    for column in ("quantity", "estimate", "± 95 %", "unit"):
        table.add_column(column, justify="left" if column in ("quantity", "unit") else "right")

    def row(name: str, value: float, std: float | None, unit: str = "ms") -> None:
        table.add_row(name, f"{value:.2f}", "" if std is None else f"{CONFIDENT * std:.2f}", unit)

    motion, force = found.motion, found.force
    row("command to motion", motion.lag_s * 1e3, motion.lag_std_s * 1e3)
    row("  transport", motion.delay_s * 1e3, motion.split_std_s * 1e3)
    row("  servo", motion.servo_s * 1e3, motion.split_std_s * 1e3)
    if force is not None:
        row("motion to force (negative: damping makes the force lead)", force.lag_s * 1e3, force.lag_std_s * 1e3)
        table.add_row("surface stiffness", f"{force.stiffness_n_m:.4g}", "", "N/m")
    row("wrench filter", found.filter_s * 1e3, None)
    row("period", found.period_s * 1e3, None)
    row("total", found.total_s * 1e3, found.std_s * 1e3)
    row("amplitude, motion / command", motion.gain * 100, None, "%")
    row("residual of the motion", motion.left * 100, None, "%")
    row("condition number of transport and servo", motion.condition, None, "")
    return table
