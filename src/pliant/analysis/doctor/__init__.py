"""The doctor: find what went wrong in a run from its recording alone, with cause and remedy.

Each check is one function from a case (arrays) to a finding. `CHECKS` lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.command_followed import command_not_followed
from pliant.analysis.doctor.contact_findings import contact_losses, overload, preload
from pliant.analysis.doctor.damping import negative_damping
from pliant.analysis.doctor.delay_findings import effective_delay
from pliant.analysis.doctor.equipment.encoder_noise import encoder_noise
from pliant.analysis.doctor.equipment.gear_resonance import gear_resonance
from pliant.analysis.doctor.equipment.sensor_zero import drift, wrong_tool_mass
from pliant.analysis.doctor.equipment.starved_law import starved_law
from pliant.analysis.doctor.finding import ORDER, Diagnosis, Finding
from pliant.analysis.doctor.limit_cycle import limit_cycle
from pliant.analysis.doctor.run_end import contact_fault, fault
from pliant.analysis.doctor.saturation import command_at_limit
from pliant.analysis.doctor.sensor_health import failing_sensor, frozen_sensor, late_sensor
from pliant.analysis.doctor.sliding.force_findings import crawling, force_above_target, force_off_target
from pliant.analysis.doctor.sliding.normal_findings import friction_range, swinging_normal
from pliant.analysis.doctor.stalled_change import stalled_gain_change
from pliant.record import Recording

CHECKS: dict[str, Callable[[Case], Finding]] = {
    "fault": fault,
    "contact fault": contact_fault,
    "frozen sensor": frozen_sensor,
    "late sensor": late_sensor,
    "failing sensor": failing_sensor,
    "command not followed": command_not_followed,
    "wrong tool mass": wrong_tool_mass,
    "encoder noise": encoder_noise,
    "preload at start": preload,
    "negative damping": negative_damping,
    "limit cycle": limit_cycle,
    "gear resonance": gear_resonance,
    "command at a limit": command_at_limit,
    "starved law": starved_law,
    "gain change": stalled_gain_change,
    "swinging normal": swinging_normal,
    "friction out of range": friction_range,
    "contact losses": contact_losses,
    "total force above target": force_above_target,
    "force off target": force_off_target,
    "crawling": crawling,
    "drift": drift,
    "force above its limit": overload,
    "effective delay": effective_delay,
}
"""All checks: what ended the run first, then causes before consequences."""


def examine(run: Recording | str | Path | Case, progress: Callable[[float], None] | None = None) -> Diagnosis:
    """Run all checks on a recording or its file; `progress` receives the completed share, 0 to 1."""
    if isinstance(run, str | Path):
        run = Recording.load(run)
    case = Case.of(run) if isinstance(run, Recording) else run
    found = []
    for i, check in enumerate(CHECKS.values()):
        found.append(check(case))
        if progress:
            progress((i + 1) / len(CHECKS))
    return Diagnosis(tuple(sorted(found, key=lambda finding: ORDER.index(finding.severity))))


__all__ = ["CHECKS", "Case", "Diagnosis", "Finding", "examine"]
