"""Distances in a user's terms: parts of an expression that depend only on distances between frames.

A spring between two links is written with positions in the base frame, which depend on every joint before the links. Its
energy does not: with G a symmetric matrix whose rows add up to zero,

    sum_fg G_fg p_f . p_g = - sum_(f<g) G_fg |p_f - p_g|^2,
    sum_fg G_fg p_f . v_g = - sum_(f<g) G_fg (p_f - p_g) . (v_f - v_g),

so such sums become symbols of squared distances and half their rates, which depend on the joints between the two frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import sympy

from elastogen.generator.robot.own.terms import Meaning, symbol

MOST_SYMBOLS = 24  # of frames in one sum: beyond it is left as it is
MOST_OPERATIONS = 400
_KINDS = ("position", "velocity")


@dataclass(frozen=True, order=True)
class Separation:
    """Two frames of the user: their squared distance [m^2], or half its rate."""

    first: str
    second: str
    rate: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the two frames."""
        return self.first, self.second

    @property
    def symbol(self) -> sympy.Symbol:
        """Its symbol in expressions."""
        return symbol(f"{'approach' if self.rate else 'distance'}[{self.first},{self.second}]")


def by_separations(
    expression: sympy.Expr, meanings: Mapping[sympy.Symbol, Meaning]
) -> tuple[sympy.Expr, dict[sympy.Symbol, Separation]]:
    """The expression with distances instead of positions and velocities where possible, and its new symbols."""
    found: dict[sympy.Symbol, Separation] = {}

    def visit(node: sympy.Basic) -> sympy.Basic:
        if not any(s in meanings and meanings[s].kind in _KINDS for s in node.free_symbols):
            return node
        if isinstance(node, sympy.Add) and (shorter := _replaced(node, meanings, found)) is not None:
            node = shorter
            if not isinstance(node, sympy.Add):
                return visit(node) if node.args else node
        arguments = [visit(argument) for argument in node.args]
        return node.func(*arguments) if arguments != list(node.args) else node

    return visit(expression), found


def _replaced(
    node: sympy.Add, meanings: Mapping[sympy.Symbol, Meaning], found: dict[sympy.Symbol, Separation]
) -> sympy.Expr | None:
    """The sum with its part of second degree in positions and velocities by distances; None where that is not possible."""
    places = sorted((s for s in node.free_symbols if s in meanings and meanings[s].kind in _KINDS), key=str)
    squares = [part for part in node.args if _degree(part, places) == 2]
    if not squares or len(places) > MOST_SYMBOLS or sympy.count_ops(node) > MOST_OPERATIONS:
        return None
    poly = sympy.Poly(sympy.Add(*squares), *places)
    quadratic = {powers: c for powers, c in poly.terms() if sum(powers) == 2}
    rest = sympy.Add(*(c * sympy.Mul(*(s**k for s, k in zip(places, powers, strict=True))) for powers, c in poly.terms()
                       if sum(powers) < 2))  # fmt: skip
    total: sympy.Expr = rest
    used: dict[sympy.Symbol, Separation] = {}
    pairs: tuple[tuple[str, str], ...] = (("position", "position"), ("position", "velocity"), ("velocity", "velocity"))
    for kinds in pairs:
        part = _matrix(quadratic, places, meanings, kinds)
        if part is None or (part and kinds == ("velocity", "velocity")):
            return None
        frames = sorted({frame for pair in part for frame in pair})
        if any(sympy.expand(sum(part.get((f, g), 0) for g in frames)) != 0 for f in frames):
            return None
        for f, g in combinations(frames, 2):
            if sympy.expand(part.get((f, g), 0) - part.get((g, f), 0)) != 0:
                return None
            separation = Separation(f, g, rate=kinds[1] == "velocity")
            used[separation.symbol] = separation
            total -= part.get((f, g), 0) * separation.symbol
    found |= used
    return sympy.Add(total, *(other for other in node.args if other not in squares))


def _degree(part: sympy.Expr, places: Sequence[sympy.Symbol]) -> int | None:
    """Degree of a part of a sum in the places; None where it is no polynomial of them."""
    own = [s for s in places if s in part.free_symbols]
    if not own or not part.is_polynomial(*own):
        return None
    return int(sympy.Poly(part, *own).total_degree())


def _matrix(
    quadratic: Mapping[tuple[int, ...], sympy.Expr],
    places: Sequence[sympy.Symbol],
    meanings: Mapping[sympy.Symbol, Meaning],
    kinds: tuple[str, str],
) -> dict[tuple[str, str], sympy.Expr] | None:
    """G of frames, where the terms of these kinds are sum G_fg p_f . p_g; None where axes are not treated alike."""
    by_axis: list[dict[tuple[str, str], sympy.Expr]] = [{}, {}, {}]
    for powers, c in quadratic.items():
        pair = [meanings[s] for s, k in zip(places, powers, strict=True) for _ in range(k)]
        if tuple(sorted(meaning.kind for meaning in pair)) != kinds:
            continue
        first, second = sorted(pair, key=lambda meaning: meaning.kind)
        if first.index != second.index:
            return None
        entries = by_axis[first.index]
        if kinds[0] == kinds[1] and first.of != second.of:  # p_f . p_g stands for both
            entries[first.of, second.of] = entries[second.of, first.of] = c / 2
        else:
            entries[first.of, second.of] = c
    keys = {key for entries in by_axis for key in entries}
    for entries in by_axis[1:]:
        if any(sympy.expand(entries.get(key, 0) - by_axis[0].get(key, 0)) != 0 for key in keys):
            return None
    return by_axis[0]
