"""Friction that could be taken for a slope: a high force on a soft pad, slowly. The force must not run away."""

from __future__ import annotations

import numpy as np

from pliant.analysis.contact_figures import figures_of
from pliant.control.laws.contact.contact_states import SLIDE
from pliant.task.schema import Task
from pliant_experiments.scenes.contact_trial import QUICK, Trace, contact_of, plane, run_contact, state_of, task


def polishing(target_n: float, stiffness: float, friction: float, speed_m_s: float) -> Task:
    """A slide over a flat plane, of which the task declares a range of stiffness only."""
    surface = plane(stiffness).model_copy(update={"friction": friction})
    return task(
        (surface,), QUICK, 0, 60.0, speed_m_s=speed_m_s, peak_n=1.4 * target_n, force_limit_n=300.0,
        band_n=0.05 * target_n, stiffness_min_n_m=0.4 * stiffness, stiffness_max_n_m=2.0 * stiffness, length_m=0.04,
    ).replace({"contact.target_n": target_n})  # fmt: skip


def lean_deg(trace: Trace) -> float:
    """The largest angle between the believed normal and the true one while sliding [deg]."""
    normal = contact_of(trace)["normal"][state_of(trace) == SLIDE]
    return float(np.degrees(np.arccos(np.clip(normal[:, 2].min(), -1.0, 1.0))))


def test_friction_on_a_soft_pad_is_not_taken_for_a_slope() -> None:
    trace = run_contact(polishing(30.0, 5e3, 0.5, 0.005))
    assert trace.records is not None
    found = figures_of(trace.records, trace.normal_n, 30.0)
    assert found.ended
    assert found.peak_n < 1.2 * 30.0  # 104 N with a force loop that holds the part along the believed normal
    assert lean_deg(trace) < 10.0
