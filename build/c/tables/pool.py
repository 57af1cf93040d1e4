"""Constant tables of a model's file, shared by all of its functions: rows of numbers, and places in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT, wrapped

if TYPE_CHECKING:
    from elastogen.build.files.contexts import FunctionText


PLACE_TYPE = "unsigned short"


@dataclass
class Pool:
    """The requested rows, each stored once, in the order of the requests."""

    prefix: str
    real: str  # "double" or "float"
    numbers: list[float] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    asked: dict[tuple[float, ...], bool] = field(default_factory=dict)  # all rows of numbers, and whether as they are
    _number_rows: dict[tuple[float, ...], tuple[int, int]] = field(default_factory=dict)  # begin and step
    _indices: dict[float, list[int]] = field(default_factory=dict)  # where a number stands
    _place_rows: dict[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """Return the name of the table of numbers."""
        return f"{self.prefix}_c"

    @property
    def place(self) -> str:
        """Return the name of the table of places."""
        return f"{self.prefix}_at"

    @property
    def polynomial(self) -> str:
        """Return the name of the function for polynomials."""
        return f"{self.prefix}_polynomial"

    def number_row(self, row: Sequence[float], as_it_is: bool) -> tuple[int, int, bool]:
        """Return where a row of numbers begins, its step, and whether it is stored negated.

        Rows may be a part of others, forwards or backwards: modes stand in both orders.
        """
        key = tuple(row)
        self.asked.setdefault(key, as_it_is)
        turned = tuple(-number for number in key)
        found = self._found(key)
        if found is not None:
            return *found, False
        found = None if as_it_is else self._found(turned)
        if found is not None:
            return *found, True
        first = len(self.numbers)
        for index, number in enumerate(key, first):
            self._indices.setdefault(number, []).append(index)
        self.numbers += key
        self._number_rows[key] = (first, 1)
        return first, 1, False

    def longest_first(self) -> Pool:
        """Return a pool with the same rows in which short rows are parts of long ones, whatever the order of requests."""
        sorted_ = Pool(self.prefix, self.real)
        for row, as_it_is in sorted(self.asked.items(), key=lambda entry: -len(entry[0])):
            sorted_.number_row(row, as_it_is)
        return sorted_

    def _found(self, key: tuple[float, ...]) -> tuple[int, int] | None:
        """Return where a row is stored already, and its step there."""
        if key not in self._number_rows:
            size = len(key)
            for step, wanted in ((1, list(key)), (-1, list(key[::-1]))):
                for index in self._indices.get(wanted[0], ()):
                    if self.numbers[index : index + size] == wanted:
                        self._number_rows[key] = (index if step == 1 else index + size - 1, step)
                        return self._number_rows[key]
        return self._number_rows.get(key)

    def place_row(self, row: Sequence[int]) -> int:
        """Return where a row of places begins."""
        key = tuple(row)
        if key not in self._place_rows:
            self._place_rows[key] = len(self.places)
            self.places += key
        return self._place_rows[key]

    def lines(self, functions: Sequence[FunctionText]) -> tuple[str, ...]:
        """Return the tables that functions read, in C."""
        texts = [line for function in functions for part in function.parts for line in part.lines]
        texts += [line for function in functions for line in function.lines]
        found: list[str] = []
        if any(f" {self.number};" in line for line in texts):
            values = ", ".join(literal(number, self.real) for number in self.numbers)
            found += [f"static const {self.prefix}_real_t {self.number}[{len(self.numbers)}] = {{"]
            found += [*wrapped(values, INDENT), "};"]
        if any(f" {self.place};" in line for line in texts):
            values = ", ".join(str(place) for place in self.places)
            found += [f"static const {PLACE_TYPE} {self.place}[{len(self.places)}] = {{", *wrapped(values, INDENT), "};"]
        if any(f" {self.polynomial}(" in line for line in texts):
            real = f"{self.prefix}_real_t"
            found += ["", f"static {real} {self.polynomial}(const {real} *c, const int count, const {real} x)", "{"]
            found += [f"{INDENT}{real} value = c[count - 1];"]
            found += [f"{INDENT}for (int k = count - 2; k >= 0; --k) {{ value = c[k] + (x * value); }}"]
            found += [f"{INDENT}return value;", "}"]
        return tuple(found)
