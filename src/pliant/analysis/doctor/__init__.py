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
from pliant.analysis.doctor.finding import ORDER, Diagnosis, Finding
from pliant.analysis.doctor.limit_cycle import limit_cycle
from pliant.analysis.doctor.run_end import contact_fault, fault
from pliant.analysis.doctor.saturation import command_at_limit
from pliant.analysis.doctor.sensor_health import failing_sensor, frozen_sensor, late_sensor
from pliant.record import Recording

CHECKS: dict[str, Callable[[Case], Finding]] = {
    "fault": fault,
    "contact fault": contact_fault,
    "frozen sensor": frozen_sensor,
    "late sensor": late_sensor,
    "failing sensor": failing_sensor,
    "command not followed": command_not_followed,
    "preload at start": preload,
    "negative damping": negative_damping,
    "limit cycle": limit_cycle,
    "command at a limit": command_at_limit,
    "contact losses": contact_losses,
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
