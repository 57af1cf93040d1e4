"""Functions along the part of a beam outside of its joint: what the displacements of a sliding beam are made of.

eta goes from 0 at the clamp to 1 at the tip. A function is a linear combination, its weights are values of the graph; what
they are weights of is up to the class: polynomials on every element, or fixed functions along the beam.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from elastogen.generator.beams.finite_elements import Banded
from elastogen.generator.program.graph import Graph, Value

Scatter: TypeAlias = "list[list[Value]]"
"""A function along the beam: weights in one or several lines; those that are missing vanish."""


class BeamFunctions(ABC):
    """The functions, among them the shapes n_j that the coefficients c_j = d^p_j u_j of the coordinates u belong to."""

    graph: Graph

    @property
    @abstractmethod
    def powers(self) -> tuple[int, ...]:
        """p_j: 1 where u_j is a slope dw/dx, else 0."""

    @property
    @abstractmethod
    def mass_integrals(self) -> Banded:
        """int n_i n_j deta."""

    @property
    @abstractmethod
    def stiffness_integrals(self) -> Banded:
        """int n_i'' n_j'' deta."""

    # ---- linear combinations

    @property
    @abstractmethod
    def nothing(self) -> Scatter:
        """The function 0."""

    @abstractmethod
    def line(self, start: Value, rise: Value) -> Scatter:
        """The function start + rise eta."""

    @abstractmethod
    def interpolated(self, c: Sequence[Value]) -> Scatter:
        """Sum of c_j n_j."""

    def sum(self, *functions: Scatter) -> Scatter:
        """The sum of functions."""
        zero = self.graph.value(0)
        total = self.nothing
        for function in functions:
            for line, added in zip(total, function, strict=True):
                line += [zero] * (len(added) - len(line))
                for r, weight in enumerate(added):
                    line[r] = line[r] + weight
        for line in total:
            while line and line[-1].is_zero:
                line.pop()
        return total

    def scaled(self, f: Scatter, factor: Value | float) -> Scatter:
        """The function times a factor."""
        if isinstance(factor, Value) and factor.is_zero:
            return self.nothing
        return [[weight * factor for weight in line] for line in f]

    # ---- integrals over eta from 0 to 1

    @abstractmethod
    def inner(self, f: Scatter, g: Scatter) -> Value:
        """int f g deta."""

    @abstractmethod
    def mean(self, f: Scatter) -> Value:
        """int f deta."""

    @abstractmethod
    def moment(self, f: Scatter) -> Value:
        """int eta f deta."""

    @abstractmethod
    def projected(self, f: Scatter) -> list[Value]:
        """int f n_j deta for every j."""

    @abstractmethod
    def projected_with_slopes(self, f: Scatter, g: Scatter, force: Scatter, factor: Value) -> list[Value]:
        """int f n_j deta + factor int (int_0^eta g' n_j') force deta for every j; g is a sum of shapes."""

    @abstractmethod
    def strains(self, f: Scatter) -> list[Value]:
        """int f'' n_j'' deta for every j; f is a sum of shapes."""

    @abstractmethod
    def strain(self, f: Scatter) -> Value:
        """int f''^2 deta; f is a sum of shapes."""

    @abstractmethod
    def polynomials(self, f: Scatter) -> list[list[Value]]:
        """The function on every element: the coefficients of 1, t, t^2, ..., t from 0 to 1 along the element."""

    # ---- other functions

    @abstractmethod
    def ahead(self, f: Scatter) -> Scatter:
        """(1 - eta) df/deta."""

    @abstractmethod
    def slope_products(self, f: Scatter, g: Scatter) -> Scatter:
        """int_0^eta df/deta dg/deta deta; f and g are sums of shapes."""
