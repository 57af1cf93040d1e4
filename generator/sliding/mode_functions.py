"""Functions along a beam that is reduced to a few modes: combinations of fixed functions, with integrals that are numbers.

The modes are given by their nodal values on n elements. What is made of them, (1 - eta) df/deta any number of times and the
products of slopes of the shortening, is computed once, by element_polynomials.py with numbers. The elements cost nothing then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from elastogen.generator.beams.finite_elements import Banded
from elastogen.generator.beams.piecewise import ROUNDING
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.sliding.beam_functions import BeamFunctions, Scatter
from elastogen.generator.sliding.element_polynomials import ElementPolynomials
from elastogen.generator.spatial.inertia import Array

Modes = tuple[tuple[float, ...], ...]
"""Deflection and slope dphi/deta at the nodes 1, 2, ... (rows) of every mode (columns)."""


class _Member(NamedTuple):
    """A fixed function: (1 - eta) d/deta, ``order`` times, of eta^first, of a mode, or of int_0^eta phi_first' phi_second'."""

    kind: str  # "power", "mode" or "slopes"
    first: int
    second: int = 0
    order: int = 0


class _Numbers:
    """The fixed functions of a beam, and the integrals of their products."""

    def __init__(self, elements: int, modes: Modes) -> None:
        self.elements, self._space = elements, ElementPolynomials(Graph(), elements)
        self._columns = [[self._space.graph.value(number) for number in column] for column in zip(*modes, strict=True)]
        self._functions: dict[_Member, Scatter] = {}
        self._arrays: dict[_Member, Array] = {}
        self._inner: dict[tuple[_Member, _Member], float] = {}
        space = self._space
        shapes = [self.function(_Member("mode", k)) for k in range(len(self._columns))]
        bent = [space.bending(shape) for shape in shapes]
        self.mass, self.stiffness = (
            _banded(np.array([[space.inner(f, g).constant for g in shapes] for f in functions])) for functions in (shapes, bent)
        )

    def function(self, member: _Member) -> Scatter:
        """Its polynomials on every element."""
        if member not in self._functions:
            self._functions[member] = self._function(member)
        return self._functions[member]

    def _function(self, member: _Member) -> Scatter:
        space, value = self._space, self._space.graph.value
        if member.order:
            return space.ahead(self.function(member._replace(order=member.order - 1)))
        if member.kind == "power":
            return space.line(value(1 - member.first), value(member.first))
        if member.kind == "mode":
            return space.interpolated(self._columns[member.first])
        return space.slope_products(*(space.interpolated(self._columns[k]) for k in (member.first, member.second)))

    def _array(self, member: _Member) -> Array:
        """The weights of P_r / |P_r| on every element."""
        if member not in self._arrays:
            lines = [[weight.constant or 0.0 for weight in line] for line in self.function(member)]
            array = np.zeros((len(lines), 6))
            for row, line in zip(array, lines, strict=True):
                row[: len(line)] = line
            self._arrays[member] = array / np.sqrt((2 * np.arange(6) + 1) * len(lines))
        return self._arrays[member]

    def inner(self, f: _Member, g: _Member) -> float:
        """int f g deta, without rounding errors of zero."""
        key = (f, g) if f <= g else (g, f)
        if key not in self._inner:
            a, b = self._array(f), self._array(g)
            number = float(np.sum(a * b))
            small = abs(number) <= ROUNDING * float(np.linalg.norm(a) * np.linalg.norm(b))
            self._inner[key] = 0.0 if small else number
        return self._inner[key]

    def polynomials(self, member: _Member) -> list[list[float]]:
        """Its polynomials in t from 0 to 1 on every element."""
        return [[c.constant or 0.0 for c in line] for line in self._space.polynomials(self.function(member))]

    def shortening(self, i: int, j: int) -> float:
        """int phi_i' phi_j' deta."""
        total = sum((weight.constant or 0.0 for weight in self.function(_Member("slopes", i, j))[-1]), 0.0)
        return float(total)


_numbers = cache(_Numbers)  # every state of a beam asks for it


class ModeFunctions(BeamFunctions):
    """The functions along a beam with these modes; a function is one line of weights."""

    def __init__(self, graph: Graph, elements: int, modes: Modes) -> None:
        self.graph, self._numbers = graph, _numbers(elements, modes)
        self._count = len(modes[0])
        self._members = [*(_Member("mode", k) for k in range(self._count)), *(_Member("power", k) for k in range(2))]
        self._place = {member: i for i, member in enumerate(self._members)}

    @property
    def powers(self) -> tuple[int, ...]:
        """None: the coordinates are amplitudes of modes."""
        return (0,) * self._count

    @property
    def mass_integrals(self) -> Banded:
        """int phi_i phi_j deta."""
        return self._numbers.mass

    @property
    def stiffness_integrals(self) -> Banded:
        """int phi_i'' phi_j'' deta."""
        return self._numbers.stiffness

    # ---- linear combinations

    @property
    def nothing(self) -> Scatter:
        """The function 0."""
        return [[]]

    def _of(self, weights: dict[_Member, Value]) -> Scatter:
        for member in weights:
            if member not in self._place:
                self._place[member] = len(self._members)
                self._members.append(member)
        line = [self.graph.value(0)] * (1 + max((self._place[member] for member in weights), default=-1))
        for member, weight in weights.items():
            line[self._place[member]] = weight
        return [line]

    def _weights(self, f: Scatter) -> dict[_Member, Value]:
        return {member: weight for member, weight in zip(self._members, f[0], strict=False) if not weight.is_zero}

    def line(self, start: Value, rise: Value) -> Scatter:
        """The function start + rise eta."""
        return self._of({_Member("power", 0): start, _Member("power", 1): rise})

    def interpolated(self, c: Sequence[Value]) -> Scatter:
        """Sum of c_j phi_j."""
        return [list(c)]

    # ---- integrals

    def inner(self, f: Scatter, g: Scatter) -> Value:
        """int f g deta."""
        a, b = sorted((self._weights(f), self._weights(g)), key=len)
        total = self.graph.value(0)
        if {member: weight.ref for member, weight in a.items()} != {member: weight.ref for member, weight in b.items()}:
            for member, weight in a.items():
                total = total + weight * self._against(b, member)
            return total
        pairs = list(a.items())
        for i, (member, weight) in enumerate(pairs):
            others = 2 * self._against(dict(pairs[i + 1 :]), member)
            total = total + weight * (weight * self._numbers.inner(member, member) + others)
        return total

    def _against(self, weights: dict[_Member, Value], member: _Member) -> Value:
        total = self.graph.value(0)
        for other, weight in weights.items():
            total = total + weight * self._numbers.inner(other, member)
        return total

    def mean(self, f: Scatter) -> Value:
        """int f deta."""
        return self._against(self._weights(f), _Member("power", 0))

    def moment(self, f: Scatter) -> Value:
        """int eta f deta."""
        return self._against(self._weights(f), _Member("power", 1))

    def projected(self, f: Scatter) -> list[Value]:
        """int f phi_j deta for every j."""
        weights = self._weights(f)
        return [self._against(weights, _Member("mode", j)) for j in range(self._count)]

    def projected_with_slopes(self, f: Scatter, g: Scatter, force: Scatter, factor: Value) -> list[Value]:
        """int f phi_j deta + factor int (int_0^eta g' phi_j') force deta for every j."""
        weights, result = self._weights(force), []
        for j, value in enumerate(self.projected(f)):
            total = self.graph.value(0)
            for mode, weight in self._weights(g).items():
                total = total + weight * self._against(weights, _slopes(mode.first, j))
            result.append(value + factor * total)
        return result

    def strains(self, f: Scatter) -> list[Value]:
        """int f'' phi_j'' deta for every j."""
        zero, (line,) = self.graph.value(0), f
        return [sum((line[j] * number for j, number in row if j < len(line)), zero) for row in self.stiffness_integrals]

    def strain(self, f: Scatter) -> Value:
        """int f''^2 deta."""
        return sum((weight * value for weight, value in zip(f[0], self.strains(f), strict=False)), self.graph.value(0))

    # ---- other functions

    def ahead(self, f: Scatter) -> Scatter:
        """(1 - eta) df/deta."""
        return self._of({member._replace(order=member.order + 1): weight for member, weight in self._weights(f).items()})

    def slope_products(self, f: Scatter, g: Scatter) -> Scatter:
        """int_0^eta df/deta dg/deta deta."""
        total: dict[_Member, Value] = {}
        for mode, weight in self._weights(f).items():
            for other, factor in self._weights(g).items():
                key, product = _slopes(mode.first, other.first), weight * factor
                total[key] = total[key] + product if key in total else product
        return self._of(total)

    def polynomials(self, f: Scatter) -> list[list[Value]]:
        """The sum of the polynomials of the fixed functions."""
        result: list[list[Value]] = [[] for _ in range(self._numbers.elements)]
        for member, weight in self._weights(f).items():
            for line, numbers in zip(result, self._numbers.polynomials(member), strict=True):
                line += [self.graph.value(0)] * (len(numbers) - len(line))
                for k, number in enumerate(numbers):
                    line[k] = line[k] + weight * number
        return result

    # ---- at the tip

    @cached_property
    def _tip(self) -> list[list[float]]:
        return [[self._numbers.shortening(i, j) for j in range(self._count)] for i in range(self._count)]

    def squared_slopes(self, c: Sequence[Value]) -> Value:
        """int (dw/deta)^2 deta of w = sum_j c_j phi_j."""
        total = self.graph.value(0)
        for i, weight in enumerate(c):
            others = sum((2 * number * c[j] for j, number in enumerate(self._tip[i]) if j > i), self.graph.value(0))
            total = total + weight * (weight * self._tip[i][i] + others)
        return total


def beam_functions(graph: Graph, elements: int, modes: Modes) -> BeamFunctions:
    """The functions along a beam: by its modes, or by all of its elements where there are none."""
    return ModeFunctions(graph, elements, modes) if modes else ElementPolynomials(graph, elements)


def _slopes(i: int, j: int) -> _Member:
    return _Member("slopes", min(i, j), max(i, j))


def _banded(matrix: Array) -> Banded:
    """Without rounding errors of zero, and exactly symmetric."""
    matrix, size = (matrix + matrix.T) / 2, np.sqrt(np.diag(matrix))
    kept = np.abs(matrix) > ROUNDING * np.outer(size, size)
    return tuple(tuple((int(j), float(matrix[i, j])) for j in np.flatnonzero(kept[i])) for i in range(len(matrix)))
