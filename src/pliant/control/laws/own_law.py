"""A law of your own, in one file.

    @pliant.compiled
    def step(tick, p, s, dt):
        for i in range(3):
            tick.twist[i] = tick.wrench[i] / p.damping_n_s_m

    LAW = pliant.own_law("damper", Params, step)

The tick calls it by its address, limits what it asks for, and stops the robot if it raises or returns a number that is
not finite. It is compiled with bounds checks: an index outside an array is an error, not a wrong number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pliant.control.laws.law import JOINT_TORQUE, OUTPUTS, Law, nothing
from pliant.control.laws.law_commands import Commands, States
from pliant.control.laws.law_panel import Panel
from pliant.control.laws.own_commands import CommandTable, declared, read_command
from pliant.control.laws.stability_model import StabilityModel
from pliant.control.sense.external_wrench import felt
from pliant.errors import InputError, UnknownNameError
from pliant.kernel import kernel, record_in
from pliant.params.declare import Section, layout_of
from pliant.params.plugin_kernels import Argument, Outside, check_defaults, check_function, class_name
from pliant.records import MAX_LAW_STATE, Field, Layout


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function of a law of your own to machine code, like Pliant's own and with bounds checks."""
    return kernel(function, checked=True)


class Tick(NamedTuple):
    """What a law gets in a tick, and where it puts its result. Everything is in the base frame, in SI units."""

    n: int
    """Number of joints; joint arrays are longer, their first `n` entries are used."""
    pose: Any
    """Pose of the tool at the commanded joints [x, y, z, qw, qx, qy, qz]."""
    twist: Any
    """In: velocity of the tool after the limits of the last tick [m/s, rad/s]. Out: the velocity that the law wants."""
    wrench: Any
    """The input of the law [N, N m]: the filtered wrench at the tool beyond the deadband, plus the virtual push, minus
    the wrench goal."""
    q: Any
    """Commanded joint positions [rad]."""
    qd: Any
    """Out, for a law that commands joint velocities [rad/s]."""
    goal_pose: Any
    """Goal pose of the tool."""
    goal_twist: Any
    """Velocity of the goal."""
    goal_q: Any
    """Joint goal [rad]."""
    measured_q: Any
    """Measured joint positions [rad]."""
    measured_qd: Any
    """Measured joint velocities [rad/s]."""
    measured_pose: Any
    """Pose of the tool at the measured joints."""
    measured_twist: Any
    """Velocity of the tool at the measured joints."""
    jacobian: Any
    """Jacobian at the commanded joints, 6 rows."""
    command: Any
    """Number of the command that the law carries out in this tick; 0 for none."""


_FELT = Layout("OwnLawScratch", (Field("wrench", "N, N m", "input wrench of the law", (6,)),))
_SCRATCH = _FELT.dtype


@kernel
def _tick_of(h, p, s, r, g, o, w, command):
    wrench = record_in(w.scratch, _SCRATCH).wrench
    felt(p, s, g, wrench)
    return Tick(
        h.n, s.pose, s.twist, wrench, s.q_cmd, w.qd, g.pose, g.twist, g.q, r.q, r.qd, o.pose, o.twist, h.J,
        command,
    )  # fmt: skip


def _adapted(outside: Outside, params: Any, state: Any) -> Any:
    """The kernel that the tick calls: it hands the law its own records."""
    function = outside.function

    @kernel(separate=True)
    def adapted(h, p, s, r, g, c, o, w, dt):
        own = p.own[w.laws[s.law].params_at :]
        function(_tick_of(h, p, s, r, g, o, w, 0), record_in(own, params), record_in(s.memory, state), dt)

    adapted.outside = outside
    return adapted


def _commanded(outside: Outside, params: Any, state: Any, table: CommandTable) -> Any:
    """The same for the step of a law that takes commands: it gets them one at a time."""
    function, (valid, active, ends, invalid) = outside.function, table

    @kernel(separate=True)
    def commanded(h, p, s, r, g, c, o, w, dt):
        own, memory = p.own[w.laws[s.law].params_at :], record_in(s.memory, state)
        command = read_command(s, g, memory, valid, ends, invalid)
        function(_tick_of(h, p, s, r, g, o, w, command), record_in(own, params), memory, dt)
        s.busy = 1 if 0 <= memory.state < len(active) and active[memory.state] else 0

    commanded.outside = outside
    return commanded


@compiled
def _forget(tick, p, s, dt):
    """The beginning of a law that has nothing to prepare."""


def _outside(name: str, function: Any, params: type[Section], state: tuple[Field, ...]) -> Outside:
    """A function of a law, checked; its arguments are described for messages."""
    arguments = (
        Argument("tick", "tick", "field", Tick._fields),
        Argument("p", name, "parameter", tuple(params.model_fields)),
        Argument("s", f"the state of {name}", "field", tuple(field.name for field in state)),
        Argument("dt"),
    )
    outside = Outside(f"law {name}", function, arguments)
    check_function(outside)
    return outside


def _check_state(name: str, state: tuple[Field, ...]) -> None:
    for field in state:
        if not isinstance(field, Field):
            raise InputError(f"state of {name}", repr(field), "fields, such as pliant.Field('depth_m', 'm', 'depth')")
        if not field.name.isidentifier():
            raise InputError(
                f"the name of a field in the state of {name}", field.name, "a Python name, such as depth_m"
            )


def _check_panel(name: str, params: type[Section], state: tuple[Field, ...], panel: Panel) -> None:
    """Raise if a panel names a parameter of the law, or a field of its state, that it does not have."""
    known = [f"{name}.{field}" for field in params.model_fields]
    for item in (*panel.sliders, *panel.switches):
        if item.parameter.startswith(f"{name}.") and item.parameter not in known:
            raise UnknownNameError("parameter", item.parameter, known)
    fields = [field.name for field in state]
    for line in panel.lines:
        if isinstance(line.value, str) and line.value not in fields:
            raise UnknownNameError("field of the state", line.value, fields)


def own_law(
    name: str,
    params: type[Section],
    step: Callable[..., None],
    *,
    output: str = "tool velocity",
    state: Iterable[Field] = (),
    begin: Callable[..., None] | None = None,
    uses_goal: bool = False,
    preflight: Callable[[Any], None] | None = None,
    stability: StabilityModel | None = None,
    panel: Panel | None = None,
    commands: Commands | None = None,
    states: States | None = None,
) -> Law:
    """A law of your own: its name, its parameters, and a kernel ``step(tick, p, s, dt)``.

    `output` is what it computes: "tool velocity" (`tick.twist`) or "joint velocity" (`tick.qd`). `state` are the fields
    of the record `s` that it keeps from tick to tick; they are zero when it starts. `begin(tick, p, s, dt)` is called
    once at the start. `uses_goal` says that it moves the tool to the goal pose. `preflight(task)` may raise an error
    before the start. `stability` is a linear model of it: with one, a start and a change of parameters that would be
    unstable on the task's surfaces are rejected. `panel` is what the Studio shows of it. Without one, or with one that
    has no sliders, every live number gets a slider.

    `commands` are the commands that it takes: it finds the number of each in `tick.command`, in one tick. `states` are
    the names of its states, whose number it keeps in a field named "state" of kind "i8". A command that is not valid in
    a state is rejected. While the law is in an active state, another law, and the end of the loop, wait for it.
    """
    if not isinstance(name, str) or not name.isidentifier() or not name.islower():
        raise InputError("the name of the law", name, "a lower-case Python name, such as damper_wall")
    if not (isinstance(params, type) and issubclass(params, Section)):
        raise InputError(f"the parameters of {name}", class_name(params), "a class derived from pliant.Section")
    check_defaults(params)
    possible = [word for word, number in OUTPUTS.items() if number != JOINT_TORQUE]
    if output not in possible:
        raise InputError(f"output of {name}", output, " or ".join(map(repr, possible)))
    state = tuple(state)
    _check_state(name, state)
    commands, states, fields, table = declared(name, commands, states, state)
    layout = Layout(f"{name.title().replace('_', '')}State", fields or (Field("unused", "", "nothing is kept"),))
    if layout.dtype.itemsize > 8 * MAX_LAW_STATE:
        raise InputError(f"state of {name}", layout.dtype.itemsize // 8, f"at most {MAX_LAW_STATE} numbers in all")
    record = layout_of(params).dtype
    _check_panel(name, params, fields, panel or Panel())
    stepped, begun = (_outside(name, one, params, fields) for one in (step, begin or _forget))
    types = record, layout.dtype
    adapted = _adapted(stepped, *types) if table is None else _commanded(stepped, *types, table)
    return Law(
        name,
        0,
        adapted,
        OUTPUTS[output],
        section=name,
        begin=_adapted(begun, *types),
        end=nothing,
        uses_goal=uses_goal,
        takes_wrench=True,
        params=params,
        state=layout,
        scratch=_FELT,
        preflight=preflight,
        stability=stability,
        panel=panel,
        commands=commands,
        states=states,
    )
