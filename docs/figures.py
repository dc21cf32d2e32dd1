"""Write docs/figures.md from the ``--json`` output of experiments and benchmarks: ``make figures``.

The output is kept in docs/figures/, so that the page can be checked without running them again. With names
(``python docs/figures.py experiment-dome bench-tick``) only those run; ``--page`` only writes the page.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "figures"
PAGE = Path(__file__).parent / "figures.md"
NOTE = "<!-- Written by docs/figures.py (make figures). Do not edit. -->"
MISSING = "not measured yet"


@dataclass(frozen=True)
class Row:
    """A row of the table: its text, the command, the format of its figures, and patterns that select them.

    Each pattern selects figures by name. Of several the largest is shown, or the smallest after ``min:``.
    """

    what: str
    command: str
    shown: str
    patterns: tuple[str, ...]


def _row(what: str, command: str, shown: str, *patterns: str) -> Row:
    return Row(what, command, shown, patterns)


CONTROL = (
    _row("the whole admittance tick inside compiled code (target 2 µs)", "bench tick", "{:.2f} µs",
         "^admittance tick inside compiled code$"),
    _row("the contact law's tick while sliding, inside compiled code (target 5 µs)", "bench tick", "{:.1f} µs",
         "^tick of the contact law"),
    _row("the impedance tick of a UR5e by torque, inside compiled code (target 5 µs)", "bench tick", "{:.1f} µs",
         "^impedance by torque"),
    _row("the admittance tick called from Python", "bench tick", "{:.1f} µs", "^tick called from Python$"),
    _row("speed-up over NumPy with Pinocchio; largest difference between the two", "bench tick", "{:.0f} ×; {:.0e} rad",
         "^times faster .* inside compiled code", "^largest difference between the two"),
    _row("closed-loop simulation of a UR5e at 500 Hz; two runs in two threads", "bench sim",
         "{:.0f} × real time; {:.1f} × one", "^closed loop, UR5e", "^two runs in two threads"),
    _row("lateness of the loop with a busy reader, median and 99 %", "bench loop", "{:.0f} and {:.0f} µs",
         "^loop, with a busy reader, median", "^loop, with a busy reader, 99 %"),
    _row("the same for a plain Python loop with a busy thread", "bench loop", "{:.0f} and {:.0f} µs",
         "^plain Python loop, with a busy thread, median", "^plain Python loop, with a busy thread, 99 %"),
    _row("share of one core at 500 Hz, simulated robot included (target 5 %)", "bench loop", "{:.1f} %",
         "^share of one core"),
    _row("compiled run, real-time loop and replay of a recording: largest difference", "experiment repeat", "{:g}",
         "^largest difference, (run twice|compiled run|recording)"),
)  # fmt: skip

LAWS = (
    _row("10 N on a spring of 100 N/m, along three axes of base and tool", "experiment admittance-response",
         "{:.1f} to {:.1f} mm", "min:^deflection under 10 N", "^deflection under 10 N"),
    _row("10 N on the lab's spring of 250 N/m, virtual mass 1 to 100 kg: largest error", "experiment lab-forces",
         "{:.4f} mm", "error of the 40 mm deflection"),
    _row("springs of 250 to 20 000 N/m after a jump of 0.36 m: joint speed at the end", "experiment lab-equilibrium",
         "{:.0e} rad/s", "after a jump of 0.36 m"),
    _row("tool speed towards a goal out of reach (limit 0.5 m/s)", "experiment lab-equilibrium", "{:.2f} m/s",
         "^\\(.*largest tool speed"),
    _row("energy injected by a stiffness change of 1.125 J (tank 0.05 J)", "experiment live-tuning", "{:.2f} J",
         "energy injected before motion removes it"),
    _row("0.1 m/s where the smallest singular value is 0.001: joint speed; undamped", "experiment singularity",
         "{:.2f} rad/s; {:.0f} rad/s", "^0.1 m/s at this pose", "^the same with undamped least squares"),
    _row("force sensor fails at 0.3 m/s: time and distance until the tool stops", "experiment sensor-faults",
         "{:.2f} s, {:.0f} mm", "^missing: time until the tool stops", "^missing: stopping distance"),
    _row("a tool of 1 kg identified with 0.2 N of noise: error of mass and centre", "experiment payload",
         "{:.2f} % and {:.2f} mm", "^1 kg, .*: mass error", "^1 kg, .*: centre error"),
)  # fmt: skip

CONTACT = (
    _row("stiffness of 10³ to 10⁵ N/m measured by a static press: largest error", "experiment press", "{:.2f} %",
         "^stiffness error"),
    _row("5 N on a dome of 10³ to 10⁵ N/m, total lag 25 ms: largest peak, RMS error while sliding, contact losses",
         "experiment dome", "{:.1f} N, {:.2f} N, {:.0f}",
         "^[^:,]+ N/m, 25 ms: peak", "^[^:,]+ N/m, 25 ms: RMS error", "^[^:,]+ N/m, 25 ms: contact losses"),
    _row("the same with 50 ms", "experiment dome", "{:.1f} N, {:.2f} N, {:.0f}",
         "^[^:,]+ N/m, 50 ms: peak", "^[^:,]+ N/m, 50 ms: RMS error", "^[^:,]+ N/m, 50 ms: contact losses"),
    _row("a surface that becomes 20 times stiffer within 10 mm, 50 ms: largest peak, contact losses",
         "experiment contact-scenes", "{:.1f} N, {:.0f}",
         "within 10 mm, 50 ms: peak", "within 10 mm, 50 ms: contact losses"),
    _row("sliding on a surface that moves by ±5 mm at 0.2 Hz, 25 and 50 ms: RMS error, contact losses",
         "experiment contact-scenes", "{:.2f} and {:.2f} N, {:.0f}",
         "^slide on a surface that moves.*25 ms: RMS", "^slide on a surface that moves.*50 ms: RMS",
         "^slide on a surface that moves.*: contact losses"),
    _row("first touch predicted by `pliant check` against the simulation: largest error", "experiment predictions",
         "{:.0f} %", ", prediction error$"),
    _row("lag of 20 servos of 10 to 98 ms, identified with noise: largest error", "experiment delay", "{:.1f} ms",
         "^largest error of the lag$"),
    _row("the doctor: right diagnoses of runs with defects; with known misses; sound runs with an alarm",
         "experiment doctor", "{:.0f} %; {:.0f} %; {:.0f}",
         "^right diagnoses of \\d+ runs with defects", "^right diagnoses including the known misses",
         "^sound runs with an alarm"),
)  # fmt: skip

ROBOTS = (
    _row("hand guiding on the emulated UR controller, force to motion: median and 99 %; on `sim:ur5e`",
         "experiment ur-emulator", "{:.0f} and {:.0f} ms; {:.0f} and {:.0f} ms",
         "^hand guiding, emulator: force to motion, median", "^hand guiding, emulator: force to motion, 99 %",
         "^hand guiding, sim:ur5e: force to motion, median", "^hand guiding, sim:ur5e: force to motion, 99 %"),
    _row("the dome on the emulated controller: peak, RMS error while sliding, contact losses", "experiment ur-emulator",
         "{:.1f} N, {:.2f} N, {:.0f}", "^dome, emulator: peak", "^dome, emulator: RMS error",
         "^dome, emulator: contact losses"),
    _row("impedance by direct torque on it: deflection under 10 N; on `sim:ur5e`", "experiment ur-emulator",
         "{:.1f} mm; {:.1f} mm", "^impedance by direct torque, emulator: deflection",
         "^impedance by direct torque, sim:ur5e: deflection"),
    _row("the loop killed while the emulated arm moves: program stopped (declared 100 ms), arm stopped, at most",
         "experiment ur-emulator", "{:.0f} and {:.0f} ms", "^kill -9.*: program stopped", "^kill -9.*: arm stopped"),
    _row("joint states to a real ROS 2 node and back: median and 99 %; values changed", "experiment ros2",
         "{:.0f} and {:.0f} µs; {:.0f}", "^round trip, median", "^round trip, 99 %",
         "^messages returned with other values"),
    _row("lateness added to the loop by the ROS 2 bridge, median", "experiment ros2", "{:.0f} µs",
         "^lateness added by the bridge"),
)  # fmt: skip

MOBILE = (
    _row("200 paths through walls, and through clutter, on 160,000 cells: found; 99 % within (processor time)",
         "experiment planner", "{:.0f} and {:.0f}; {:.0f} and {:.0f} ms",
         "^walls.*: solved of", "^clutter: solved of", "^walls.*: 99 % within$", "^clutter: 99 % within$"),
    _row("a path followed by a base with 120 ms of delay and lag: largest RMS distance, error at the end",
         "experiment follower", "{:.1f} mm, {:.1f} mm and {:.2f}°",
         ": largest RMS distance from the path", ": largest distance at the end$", ": largest heading error"),
    _row("poses sampled at 10 Hz with 1 mm of noise: largest RMS distance", "experiment follower",
         "{:.0f} mm", "^sampled poses, .*, 10 Hz: RMS distance"),
    _row("velocity of a base from noisy poses: error relative to the mean-step formula, mean and worst case",
         "experiment base-velocity", "{:.3f}, {:.2f}", "^error relative to the mean-step formula", "^the same, worst"),
    _row("whole-body motion, processor time of a step and of a pose search, 99 %; poses found",
         "experiment whole-body", "{:.2f} and {:.2f} ms; {:.1f} %", "^processor time of a step, 99 %",
         "^processor time of a search, 99 %", "poses found"),
    _row("an arm on a driving base along 5 m of path, planar and on wheels: RMS distance of the tool",
         "experiment whole-body", "{:.1f} and {:.1f} mm", "^RMS distance from the path, planar",
         "^RMS distance from the path, wheels"),
    _row("15 N on a wall along 3 m, from a base on wheels: RMS error", "experiment whole-body", "{:.1f} N",
         "^wall, 15 N: RMS force error"),
    _row("park, drive through a door, reach over a table: largest tool error; with noisy base poses",
         "experiment mission", "{:.2f} mm; {:.1f} mm",
         "^20 .*: largest tool position error at the end", " with noise .*: largest tool position error at the end"),
)  # fmt: skip

SECTIONS = {
    "Speed and timing": CONTROL,
    "Laws and sensing": LAWS,
    "Contact": CONTACT,
    "Robots and ROS 2": ROBOTS,
    "Mobile bases": MOBILE,
}


def file_of(command: str) -> Path:
    """Where the output of a command is kept."""
    return FOLDER / f"{command.replace(' ', '-')}.json"


def measure(command: str) -> None:
    """Run a command and store its figures."""
    print(f"pliant {command}", flush=True)
    words = [sys.executable, "-m", "pliant.cli.main", *command.split(), "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)  # exit code 1 means that a target was missed: the page shows that
    kept = [{key: figure[key] for key in ("name", "value", "unit")} for figure in found["figures"]]
    file_of(command).write_text(json.dumps({"figures": kept}, ensure_ascii=False, indent=1) + "\n")


def values(row: Row) -> list[float]:
    """The figures of a row; fails if a pattern selects none."""
    figures = json.loads(file_of(row.command).read_text())["figures"]
    found = []
    for pattern in row.patterns:
        least, wanted = pattern.startswith("min:"), pattern.removeprefix("min:")
        hits = [figure["value"] for figure in figures if re.search(wanted, figure["name"])]
        hits = [value for value in hits if value is not None]
        if not hits:
            raise SystemExit(f"docs/figures.py: no figure of 'pliant {row.command}' matches {wanted!r}")
        found.append(min(hits) if least else max(hits))
    return found


def line(row: Row) -> str:
    """A row of the page."""
    shown = row.shown.format(*values(row)) if file_of(row.command).exists() else MISSING
    return f"| {row.what} | {shown} | `pliant {row.command}` |"


def page() -> str:
    """The page, from the stored output."""
    parts = [
        NOTE,
        "# Figures",
        "Every figure can be reproduced with the command next to it. `make figures` runs all of them and writes this"
        " page. Benchmarks depend on the machine; these ran on a shared machine with two cores.",
    ]
    for title, rows in SECTIONS.items():
        table = ["| What | Figure | Command |", "| --- | --- | --- |", *map(line, rows)]
        parts += [f"## {title}", "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def main(words: list[str]) -> None:
    commands = dict.fromkeys(row.command for rows in SECTIONS.values() for row in rows)
    wanted = [command for command in commands if not words or file_of(command).stem in words]
    FOLDER.mkdir(exist_ok=True)
    for command in wanted:
        measure(command)
    PAGE.write_text(page())


if __name__ == "__main__":
    main(sys.argv[1:])
