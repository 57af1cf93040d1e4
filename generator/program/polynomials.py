"""Values as polynomials of their atoms (inputs, sines, cosines, ...), multiplied out, with sin^2 = 1 - cos^2.

What cancels is gone, and sums of many products become few: |a + R(q) b|^2 of constant a and b is A + B cos q + C sin q.
"""

from __future__ import annotations

from collections.abc import Mapping

from elastogen.generator.program.graph import Graph, Op, Value

MOST_TERMS = 24  # with more it is no shorter
ROUNDING = 8e-16  # of what cancels, relative to the sum of the absolute values

Monomial = tuple[int, ...]  # references of atoms, sorted, as often as they are factors
Terms = dict[Monomial, tuple[float, float]]  # coefficient, and the sum of the absolute values of what came together in it


def multiplied_out(graph: Graph, value: Value) -> Value | None:
    """Return the value as a sum of products, or None if there are too many of them."""
    polynomials: dict[int, Terms] = {}
    for node in graph.cone([value.ref]):
        terms = _terms(graph, node, polynomials)
        if len(terms) > MOST_TERMS:
            return None
        polynomials[node] = terms
    terms = polynomials[value.ref >> 1]
    sign = -1.0 if value.ref & 1 else 1.0
    total = graph.value(0)
    for monomial, (coefficient, size) in sorted(terms.items(), key=lambda term: (len(term[0]), term[0])):
        if abs(coefficient) > ROUNDING * size:
            product = graph.value(sign * coefficient)
            for atom in monomial:
                product = product * Value(graph, atom)
            total = total + product
    return total


def shorter(value: Value) -> Value:
    """The value, multiplied out where that takes fewer operations."""
    graph = value.graph
    found = multiplied_out(graph, value)
    return value if found is None or _size(found) >= _size(value) else found


def without(value: Value, part: Value) -> Value:
    """The value less a part, which is left out where the value is a sum that contains it."""
    found = _left_out(value.graph, value.ref, part.ref)
    return shorter(value - part if found is None else Value(value.graph, found))


def _left_out(graph: Graph, ref: int, part: int) -> int | None:
    """A sum without one of its terms; None if it is not there."""
    if ref == part:
        return 0
    node, sign = ref >> 1, ref & 1
    if graph.op[node] is not Op.ADD:
        return None
    for one, other in ((graph.a[node], graph.b[node]), (graph.b[node], graph.a[node])):
        found = _left_out(graph, one ^ sign, part)
        if found is not None:
            return graph.add(found, other ^ sign)
    return None


def _size(value: Value) -> int:
    return len(value.graph.cone([value.ref]))


def _terms(graph: Graph, node: int, known: Mapping[int, Terms]) -> Terms:
    op = graph.op[node]
    if op is Op.CONSTANT:
        return {(): (graph.number[node], abs(graph.number[node]))}
    if op not in (Op.ADD, Op.MUL):
        return {(2 * node,): (1.0, 1.0)}
    x, y = (_signed(known[ref >> 1], ref) for ref in (graph.a[node], graph.b[node]))
    if op is Op.ADD and all(graph.op[ref >> 1] is Op.INPUT for ref in (graph.a[node], graph.b[node])):
        return {(2 * node,): (1.0, 1.0)}  # rates about parallel axes
    found: Terms = {}
    if op is Op.ADD:
        for terms in (x, y):
            for monomial, (c, size) in terms.items():
                _collect(found, monomial, c, size)
        return found
    for first, (c, size) in x.items():
        for second, (d, other) in y.items():
            _multiply(graph, found, tuple(sorted((*first, *second))), c * d, size * other)
    return found


def _signed(terms: Terms, ref: int) -> Terms:
    return {monomial: (-c, size) for monomial, (c, size) in terms.items()} if ref & 1 else terms


def _multiply(graph: Graph, found: Terms, monomial: Monomial, c: float, size: float) -> None:
    """Collect a product; the square of a sine becomes 1 minus that of the cosine."""
    for k in range(len(monomial) - 1):
        atom = monomial[k]
        if atom == monomial[k + 1] and graph.op[atom >> 1] is Op.SIN:
            cosine = graph.cos(Value(graph, graph.a[atom >> 1])).ref
            rest = (*monomial[:k], *monomial[k + 2 :])
            _multiply(graph, found, rest, c, size)
            _multiply(graph, found, tuple(sorted((*rest, cosine & ~1, cosine & ~1))), -c, size)
            return
    _collect(found, monomial, c, size)


def _collect(found: Terms, monomial: Monomial, c: float, size: float) -> None:
    before, largest = found.get(monomial, (0.0, 0.0))
    found[monomial] = (before + c, largest + size)
