"""Constant tables of a model's file, which all of its functions share: rows of numbers, and places in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT, wrapped

if TYPE_CHECKING:
    from elastogen.build.files.contexts import FunctionText


@dataclass
class Pool:
    """Rows that were asked for, each once, in the order in which they were."""

    prefix: str
    real: str  # "double" or "float"
    numbers: list[float] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    _number_rows: dict[tuple[float, ...], int] = field(default_factory=dict)
    _place_rows: dict[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """The name of the table of numbers."""
        return f"{self.prefix}_c"

    @property
    def place(self) -> str:
        """The name of the table of places."""
        return f"{self.prefix}_at"

    def number_row(self, row: Sequence[float], as_it_is: bool) -> tuple[int, bool]:
        """Where a row of numbers begins, and whether it stands there negated, which it does not if that would cost a sign."""
        key = tuple(row)
        turned = tuple(-number for number in key)
        if key not in self._number_rows and turned in self._number_rows and not as_it_is:
            return self._number_rows[turned], True
        if key not in self._number_rows:
            self._number_rows[key] = len(self.numbers)
            self.numbers += key
        return self._number_rows[key], False

    def place_row(self, row: Sequence[int]) -> int:
        """Where a row of places begins."""
        key = tuple(row)
        if key not in self._place_rows:
            self._place_rows[key] = len(self.places)
            self.places += key
        return self._place_rows[key]

    def lines(self, functions: Sequence[FunctionText]) -> tuple[str, ...]:
        """The tables that functions read, in C."""
        texts = [line for function in functions for part in function.parts for line in part.lines]
        texts += [line for function in functions for line in function.lines]
        found: list[str] = []
        if any(f"{self.number}[" in line for line in texts):
            values = ", ".join(literal(number, self.real) for number in self.numbers)
            found += [f"static const {self.prefix}_real_t {self.number}[{len(self.numbers)}] = {{"]
            found += [*wrapped(values, INDENT), "};"]
        if any(f"{self.place}[" in line for line in texts):
            values = ", ".join(str(place) for place in self.places)
            found += [f"static const unsigned short {self.place}[{len(self.places)}] = {{", *wrapped(values, INDENT), "};"]
        return tuple(found)
