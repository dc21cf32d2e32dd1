"""A finding: found or not, its severity, figures, times, cause and remedy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from pliant.analysis.signals import Span
from pliant.analysis.targets import Figure

Severity = Literal["alarm", "warning", "fine", "unknown", "not checked", "not applicable"]
ORDER: tuple[Severity, ...] = ("alarm", "warning", "unknown", "fine", "not checked", "not applicable")
"""Most severe first. `unknown`: the recording cannot decide. `not checked`: the run had nothing to judge.

`not applicable`: the check does not apply to this law. In all three, `cause` states why.
"""


@dataclass(frozen=True)
class Finding:
    """The result of one check. The figures are reported whether or not something was found."""

    name: str
    """Name of the check."""
    severity: Severity
    """See `ORDER`."""
    figures: tuple[Figure, ...] = ()
    """What was measured."""
    cause: str = ""
    """What happened, or why nothing could be checked."""
    remedy: str = ""
    """What to do."""
    spans: tuple[Span, ...] = ()
    """The times at which it occurred."""

    @property
    def wrong(self) -> bool:
        """Whether something was found."""
        return self.severity in ("alarm", "warning")

    def figure(self, name: str) -> float:
        """The value of a figure by its name; NaN for an unknown name."""
        return next((figure.value for figure in self.figures if figure.name == name), math.nan)

    def as_dict(self) -> dict[str, Any]:
        """The JSON object that ``--json`` prints."""
        figures = [{key: f.as_dict()[key] for key in ("name", "value", "unit")} for f in self.figures]
        return {
            "name": self.name,
            "severity": self.severity,
            "figures": figures,
            "cause": self.cause,
            "remedy": self.remedy,
            "spans_s": [[round(span.start_s, 6), round(span.end_s, 6)] for span in self.spans],
        }


@dataclass(frozen=True)
class Diagnosis:
    """The results of all checks on one recording, most severe first."""

    findings: tuple[Finding, ...]
    """One finding per check."""

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that report something wrong."""
        return tuple(finding for finding in self.findings if finding.wrong)

    def named(self, name: str) -> Finding:
        """The finding with this name."""
        return next(finding for finding in self.findings if finding.name == name)

    def as_dict(self) -> dict[str, Any]:
        """The JSON object that ``--json`` prints."""
        return {"healthy": not self.wrong, "findings": [finding.as_dict() for finding in self.findings]}


def share(value: float) -> str:
    """A share as text: 0.934 gives 93 %."""
    return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.2g} %"


def millis(seconds: float) -> str:
    """A time as text, in ms or s."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def plain(value: float) -> str:
    """A number with three significant digits, without an exponent where it stays readable."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"
