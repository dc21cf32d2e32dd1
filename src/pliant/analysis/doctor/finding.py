"""What the doctor says of one thing: found or not, how bad, how much, when, why, and what to do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from pliant.analysis.figures import Figure
from pliant.analysis.signals import Span

Severity = Literal["alarm", "warning", "fine", "unknown"]
ORDER: tuple[Severity, ...] = ("alarm", "warning", "unknown", "fine")
"""The most severe first. `unknown`: the recording cannot tell, and `cause` says why."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for. `wrong` if it was found; the figures are told either way."""

    name: str
    severity: Severity
    figures: tuple[Figure, ...] = ()
    cause: str = ""
    remedy: str = ""
    spans: tuple[Span, ...] = ()
    """When it was so."""

    @property
    def wrong(self) -> bool:
        return self.severity in ("alarm", "warning")

    def figure(self, name: str) -> float:
        """The value of one of the figures; NaN if there is none of this name."""
        return next((figure.value for figure in self.figures if figure.name == name), math.nan)

    def as_dict(self) -> dict[str, Any]:
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
    """Everything that was looked for in one recording, the most severe first."""

    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What was found."""
        return tuple(finding for finding in self.findings if finding.wrong)

    def named(self, name: str) -> Finding:
        """The finding of this name."""
        return next(finding for finding in self.findings if finding.name == name)

    def as_dict(self) -> dict[str, Any]:
        return {"healthy": not self.wrong, "findings": [finding.as_dict() for finding in self.findings]}


def share(value: float) -> str:
    """A share in words: 0.934 is 93 %."""
    return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.2g} %"


def millis(seconds: float) -> str:
    """A short time in words."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def plain(value: float) -> str:
    """A number with three digits that count, and no exponent while it can be read without."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"
