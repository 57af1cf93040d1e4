"""The exceptions of a derivation: numbers that are not finite, and results that disagree with the description."""

from __future__ import annotations

from elastogen.runtime.interface.error import ElastogenError


class NumberError(ElastogenError, ValueError):
    """A constant of a robot's equations is not finite: numbers of its description are too large, or too small."""

    def __init__(self, value: float) -> None:
        super().__init__(
            f"equations of the robot: got a constant of {value}, expected finite numbers. "
            "Fix: check the sizes of masses, lengths and the numbers in expressions; units are SI."
        )


class DerivationError(ElastogenError):
    """A derived function disagrees with the robot's description: a fault of elastogen, which must not become a wrong number."""
