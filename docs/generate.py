"""Writes the reference pages from the declarations in the code, so that they cannot disagree with it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from generate_api import api_pages
from generate_code import cli_page, example_pages

from pliant import records
from pliant.control.laws.contact import contact_states
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.control.telemetry import TELEMETRY
from pliant.mobile.base.base_params import Base, BaseVelocity, Follow, Planner, Pursuit
from pliant.mobile.mission.mission_params import MissionBase, MissionWholeBody
from pliant.mobile.mission.mission_task import MissionTask
from pliant.mobile.whole_body.body_config import BodySimConfig, Drive
from pliant.mobile.whole_body.body_params import Slip, WholeBody
from pliant.model.tool import Tool
from pliant.params.declare import Declared, Section, declared
from pliant.params.kinds import OfKind
from pliant.robots.ros2_arm.ros2_config import Ros2Config
from pliant.task.schema import Task
from pliant.world.world_config import SimConfig
from pliant_experiments.faults.fault_matrix import rows as fault_rows

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py (make reference). Do not edit. -->"
LAYOUTS = (
    records.READING,
    records.GOAL,
    records.SHARED_STATE,
    records.COMMAND,
    records.OBSERVED,
    records.TIMING,
    records.BASE,
    TELEMETRY,
    *(law.state for law in LAWS.values() if law.state is not None),
)


MOBILE = {
    "Velocity from poses": BaseVelocity,
    "Limits of the base": Base,
    "Planner": Planner,
    "Path follower": Follow,
    "Pure pursuit": Pursuit,
}


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(plain(cell) for cell in line) + " |" for line in lines)


def plain(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return text.replace("|", "\\|").replace("<", "&lt;")


# ---- parameters ----------------------------------------------------------------------------------------------------


def show(value: Any) -> str:
    """A default as it would stand in a task file."""
    if isinstance(value, tuple | list):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value) if str(value) and value != {} else "empty"


def allowed(kind: Any, item: Declared) -> str:
    """What a parameter may be: bounds, or the choices there are."""
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(f"`{choice}`" if choice else "empty" for choice in typing.get_args(kind))
    return "true or false" if kind is bool else item.bounds


def listed(kind: Any) -> type[Section] | None:
    """The section that a field holds a list of, if it does."""
    inner = typing.get_args(kind)[0] if typing.get_origin(kind) is tuple and typing.get_args(kind) else None
    inner = typing.get_args(inner)[0] if typing.get_origin(inner) is typing.Annotated else inner
    return inner if isinstance(inner, type) and issubclass(inner, Section) else None


def sections(section: type[Section], prefix: str, skip: tuple[type, ...] = ()) -> Iterator[str]:
    """A table for the parameters of `section` itself, then one for each section inside it."""
    leaves = {item.name: item for item in declared(section) if "." not in item.name}
    rows, nested = [], []
    for name, field in section.model_fields.items():
        kind: Any = field.annotation
        if isinstance(kind, type) and kind in skip:
            continue
        if isinstance(kind, type) and issubclass(kind, Section):
            nested.append((kind, f"{prefix}{name}."))
        elif inner := listed(kind):
            nested.append((inner, f"{prefix}{name}[]."))
        elif kind is Tool:
            nested.append((Tool, f"{prefix}{name}."))
        else:
            item = leaves[name]
            live = "live" if item.live else ""
            default = "required" if item.required else show(item.default)
            rows.append((f"`{prefix}{name}`", default, item.unit, allowed(kind, item), item.help, live))
    if rows:
        wide = 6 if any(row[-1] for row in rows) else 5
        yield table(("Name", "Default", "Unit", "Allowed", "Meaning", "Live")[:wide], [row[:wide] for row in rows])
    for kind, path in nested:
        yield f"### `{path.rstrip('.')}`\n\n{inspect.getdoc(kind)}"
        yield from tool(path) if kind is Tool else sections(kind, path)
        if isinstance(kind, type) and issubclass(kind, OfKind):
            yield from parameters_of_kinds(kind, path)


def parameters_of_kinds(section: type[OfKind], prefix: str) -> Iterator[str]:
    """A table for the parameters of each kind of a section."""
    for name, kind in section.kinds.builtin.items():
        yield f"#### `{prefix.rstrip('.')}` of the kind `{name}`\n\n{inspect.getdoc(kind.params)}"
        yield from sections(kind.params, prefix)


def tool(prefix: str) -> Iterator[str]:
    """The fields of a tool: a dataclass whose fields are explained by the strings below them."""
    body = typing.cast(ast.ClassDef, ast.parse(textwrap.dedent(inspect.getsource(Tool))).body[0]).body
    words = {
        before.target.id: after.value.value
        for before, after in pairwise(body)
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    }
    rows = [(f"`{prefix}{field.name}`", show(field.default), words[field.name]) for field in dataclasses.fields(Tool)]
    yield table(("Name", "Default", "Meaning"), rows)


def parameters_page() -> str:
    """The page of everything that can be set."""
    parts = [
        NOTE,
        "# Parameters",
        "Everything that can be set, with its default. An unknown name, a value out of bounds and a number that is not"
        " finite are rejected before anything moves.",
        "## Controller parameters",
        "Under `params:` in a task file; by these names in `arm.set({...})`, in the `set:` of an event, and after"
        " `--set`. There, one number for a list sets all of it. Those marked live may change while the loop runs.",
        *sections(Parameters, ""),
        "## Task entries",
        "The entries of a task file, which are the fields of `pliant.Task` and the keywords of `pliant.connect`.",
        *sections(Task, "", skip=(Parameters, SimConfig)),
        "## Simulator parameters",
        "Under `sim:` in a task file. What the figures mean physically: [the simulator](../simulator.md).",
        *sections(SimConfig, "sim."),
        "## Mobile base parameters",
        "Given to estimators, planner and followers from Python; those of the planner also after `pliant plan --set`."
        " What they mean: [a mobile base](../mobile.md).",
        *(
            text
            for name, kind in MOBILE.items()
            for text in (f"### {name}\n\n{inspect.getdoc(kind)}", *sections(kind, ""))
        ),
        "## Mobile manipulator parameters",
        "Its limits are those of the base above. From Python: `BodySettings(whole_body=..., slip=...)` and"
        " `BodySimConfig(drive=...)`, which takes all simulator parameters as well. How they belong together:"
        " [an arm on a base](../mobile-body.md).",
        *sections(WholeBody, "whole_body."),
        *sections(Slip, "slip."),
        *sections(Drive, "drive."),
        "## Mission entries",
        "The entries of a task file of the kind `mission`, and what `pliant run` takes after `--set` for one. It also"
        " has the mobile base parameters `base`, `planner` and `follow`, the mobile manipulator parameters `whole_body`"
        " (by default, `facing` is 0 and `base.delay_s` is 0.03 s), the simulator parameters `sim` with `sim.drive` and"
        " `sim.wheels`, and the task entries `ros2`. What they mean: [a mission](../mobile-mission.md).",
        *sections(MissionTask, "", skip=(MissionBase, Planner, Follow, MissionWholeBody, BodySimConfig, Ros2Config)),
    ]
    return "\n\n".join(parts) + "\n"


# ---- records -------------------------------------------------------------------------------------------------------


def kind_of(field: records.Field) -> str:
    """The type of a field as a reader of a recording sees it."""
    if isinstance(field.kind, records.Layout):
        name = f"[{field.kind.name}](#{field.kind.name.lower()})"
    else:
        name = {"f8": "float64", "i8": "int64"}[field.kind]
    return name + (f" × {' × '.join(map(str, field.shape))}" if field.shape else "")


def on(field: records.Field) -> str:
    """Where a field is published, if not everywhere."""
    kinds = {name: "mobile base" if name == "base" else name for name in field.only}
    return f" (only: {', '.join(kinds.values())})" if kinds else ""


def numbers(title: str, where: str, names: dict[int, str], head: str = "Number") -> str:
    """What the whole numbers of the fields `where` stand for."""
    rows = [(str(key), text) for key, text in sorted(names.items())]
    return f"### {title}\n\n{where}\n\n" + table((head, "Meaning"), rows)


def linked(text: str) -> str:
    """A text whose references, such as "(see Faults)", are links to the headings of this page."""
    return re.sub(
        r"\(see ([A-Z][a-z ]+)\)", lambda m: f"(see [{m[1].lower()}](#{m[1].lower().replace(' ', '-')}))", text
    )


def records_page() -> str:
    """The page of the records that one tick moves."""
    parts = [
        NOTE,
        "# Records",
        "What one tick reads and writes, as in `run.records`, `arm.state` and a recording. Frames, order and signs:"
        f" [conventions](../conventions.md). In memory, joint arrays have room for {records.MAX_JOINTS} joints; the"
        ' first n count. The record of a law has the law\'s name, as in `run.records["contact"]["peak_n"]`, and is all'
        " zero while another law runs. A law of your own has one too, with the fields that you declare.",
        "Shared memory and recordings hold only what a run uses: the joints of its arm, the record of the law that"
        " runs, and a field marked with an interface (or a mobile base) only on that.",
    ]
    for layout in LAYOUTS:
        rows = [
            (f"`{field.name}`", kind_of(field), field.unit, linked(field.help) + on(field)) for field in layout.fields
        ]
        parts.append(f"## {layout.name}")
        parts.append(table(("Field", "Type", "Unit", "Meaning"), rows))
    parts += [
        "## What the numbers stand for",
        numbers("Laws", "`goal.law`, `state.law`", {law.number: name for name, law in LAWS.items()}),
        numbers("Modes", "`command.mode`", {records.IDLE: "idle", **{v: name for name, v in records.MODES.items()}}),
        numbers("Faults", "`state.fault`", {0: "none", **records.FAULTS}),
        numbers("Sensor problems", "`state.trouble`: the force sensor …", {0: "has no problem", **records.TROUBLES}),
        numbers("Contact states", "`contact.state`, `contact.before`", dict(enumerate(contact_states.STATES))),
        numbers("Contact events", "`contact.reason`, `contact.rejected`", contact_states.EVENTS),
        numbers(
            "Contact commands",
            "`goal.command`, `goal.earlier`",
            {0: "none", **{number: name for name, number in contact_states.COMMANDS.items()}},
        ),
        numbers(
            "Limits",
            "`observed.limits` is the sum of the bit values of all limits that acted.",
            records.LIMITS,
            "Bit value",
        ),
    ]
    return "\n\n".join(parts) + "\n"


# ---- what happens when something fails ------------------------------------------------------------------------------

SAFETY = Path(__file__).parent / "safety.md"
BEGIN = "<!-- The table is written by docs/generate.py (make reference). Do not edit it. -->"
END = "<!-- End of the table. -->"


def safety_page() -> str:
    """The page on safety, with the rows of the fault matrix between its marks."""
    head, _, rest = SAFETY.read_text().partition(BEGIN)
    rows = [(str(row.number), row.component, row.fault, row.expected) for row in fault_rows().values()]
    found = table(("Row", "What fails", "How", "What must happen"), rows)
    return f"{head}{BEGIN}\n\n{found}\n\n{END}{rest.partition(END)[2]}"


PAGES = {
    SAFETY: safety_page,
    FOLDER / "parameters.md": parameters_page,
    FOLDER / "records.md": records_page,
    FOLDER / "cli.md": cli_page,
    **api_pages(FOLDER),
    **example_pages(),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for path, page in PAGES.items():
        path.write_text(page())


if __name__ == "__main__":
    main()
