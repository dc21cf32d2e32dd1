"""`pliant plan`: a path through a map."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.errors import InputError

if TYPE_CHECKING:
    from pliant.mobile.planning.planner import Plan

EXAMPLE = "Example: [bold]pliant plan flat --start 1,1,0 --goal 6,4,90 -o plan.png[/bold]"


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="MAP",
            help="Map file (map_server .yaml, .pgm, .png or .npy), or the name of a map that comes with Pliant.",
        ),
    ],
    start: Annotated[str, typer.Option(help="Start pose of the base: x,y,heading \\[m, m, °].")],
    goal: Annotated[str, typer.Option(help="Goal pose of the base: x,y,heading \\[m, m, °].")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture (default: out/MAP-plan.png). Missing folders are created."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Planner setting: name=value, as in radius_m=0.6. Repeatable."),
    ] = None,
    resolution: Annotated[
        float | None, typer.Option(help="Cell size \\[m] of an image or array (default: 0.05).")
    ] = None,
    origin: Annotated[
        str | None, typer.Option(help="x,y \\[m] of the lower left corner of an image or array (default: 0,0).")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Search timeout \\[s], more than 0.")] = 10.0,
) -> int:
    """Plan a path for a mobile base through a map, and draw it.

    The path consists of arcs that the base can drive, forwards and backwards, and ends exactly at the goal.
    """
    from pliant.analysis.pictures.plan_picture import draw_plan
    from pliant.cli.show import compile_first
    from pliant.mobile.base.base_params import Planner
    from pliant.mobile.planning.map_files import load_map
    from pliant.mobile.planning.planner import HybridAStar, TimeOverError
    from pliant.params.declare import changed, parse_assignment
    from pliant.task.bundled_files import find_file

    ends = _pose("--start", start), _pose("--goal", goal)
    for text in settings or ():
        if not all(part.strip() for part in text.partition("=")):
            raise InputError("--set", text, "of the form name=value, for example radius_m=0.6")
    chosen = changed(Planner(), dict(parse_assignment(text) for text in settings or ()))
    file = find_file("map", name)
    corner = _corner(origin) if origin else None
    grid = load_map(file, resolution_m=resolution, origin=corner, options=("--resolution", "--origin"))
    picture = _claimed(file, output or (None if as_json else _default_picture(file)))
    planner = HybridAStar(grid, chosen)
    planner.check(*ends)
    compile_first("planner")
    try:
        plan = planner.plan(*ends, go_on=_until(time.monotonic() + timeout))
    except TimeOverError:
        said = f"No path from start to goal was found within {timeout:g} s. There may still be one: raise --timeout."
        raise TimeOverError(said) from None
    if picture is not None:
        draw_plan(grid, plan, chosen.footprint, picture)
    _print_result(plan, ends[1], picture, as_json=as_json)
    return 0


def _until(stop_at: float) -> Callable[[], bool]:
    return lambda: time.monotonic() < stop_at


def _default_picture(file: Path) -> Path:
    """Default file of the picture. room.yaml and room.png in one folder are two maps with a picture each."""
    from pliant.loop.saving import output_folder

    name = file.stem if file.suffix == ".yaml" else file.name
    return output_folder() / f"{name}-plan.png"


def _claimed(file: Path, picture: Path | None) -> Path | None:
    """The picture file, after checking that it can be written and is not the map."""
    from pliant.cli.options import PICTURES, must_end
    from pliant.cli.show import claim
    from pliant.mobile.planning.map_files import files_of

    must_end("--output", picture, *PICTURES)
    if picture is not None and picture.resolve() in [each.resolve() for each in files_of(file)]:
        raise InputError("--output", str(picture), "a different file: it is the map and would be overwritten")
    claim(picture)
    return picture


def _print_result(plan: Plan, goal: tuple[float, float, float], picture: Path | None, *, as_json: bool) -> None:
    from pliant.analysis.pictures.plan_picture import as_dict, changes
    from pliant.cli.show import out

    if as_json:
        print(json.dumps(as_dict(plan, goal), indent=1))
        return
    path = plan.path
    out.print(
        f"{path.length_m:.2f} m in {len(path.arcs)} arcs, {path.backward_m:.2f} m of it backwards, "
        f"{changes(path)} ({f'{plan.expanded} poses searched' if plan.expanded else 'direct path; no search needed'})."
    )
    out.print(f"Picture: {picture}")


def _numbers(name: str, text: str, n: int) -> list[float]:
    words = text.replace(" ", "").split(",")
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != n or not all(map(math.isfinite, values)):
        example = "1.5,2,90 (x and y in m, heading in degrees)" if n == 3 else "1.5,2"
        raise InputError(name, text, f"{n} finite numbers separated by commas, such as {example}")
    return values


def _corner(text: str) -> tuple[float, float]:
    x, y = _numbers("--origin", text, 2)
    return x, y


def _pose(name: str, text: str) -> tuple[float, float, float]:
    """Parse a pose given in metres and degrees."""
    x, y, degrees = _numbers(name, text, 3)
    return x, y, math.radians(degrees)
