"""Signs of values that may be held as they are or negated, chosen so that as many as possible agree."""

from __future__ import annotations


class UnknownSigns:
    """Signs that are not known yet: sums modulo 2 of unknowns, each a bit, and of 1, the lowest bit."""

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[int, int] = {}  # an unknown's bit, and what it is equal to

    def free(self) -> int:
        """A sign that may be chosen."""
        self._count += 1
        return 1 << self._count

    def equal(self, one: int, other: int) -> bool:
        """Choose unknowns so that both are equal; whether that is possible."""
        difference = self._reduced(one ^ other)
        if difference < 2:
            return difference == 0
        bit = 1 << (difference.bit_length() - 1)
        self._known[bit] = difference ^ bit
        return True

    def solved(self, sign: int) -> bool:
        """Whether the sign is a minus; unknowns that nothing asks for are pluses."""
        return bool(self._reduced(sign) & 1)

    def _reduced(self, sign: int) -> int:
        rest = sign
        while rest > 1:
            bit = 1 << (rest.bit_length() - 1)
            rest ^= bit
            if bit in self._known:
                sign ^= bit ^ self._known[bit]
                rest ^= self._known[bit]
        return sign
