"""The findings of the checks, and the certificate that contains them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

Verdict = Literal["passed", "failed", "skipped"]
Tell: TypeAlias = Callable[[str], None]
"""What is called with a line about what is going on."""


def silent(text: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Finding:
    """One line of the certificate: what was checked, how, and with which result."""

    check: str  # "second derivation", "compiled double", "identities", ...
    subject: str  # a function, an identity, a file
    verdict: Verdict
    measured: str  # numbers with units, or why it was skipped
    allowed: str = ""


@dataclass(frozen=True)
class Certificate:
    """All findings about one robot, with the checksums of everything that was involved."""

    robot: str
    hashes: dict[str, str]  # robot, tool, C, compiler
    findings: tuple[Finding, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether something was checked and nothing failed."""
        verdicts = {finding.verdict for finding in self.findings}
        return "passed" in verdicts and "failed" not in verdicts

    def json(self) -> str:
        """Return the certificate as JSON."""
        data = {"robot": self.robot, "passed": self.passed, "summary": self.summary, "hashes": self.hashes}
        return json.dumps(data | {"findings": [asdict(finding) for finding in self.findings]}, indent=1) + "\n"

    @property
    def summary(self) -> str:
        """Count the results of the checks in one line."""
        count = {verdict: sum(f.verdict == verdict for f in self.findings) for verdict in ("passed", "failed", "skipped")}
        return f"{count['passed']} checks passed, {count['failed']} failed, {count['skipped']} skipped."


def table(findings: Iterable[Finding]) -> str:
    """Return the findings in columns for a terminal."""
    rows = [(f.verdict, f.check, f.subject, f.measured) for f in findings]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
    return "\n".join(
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    )


def judged(check: str, subject: str, error: float, limit: float) -> Finding:
    """Return a finding about an error that must not exceed a limit; NaN fails."""
    return Finding(check, subject, "passed" if error <= limit else "failed", f"{error:.1e}", f"{limit:.0e}")
