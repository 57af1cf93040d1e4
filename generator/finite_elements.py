"""Beams divided into equal finite elements, as curves: Hermite cubics in bending, linear in torsion and extension.

Seed 003 divides its links into Euler-Bernoulli elements whose nodal deflections and slopes are the coordinates. The nodal
basis functions are clamped shapes like any other once the first node is removed (003, 4.3), so the standard data follow from
the integrals of :mod:`beam_integrals`; its element matrices (13) and (27) come out of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from elastogen.generator.beam_integrals import Direction, Mode
from elastogen.generator.piecewise import Breaks, Curve, Number

MAX_ELEMENTS = 200

_ZERO: tuple[Number, ...] = (0,)
# Seed 003's shape functions in t = x / l_e (errata): deflection and slope (per l_e) at the left and at the right node.
_LEFT: tuple[Number, ...] = (1, 0, -3, 2)
_LEFT_SLOPE: tuple[Number, ...] = (0, 1, -2, 1)
_RIGHT: tuple[Number, ...] = (0, 0, 3, -2)
_RIGHT_SLOPE: tuple[Number, ...] = (0, 0, -1, 1)
_FALLING: tuple[Number, ...] = (1, -1)
_RISING: tuple[Number, ...] = (0, 1)


def element_modes(elements: int, directions: Sequence[Direction], length: Number) -> list[Mode]:
    """Return the nodal shapes of the free nodes 1..elements, node by node.

    In bending y (z) a node has the coordinates ``y<node>`` and ``y<node>_slope`` (dw/dx), in torsion ``torsion<node>``.
    """
    element_length = length / Fraction(elements)
    modes: list[Mode] = []
    for node in range(1, elements + 1):
        for direction in directions:
            name = f"{direction}{node}"
            if direction in ("y", "z"):
                modes.append(Mode(name, direction, _nodal(elements, node, _RIGHT, _LEFT)))
                slope = _nodal(elements, node, _RIGHT_SLOPE, _LEFT_SLOPE).scaled(element_length)
                modes.append(Mode(f"{name}_slope", direction, slope))
            else:
                modes.append(Mode(name, direction, _nodal(elements, node, _RISING, _FALLING)))
    return modes


def _nodal(elements: int, node: int, before: tuple[Number, ...], after: tuple[Number, ...]) -> Curve:
    """The basis function of a node: ``before`` on the element left of it, ``after`` on the element right of it."""
    pieces = [_ZERO] * elements
    pieces[node - 1] = before
    if node < elements:
        pieces[node] = after
    return Curve(element_breaks(elements), tuple(pieces))


def element_breaks(elements: int) -> Breaks:
    """The nodes in s = x / L."""
    return tuple(Fraction(i, elements) for i in range(elements + 1))
