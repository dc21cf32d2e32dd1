"""Sliders of the page: which numbers of the loop each of them turns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from running_studio import Running, part, until

from pliant.studio.shown_parameters import values_of

_NAMES = "[...document.querySelectorAll('#dynamics input[type=range]')].map((each) => each.id)"


def parts_of(name: str, values: dict[str, Any]) -> list[int]:
    """Which numbers of its parameter a slider turns; one that is a single number has the number 0."""
    if re.search(r"\.\d$", name):
        return [int(name[-1])]
    section, _, rest = name.partition(".")
    free = [i for i, gives_way in enumerate(values.get(f"{section}.axes", ())) if gives_way]
    if rest.endswith(".turn"):
        return [i for i in free if i > 2]
    return [i for i in free if i < 3] if section in ("admittance", "impedance") else [0]


def shown(page: Any, name: str) -> float:
    """The number beside a slider."""
    return float(part(page, f"number-{name}").input_value())


def _moves(page: Any, name: str, slider: Any, key: str) -> bool:
    """Press a key on a slider; returns whether the number beside it has changed: of three digits, a step may not."""
    before = shown(page, name)
    slider.press(key)
    return shown(page, name) != before


def turn_each(page: Any, studio: Running) -> list[str]:
    """Turn every slider that there is by a step: its numbers change, and nothing else; returns the sliders' names."""
    before = values_of(studio.loop.parameters)
    names = page.evaluate(_NAMES)
    turned: set[str] = set()
    for name in names:
        parameter, parts = re.sub(r"\.(turn|\d)$", "", name), parts_of(name, before)
        turned.add(parameter)
        value = lambda parameter=parameter: values_of(studio.loop.parameters)[parameter]  # noqa: E731
        was, others = value(), {**values_of(studio.loop.parameters), parameter: None}
        slider = part(page, f"slider-{name}")
        until(lambda name=name, was=was, parts=parts: shown(page, name) == np.ravel(was)[parts[0]])
        key = "ArrowLeft" if int(slider.input_value()) > 500 else "ArrowRight"
        until(lambda key=key, name=name, slider=slider: _moves(page, name, slider, key))
        until(lambda was=was, value=value: value() != was)
        assert np.flatnonzero(np.not_equal(value(), was)).tolist() == parts
        until(lambda name=name, value=value, parts=parts: shown(page, name) == np.ravel(value())[parts[0]])
        assert {**values_of(studio.loop.parameters), parameter: None} == others
    studio.loop.set({parameter: before[parameter] for parameter in turned})
    return names
