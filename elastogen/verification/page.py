"""The certificate as one page that needs no network."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.verification.findings import Certificate, Finding

TEXTS = {
    "second derivation": (
        "Lagrange's equations, derived from the robot's description by SymPy and mass points, against the programs of the "
        "generator, both in 50 digits at random states: largest difference over the largest entry."
    ),
    "identities": "What must be true of any robot's equations, in 50 digits; and the energy of a simulated motion.",
    "compiled": "The compiled C against its program in 50 digits, and against a bound of the rounding errors of that program.",
    "C": "The emitted C under the strict warnings of compilers and under sanitizers; its stack and its size.",
}


@dataclass(frozen=True)
class FindingGroup:
    """The findings of one check."""

    title: str
    text: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class CertificatePage:
    """For ``pages/certificate.html.j2``."""

    mark: str
    css: str
    title: str
    verdict: str
    summary: str
    groups: tuple[FindingGroup, ...]
    hashes: tuple[tuple[str, str], ...]


def page(certificate: Certificate) -> str:
    """The page as HTML."""
    by_check: dict[str, list[Finding]] = {}
    for finding in certificate.findings:
        by_check.setdefault(finding.check, []).append(finding)
    groups = [
        FindingGroup(check[:1].upper() + check[1:], TEXTS.get(check, TEXTS.get(check.split()[0], "")), tuple(found))
        for check, found in by_check.items()
    ]
    verdict = "passed" if certificate.passed else "failed"
    title = f"{certificate.robot}: certificate"
    return fill(
        "pages/certificate.html.j2",
        CertificatePage(
            MARK, asset("page.css"), title, verdict, certificate.summary, tuple(groups), tuple(certificate.hashes.items())
        ),
    )
