"""Prints a program whose isomorphic sums are loops over constant tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from elastogen.build.c.body import FunctionBody, Loops, Printer
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT, wrapped
from elastogen.build.c.loops.copies import Copy, copies
from elastogen.build.c.schedule import LoopCall, Statement, Store
from elastogen.build.c.tables.pool import PLACE_TYPE, Pool
from elastogen.generator.program.program import Program
from elastogen.generator.program.tables.in_tables import InTables
from elastogen.generator.program.tables.lane_loops import LANES, Elements, LaneLoop, LaneSum, Local, Operand, Term
from elastogen.runtime.interface.argument import Argument

NUMBERS, PLACES = "num", "at"  # the tables inside of a function, whatever the robot is called
LONGEST_INLINED = 4  # terms of a sum that is written where it is read


def print_in_tables(tables: InTables, symbol: str, dialect: Dialect, live: frozenset[str], pool: Pool) -> FunctionBody:
    """Return the body of a function; its tables go into the pool."""
    straight = tables.straight
    array = Argument(LANES, (tables.size,), "", "")
    calls = [
        LoopCall(number, tuple(Store(LANES, place, ref) for place, ref in loop.stores), tuple(loop.refs))
        for number, loop in enumerate(tables.loops)
    ]
    elements = {node: int(text[len(LANES) + 1 : -1]) for node, text in tables.places.items() if text}
    found = [
        Copy(argument.name, index, LANES, elements[ref >> 1], bool(ref & 1))
        for argument, refs in straight.outputs[:-1]
        for index, ref in enumerate(refs)
        if ref >> 1 in elements
    ]
    loops = Loops(
        arrays=(array,) if tables.size else (),
        declarations=(f"{INDENT}{dialect.real_type} {LANES}[{tables.size}];",) if tables.size else (),
        calls=tuple(calls),
        places={**tables.places, tables.nowhere: ""},
        arguments=tuple(tuple(loop.arrays) for loop in tables.loops),
        lines=tuple(copies(found)),
        kept=frozenset(ref >> 1 for loop in tables.loops for ref in loop.refs),
    )
    return _TablePrinter(straight, symbol, dialect, live, loops, tables.loops, pool).run()


class _TablePrinter(Printer):
    def __init__(
        self,
        program: Program,
        symbol: str,
        dialect: Dialect,
        live: frozenset[str],
        loops: Loops,
        lane_loops: list[LaneLoop],
        pool: Pool,
    ) -> None:
        self.lane_loops, self.pool = lane_loops, pool
        longest = max(len(loop.sums) for loop in lane_loops)
        self.taken = frozenset((LANES, NUMBERS, PLACES, *(f"{name}{k}" for name in "vs" for k in range(longest))))
        self.short: dict[str, None] = {}  # the tables that it reads
        super().__init__(program, symbol, dialect, live, loops)

    def run(self) -> FunctionBody:
        """Return the body; it and each of its parts begin with short names of the tables that they read."""
        body = super().run()
        parts = tuple(replace(part, lines=(*self._named(part.lines), *part.lines)) for part in body.parts)
        return replace(body, lines=(*self._named(body.lines), *body.lines), parts=parts)

    def _named(self, lines: Sequence[str]) -> list[str]:
        kinds = {NUMBERS: (self.dialect.real_type, self.pool.number), PLACES: (PLACE_TYPE, self.pool.place)}
        used = [short for short in self.short if any(f"{short}[" in line for line in lines)]
        return [f"{INDENT}const {kinds[short][0]} *const {short} = {kinds[short][1]};" for short in used]

    def _statement(self, statement: Statement, text: Callable[[int], str]) -> list[str]:
        if not isinstance(statement, LoopCall):
            return super()._statement(statement, text)
        loop = self.lane_loops[statement.number]
        if loop.series is not None:
            row = self.pool.number_row(loop.series.polynomial.coefficients, as_it_is=True)[0]
            shown = self.expressions.reference(loop.series.ref, text)
            given = f"&{self._table(NUMBERS)}[{row}], {loop.width}, {shown}"
            return wrapped(f"{LANES}[{loop.series.place}] = {self.pool.polynomial}({given});", "")

        def operand(value: Operand) -> str:
            if isinstance(value, Local):
                return inlined.get(value.block) or f"v{value.block}"
            if isinstance(value, Elements):
                return self._elements(value)
            shown = self.expressions.reference(value.ref, text)
            return f"({shown})" if shown.startswith("-") else shown

        operands = [value for made in loop.sums for term in made.terms for value in term.operands]
        read = Counter(value.block for value in operands if isinstance(value, Local))
        inlined: dict[int, str] = {}  # what is read once, where it is read
        added = [k for k, made in enumerate(loop.sums) if made.added]
        zero = literal(0.0, self.dialect.real)
        lines = ["{", f"{INDENT}{self.dialect.real_type} {', '.join(f's{k} = {zero}' for k in added)};"] if added else []
        begin = len(lines)
        lines.append(f"for (int i = 0; i < {loop.width}; ++i) {{")
        for k, made in enumerate(loop.sums):
            value = self._sum(made, operand)
            if made.added:
                lines.append(f"{INDENT}s{k} {'-=' if value.startswith('-') else '+='} {value.removeprefix('-')};")
                continue
            if read[k] == 1 and not made.targets and len(made.terms) <= LONGEST_INLINED:
                inlined[k] = f"({value})"
                continue
            if made.local or len(made.targets) > 1:
                lines.append(f"{INDENT}const {self.dialect.real_type} v{k} = {value};")
                value = f"v{k}"
            lines += [f"{INDENT}{operand(target)} = {value};" for target in made.targets]
        lines.append("}")
        if added:
            results = (f"{INDENT}{operand(loop.sums[k].targets[0])} = s{k};" for k in added)
            lines = [*lines[:begin], *(INDENT + line for line in lines[begin:]), *results, "}"]
        return lines

    def _sum(self, made: LaneSum, operand: Callable[[Operand], str]) -> str:
        terms = [self._signed(term, operand) for term in made.terms]
        if terms[0][0] and not made.terms[0].negative:  # its row is stored negated: another term comes first, if one can
            terms.sort(key=lambda term: term[0])
            if terms[0][0]:
                terms[0] = self._signed(made.terms[0], operand, as_it_is=True)
        (negative, text), *rest = terms
        return ("-" if negative else "") + text + "".join((" - " if minus else " + ") + term for minus, term in rest)

    def _signed(self, term: Term, operand: Callable[[Operand], str], as_it_is: bool = False) -> tuple[bool, str]:
        """Return whether a term is subtracted, and its factors."""
        factors, negative = [operand(value) for value in term.operands], term.negative
        if len(term.numbers) == 1:
            factors.insert(0, literal(term.numbers[0], self.dialect.real))
        elif term.numbers:
            first, step, turned = self.pool.number_row(term.numbers, as_it_is)
            negative ^= turned
            factors.insert(0, _at(self._table(NUMBERS), first, step))
        return negative, " * ".join(factors)

    def _elements(self, value: Elements) -> str:
        first, *_ = indices = value.indices
        step = indices[1] - first if len(indices) > 1 else 0
        if all(b - a == step for a, b in pairwise(indices)):
            return _at(value.array, first, step)
        return f"{value.array}[{_at(self._table(PLACES), self.pool.place_row(indices), 1)}]"

    def _table(self, short: str) -> str:
        """Return the short name of a table."""
        self.short[short] = None
        return short


def _at(array: str, first: int, step: int) -> str:
    """Return elements of an array, lane by lane."""
    if step in (0, 1):
        return f"{array}[{' + '.join([*([str(first)] if first or not step else []), *(['i'] if step else [])])}]"
    return f"{array}[{first} - i]" if step == -1 else f"{array}[{first} + ({step} * i)]"
