"""Loops over lanes: what each computes, of which rows of numbers and elements of arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from elastogen.generator.program.tables.isomorphic_sums import Block
from elastogen.generator.program.tables.polynomials import Polynomial

LANES = "lane"  # the array with what loops leave for others


@dataclass(frozen=True)
class Shared:
    """One value for all lanes: a reference without a sign."""

    ref: int


@dataclass(frozen=True)
class Elements:
    """Elements of an array: one for every lane."""

    array: str
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Local:
    """What the loop has made of the same lane."""

    block: int


Operand = Shared | Elements | Local


@dataclass(frozen=True)
class Term:
    """Numbers, one for every lane or one for all of them or none, times operands; or the negative of that."""

    negative: bool
    numbers: tuple[float, ...]
    operands: tuple[Operand, ...]

    @property
    def factors(self) -> int:
        """Numbers and operands."""
        return len(self.operands) + bool(self.numbers)


@dataclass
class Series:
    """A polynomial: its coefficients, the lowest first, a reference to its variable, and where its value goes."""

    polynomial: Polynomial
    node: int
    place: int = -1
    ref: int = 0


@dataclass
class LaneSum:
    """A block in a loop: the first of its terms is not negative, if any is not."""

    terms: list[Term]
    targets: list[Elements]  # where its values go
    added: bool  # whether it is the sum over all lanes
    local: bool = False  # whether others in the loop read it


@dataclass
class LaneLoop:
    """A loop over lanes, each of which computes the same sums."""

    width: int
    stage: int
    blocks: list[Block] = field(default_factory=list)
    sums: list[LaneSum] = field(default_factory=list)
    stores: list[tuple[int, int]] = field(default_factory=list)  # places in the array, and what is put there before
    series: Series | None = None  # a polynomial in place of lanes

    def _operands(self) -> list[Operand]:
        return [operand for made in self.sums for term in made.terms for operand in term.operands]

    @property
    def refs(self) -> list[int]:
        """What it reads of the rest."""
        if self.series is not None:
            return [self.series.ref]
        return list(dict.fromkeys(operand.ref for operand in self._operands() if isinstance(operand, Shared)))

    @property
    def arrays(self) -> list[str]:
        """The arrays that it reads and writes."""
        if self.series is not None:
            return [LANES]
        found = [operand.array for operand in self._operands() if isinstance(operand, Elements)]
        return list(dict.fromkeys([*found, *(target.array for made in self.sums for target in made.targets)]))
