"""Errors of identification, and the extra that it needs."""

from __future__ import annotations

from importlib.util import find_spec

from elastogen.runtime.interface.error import ElastogenError


class IdentificationError(ElastogenError):
    """What is wrong with measurements or with what is to be estimated: the object, what was given, expected, and the fix."""

    def __init__(self, where: str, given: object, expected: str, fix: str) -> None:
        super().__init__(f"{where}: got {given}, expected {expected}. Fix: {fix}")


def require_scipy(purpose: str) -> None:
    """Say what to install where SciPy is missing."""
    if find_spec("scipy") is None:
        raise IdentificationError(purpose, "no SciPy", "the extra [identify]", "pip install 'elastogen[identify]'")
