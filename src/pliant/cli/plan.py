"""`pliant plan`: a way through a map."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.errors import InputError

if TYPE_CHECKING:
    from pliant.mobile.planner import Plan

EXAMPLE = "Example: [bold]pliant plan office.yaml --start 2,2,0 --goal 17,8,90 -o plan.png[/bold]"


def command(
    file: Annotated[Path, typer.Argument(metavar="MAP", help="A map: .yaml (map_server), .pgm, .png or .npy.")],
    start: Annotated[str, typer.Option(help="Where the base is: x,y,heading in m and degrees.")],
    goal: Annotated[str, typer.Option(help="Where it shall be, likewise.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Picture (default: beside the map).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="name=value, as often as needed: radius_m, footprint.width_m …")
    ] = None,
    resolution: Annotated[float | None, typer.Option(help="Length of a cell [m] of an image or array.")] = None,
    origin: Annotated[str | None, typer.Option(help="x,y of the lower left corner of an image or array.")] = None,
    timeout: Annotated[float, typer.Option(min=0.0, help="Seconds after which the search gives up.")] = 10.0,
) -> int:
    """Find a way for a mobile base through a map, and draw it.

    Arcs that it can drive, forwards and backwards, exactly to the goal.
    """
    from pliant.analysis.plan import draw_plan
    from pliant.cli.show import claim, compile_planner
    from pliant.mobile.planner import HybridAStar
    from pliant.params.declare import changed, parse_assignment
    from pliant.params.mobile import Planner
    from pliant.runtime.map_files import load_map

    begin, end = _pose("--start", start), _pose("--goal", goal)
    chosen = changed(Planner(), dict(parse_assignment(text) for text in settings or ()))
    corner = _numbers("--origin", origin, 2) if origin else None
    grid = load_map(file, resolution_m=resolution, origin=(corner[0], corner[1]) if corner else None)
    picture = output or (None if as_json else file.with_name(f"{file.stem}-plan.png"))
    claim(picture)
    planner = HybridAStar(grid, chosen)
    planner.check(begin, end)
    compile_planner()
    stop_at = time.monotonic() + timeout
    plan = planner.plan(begin, end, go_on=lambda: time.monotonic() < stop_at)
    if picture is not None:
        draw_plan(grid, plan, chosen.footprint, picture)
    _tell(plan, end, picture, as_json=as_json)
    return 0


def _tell(plan: Plan, goal: tuple[float, float, float], picture: Path | None, *, as_json: bool) -> None:
    from pliant.analysis.plan import as_dict
    from pliant.cli.show import out

    if as_json:
        print(json.dumps(as_dict(plan, goal), indent=1))
        return
    path = plan.path
    out.print(
        f"{path.length_m:.2f} m in {len(path.arcs)} arcs, {path.backward_m:.2f} m of it backwards, "
        f"{path.cusps} changes of direction ({plan.expanded} poses tried)."
    )
    out.print(f"Picture: {picture}")


def _numbers(name: str, text: str, n: int) -> list[float]:
    words = text.replace(" ", "").split(",")
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != n or not all(map(math.isfinite, values)):
        raise InputError(
            name, text, f"{n} finite numbers with commas, for instance {','.join('1.5' for _ in range(n))}"
        )
    return values


def _pose(name: str, text: str) -> tuple[float, float, float]:
    """A pose as typed: metres and degrees."""
    x, y, degrees = _numbers(name, text, 3)
    return x, y, math.radians(degrees)
