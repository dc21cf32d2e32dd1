"""The parameters as the page shows them: name, unit, bounds, live or not, and help, from their declarations."""

from __future__ import annotations

from pliant.control.parameters import Parameters
from pliant.params.declare import declared, flat, limits_of
from pliant.params.matrix import compact
from pliant.session.link import Link
from pliant.studio.page_messages import Declared as Shown
from pliant.studio.page_messages import InForce, Values


def parameters_in_words(kind: type[Parameters] = Parameters) -> list[Shown]:
    """Every parameter of this kind of set, in the order of declaration."""
    bounds = limits_of(kind)
    return [
        {
            "name": item.name,
            "type": item.type,
            "unit": item.unit,
            "live": item.live,
            "help": item.help,
            # a mass, a damping or a stiffness cannot be negative, whether it is six numbers or a matrix
            "low": 0.0 if "matrix" in item.type else bounds[item.name][0],
            "high": bounds[item.name][1],
            "default": compact(item.default),
            "scale": item.scale,
        }
        for item in declared(kind)
    ]


def in_force(link: Link) -> InForce:
    """The current values, and their revision: of two such messages the later one counts."""
    while True:
        revision = int(link.board.adopted)
        values = values_of(link.parameters)
        if link.board.adopted == revision:
            return {"values": values, "revision": revision}


def values_of(parameters: Parameters) -> Values:
    """Every value by its dotted name; a matrix that is a diagonal as its six numbers."""
    return {name: compact(value) for name, value in flat(parameters).items()}
