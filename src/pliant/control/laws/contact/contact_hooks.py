"""The contact law as the tick calls it."""

from __future__ import annotations

from pliant.control.laws.contact import contact_law, contact_states
from pliant.control.laws.contact.contact_params import check_order
from pliant.control.laws.contact.contact_record import CONTACT, contact_of
from pliant.control.laws.contact.contact_stability import STABILITY
from pliant.control.laws.contact.contact_view import DECLARED, DECLARED_STATES, PANEL
from pliant.control.laws.law import TOOL_VELOCITY, Law
from pliant.control.sense.external_wrench import smoothing
from pliant.kernel import kernel, record_in

_SCRATCH = contact_law.SCRATCH.dtype


@kernel
def _report(s):
    """Until the tool has lifted off, no other law may take over, and a sensor failure must not leave it pressed."""
    c = contact_of(s)
    s.busy = 1 if contact_states.is_at_work(c) else 0
    s.finishes = 1 if c.lifted == 0 else 0


@kernel(separate=True)
def _step(h, p, s, r, g, c, o, w, dt):
    scratch = record_in(w.scratch, _SCRATCH)
    contact_law.step(p.contact, s, o, g, smoothing(p.sense.cutoff_hz, dt), h.tool_mass, scratch, dt)
    _report(s)


@kernel(separate=True)
def _begin(h, p, s, r, g, c, o, w, dt):
    _report(s)


@kernel(separate=True)
def _fail(h, p, s, r, g, c, o, w, dt):
    contact_law.fail(s)
    _report(s)


LAW = Law(
    "contact", 4, _step, TOOL_VELOCITY, section="contact", former_names=("hybrid",), begin=_begin, fail=_fail,
    handles_halt=True, least_joints=6, state=CONTACT, scratch=contact_law.SCRATCH, stability=STABILITY, panel=PANEL,
    commands=DECLARED, states=DECLARED_STATES, check_params=check_order, resting_n="preload_n",
    fixed_when_active=("force_limit_n",),
)  # fmt: skip
