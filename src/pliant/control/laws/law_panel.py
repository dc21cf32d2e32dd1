"""What the Studio shows of a law, as data: sliders, switches, buttons, plotted lines, and what a hand can move.

The types of the page are generated from these classes when it is built, so nothing but the standard library is
imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Slider:
    """A slider for a live parameter.

    A parameter of six numbers gets one slider for translations and one for rotations, or one for each axis.
    """

    parameter: str
    """Dotted name of the parameter, such as ``damper_wall.wall_z_m``."""
    label: str = ""
    """What the page calls it; "" takes the name of the parameter."""
    group: str = ""
    """The heading that it is under; "" takes the name of the law."""
    when: tuple[str, str] | None = None
    """A parameter and its value: the slider is shown only while it has this value."""
    axes: str = ""
    """A parameter of six flags: only the axes whose flag is set get a slider. "" for all."""


@dataclass(frozen=True)
class Switch:
    """A button that changes a parameter from one value to another and back."""

    parameter: str
    """Dotted name of the parameter."""
    label: str
    """What is written on it."""
    off: str
    """The value while it is not pressed."""
    on: str
    """The value while it is pressed."""


@dataclass(frozen=True)
class Button:
    """A button that sends commands to a law that takes commands."""

    name: str
    """Its name, for tests and tools."""
    label: str
    """What is written on it."""
    help: str
    """What it does, in one sentence."""
    commands: tuple[str, ...]
    """The commands, in the order in which they are sent."""


@dataclass(frozen=True)
class Line:
    """A line in a plot, drawn while the law runs."""

    name: str
    """The name of the channel."""
    unit: str
    """Its unit."""
    plot: str
    """The title of the plot that it is in: one of the page's plots, such as Force, or a new one."""
    value: str | Callable[[Any], Any]
    """A field of the law's own state, or a function from telemetry records to numbers."""
    scale: float = 1.0
    """The values are multiplied by this, for example to plot a length in millimetres."""
    key: str = ""
    """A short name for the legend; "" takes the name."""
    dashed: bool = False
    """Whether it is dashed, as a target is."""
    band: str = ""
    """A parameter with half the width of a band around the line; "" for no band."""
    follows: str = ""
    """A parameter that the line ramps to: the page shows that it has not arrived yet. "" for none."""


@dataclass(frozen=True)
class Panel:
    """What the Studio shows of a law beyond what it shows of every law."""

    sliders: tuple[Slider, ...] = ()
    """Its sliders from top to bottom; sensing and limits follow for every law."""
    switches: tuple[Switch, ...] = ()
    """Buttons below the sliders."""
    buttons: tuple[Button, ...] = ()
    """Buttons that send commands."""
    lines: tuple[Line, ...] = ()
    """Lines in the plots."""
    arrow: Callable[[Any], Any] | None = None
    """From telemetry records: a direction that is drawn at the tool."""
    moves_goal: bool = False
    """Whether the goal of the tool can be entered as numbers."""
    pushes: bool = False
    """Whether a virtual push can be entered as numbers."""
    drags_push: bool = False
    """Whether the view offers a ball that drags a virtual push."""
    no_push: str = ""
    """Why pushing the arm has no effect, such as "keeps the arm in place"; "" if it has one."""
    no_goal: str = ""
    """Why moving the goal has no effect, such as "follows its own path, not this goal"; "" if it has one."""
    no_virtual_push: str = ""
    """Why a virtual push has no effect; "" if it has one."""


def spring_panel(section: str, *, drags_push: bool = False) -> Panel:
    """The panel of a law with a virtual mass, damping and stiffness in six axes."""
    by, axes, group = f"{section}.damping_by", f"{section}.axes", "Virtual dynamics"
    return Panel(
        sliders=(
            Slider(f"{section}.mass", "Mass", group, axes=axes),
            Slider(f"{section}.damping", "Damping", group, when=(by, "value"), axes=axes),
            Slider(f"{section}.damping_ratio", "Damping ratio", group, when=(by, "ratio"), axes=axes),
            Slider(f"{section}.stiffness", "Stiffness", group, axes=axes),
        ),
        switches=(Switch(by, "Damping by value", off="ratio", on="value"),),
        moves_goal=True,
        pushes=True,
        drags_push=drags_push,
    )
