"""Functions along a beam of n equal elements, as polynomials on every element.

With eta from 0 to 1 along the beam and t from 0 to 1 along an element, a function is sum_r f_r P_r(t) on each element, where
P_r are Legendre's polynomials of 2 t - 1. Different ones are orthogonal, so that integrals of products of functions are
sums over their coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from elastogen.generator.beams.finite_elements import Banded, unit_matrices
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.sliding.beam_functions import BeamFunctions, Scatter


@dataclass(frozen=True)
class ElementPolynomials(BeamFunctions):
    """The functions along a beam of ``count`` elements: for every element a line with the weights of P_0, P_1, ..."""

    graph: Graph
    count: int

    @property
    def powers(self) -> tuple[int, ...]:
        """Deflections and slopes, node by node."""
        return (0, 1) * self.count

    @property
    def mass_integrals(self) -> Banded:
        """int n_i n_j deta."""
        return unit_matrices(self.count)[0]

    @property
    def stiffness_integrals(self) -> Banded:
        """int n_i'' n_j'' deta."""
        return unit_matrices(self.count)[1]

    # ---- linear combinations

    @property
    def nothing(self) -> Scatter:
        """The function 0."""
        return [[] for _ in range(self.count)]

    def line(self, start: Value, rise: Value) -> Scatter:
        """The function start + rise eta."""
        if rise.is_zero:
            return [[start] for _ in range(self.count)]
        half = rise * (0.5 / self.count)
        return [[start + rise * ((e + 0.5) / self.count), half] for e in range(self.count)]

    # ---- Hermite interpolation (003 (13)); the first node is clamped

    def interpolated(self, c: Sequence[Value]) -> Scatter:
        """Sum of c_j n_j: deflections and slopes dw/deta at the nodes 1, 2, ..."""
        zero, n = self.graph.value(0), self.count
        left, left_slope = zero, zero
        result = []
        for e in range(n):
            right, right_slope = c[2 * e], c[2 * e + 1]
            rise = right - left
            bend, twist = (left_slope - right_slope) * (1 / (12 * n)), (left_slope + right_slope) * (1 / (20 * n))
            result.append([(left + right) * 0.5 + bend, rise * 0.6 - twist, -bend, twist - rise * 0.1])
            left, left_slope = right, right_slope
        return result

    def projected(self, f: Scatter) -> list[Value]:
        """int f n_j deta for every j: what :meth:`interpolated` transposes to."""
        same = len({tuple(weight.ref for weight in line) for line in f}) == 1
        if not same or len(f[0]) != 1:
            return self._projected(f)
        numbers = self._projected([[self.graph.value(1)]] * self.count)  # a constant, as the weight of a beam
        return [f[0][0] * number for number in numbers]

    def _projected(self, f: Scatter) -> list[Value]:
        zero, n = self.graph.value(0), self.count
        result = [zero] * (2 * n + 2)
        for e, line in enumerate(f):
            f0, f1, f2, f3 = self._cubic(line)
            even, odd = f0 * (1 / (2 * n)), f1 * (1 / (5 * n)) - f3 * (1 / (70 * n))
            bend = f0 * (1 / (12 * n * n)) - f2 * (1 / (60 * n * n))
            twist = f3 * (1 / (140 * n * n)) - f1 * (1 / (60 * n * n))
            for k, value in enumerate((even - odd, bend + twist, even + odd, twist - bend)):
                result[2 * e + k] = result[2 * e + k] + value
        return result[2:]

    def _cubic(self, line: Sequence[Value]) -> list[Value]:
        return [*line[:4], *[self.graph.value(0)] * (4 - len(line))]

    # ---- integrals

    def inner(self, f: Scatter, g: Scatter) -> Value:
        """int f g deta; products that occur on several elements are formed once."""
        total = self.graph.value(0)
        for r in range(max((min(len(a), len(b)) for a, b in zip(f, g, strict=True)), default=0)):
            products = [a[r] * b[r] for a, b in zip(f, g, strict=True) if r < min(len(a), len(b))]
            total = total + self._total(products) * (1 / ((2 * r + 1) * self.count))
        return total

    def mean(self, f: Scatter) -> Value:
        """int f deta."""
        return self._total([line[0] for line in f if line]) * (1 / self.count)

    def moment(self, f: Scatter) -> Value:
        """int eta f deta."""
        n = self.count
        total = self._total([line[1] for line in f if len(line) > 1]) * (1 / (6 * n * n))
        for e, line in enumerate(f):
            if line:
                total = total + line[0] * ((2 * e + 1) / (2 * n * n))
        return total

    def _total(self, values: Sequence[Value]) -> Value:
        times: dict[int, int] = {}
        for value in values:
            times[value.ref] = times.get(value.ref, 0) + 1
        total = self.graph.value(0)
        for ref, number in times.items():
            total = total + Value(self.graph, ref) * number
        return total

    def polynomials(self, f: Scatter) -> list[list[Value]]:
        """P_r of 2 t - 1 is sum_k (-1)^(r+k) C(r, k) C(r+k, k) t^k."""
        result = []
        for line in f:
            coefficients = [self.graph.value(0)] * len(line)
            for r, weight in enumerate(line):
                for k in range(r + 1):
                    coefficients[k] = coefficients[k] + weight * ((-1) ** (r + k) * comb(r, k) * comb(r + k, k))
            result.append(coefficients)
        return result

    # ---- the clamp moves on

    def ahead(self, f: Scatter) -> Scatter:
        """(1 - eta) df/deta, on each element for itself.

        With h_r = f_(r+1) + f_(r+3) + ..., df/dt = sum_r 2 (2 r + 1) h_r P_r; and (2 t - 1) P_r is
        ((r + 1) P_(r+1) + r P_(r-1)) / (2 r + 1).
        """
        zero = self.graph.value(0)
        result = []
        for e, line in enumerate(f):
            h = [zero] * (len(line) + 2)
            for r in reversed(range(len(line) - 1)):
                h[r] = line[r + 1] + h[r + 2]
            width = 2 * (self.count - e) - 1  # 2 (n - e - t) = width - (2 t - 1)
            result.append([
                h[r] * (width * (2 * r + 1)) - h[r + 1] * (r + 1) - (h[r - 1] * r if r else 0) for r in range(len(line))
            ])  # fmt: skip
        return result

    # ---- products of slopes, for the shortening; the functions are cubics

    def slopes(self, f: Scatter) -> Scatter:
        """df/dt on every element."""
        cubics = [self._cubic(line) for line in f]
        return [[2 * (f1 + f3), 6 * f2, 10 * f3] for _, f1, f2, f3 in cubics]

    def slope_products(self, f: Scatter, g: Scatter) -> Scatter:
        """int_0^eta df/deta dg/deta deta."""
        n, zero = self.count, self.graph.value(0)
        before, result = zero, []
        for a, b in zip(self.slopes(f), self.slopes(g), strict=True):
            if all(weight.is_zero for weight in a) or all(weight.is_zero for weight in b):
                result.append([] if before.is_zero else [before])
                continue
            p = [weight * n for weight in _product(a, b)]
            p += [zero] * 2
            first = before + p[0] * 0.5 - p[1] * (1 / 6)
            result.append([first, *(p[r - 1] * (1 / (4 * r - 2)) - p[r + 1] * (1 / (4 * r + 6)) for r in range(1, 6))])
            before = before + p[0]
        return result

    def by_slope_products(self, f: Scatter, force: Scatter) -> Scatter:
        """The function E with int force (int_0^eta f' g') deta = int E g deta for every g.

        By parts, the left side is int f' g' Phi deta with Phi the integral of the force from eta to 1.
        """
        n, zero = self.count, self.graph.value(0)
        beyond, result = zero, []
        for a, line in zip(reversed(self.slopes(f)), reversed(force), strict=True):
            F = [*line, *[zero] * (6 - len(line))]
            # of Phi / (2 r + 1), times n
            psi = [beyond + F[0] * 0.5 + F[1] * (1 / 6)]
            psi += [
                F[r + 1] * (1 / ((2 * r + 1) * (4 * r + 6))) - F[r - 1] * (1 / ((2 * r + 1) * (4 * r - 2))) for r in range(1, 5)
            ]
            beyond = beyond + F[0]
            mixed = psi[1] * 0.4 + psi[3] * 0.6
            y0 = a[0] * psi[0] + a[1] * psi[1] + a[2] * psi[2]
            y1 = a[0] * psi[1] + a[1] * (psi[0] * (1 / 3) + psi[2] * (2 / 3)) + a[2] * mixed
            y2 = a[0] * psi[2] + a[1] * mixed + a[2] * (psi[0] * 0.2 + psi[2] * (2 / 7) + psi[4] * (18 / 35))
            result.append([zero, 6 * n * y0, 30 * n * y1, 14 * n * (y0 + 5 * y2)])
        return result[::-1]

    def projected_with_slopes(self, f: Scatter, g: Scatter, force: Scatter, factor: Value) -> list[Value]:
        """int f n_j deta + factor int (int_0^eta g' n_j') force deta for every j."""
        return self.projected(self.sum(f, self.scaled(self.by_slope_products(g, force), factor)))

    # ---- bending

    def bending(self, f: Scatter) -> Scatter:
        """B with int B g deta = int f'' g'' deta for every cubic g; on an element f'' is n^2 (12 f_2 P_0 + 60 f_3 P_1)."""
        zero, n = self.graph.value(0), self.count
        return [[zero, zero, 720 * n**4 * line[2], 8400 * n**4 * line[3]] for line in f]

    def strains(self, f: Scatter) -> list[Value]:
        """int f'' n_j'' deta for every j."""
        return self.projected(self.bending(f))

    def strain(self, f: Scatter) -> Value:
        """int f''^2 deta."""
        return self.inner(self.bending(f), f)


def _product(a: Sequence[Value], b: Sequence[Value]) -> list[Value]:
    """The product of two quadratics on an element."""
    outer, ends, middle = a[1] * b[2] + a[2] * b[1], a[2] * b[2], a[1] * b[1]
    return [
        a[0] * b[0] + middle * (1 / 3) + ends * 0.2,
        a[0] * b[1] + a[1] * b[0] + outer * 0.4,
        a[0] * b[2] + a[2] * b[0] + middle * (2 / 3) + ends * (2 / 7),
        outer * 0.6,
        ends * (18 / 35),
    ]
