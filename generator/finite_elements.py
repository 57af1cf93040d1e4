"""Beams divided into equal finite elements, as curves: Hermite cubics in bending, linear in torsion and extension.

Seed 003 divides its links into Euler-Bernoulli elements whose nodal deflections and slopes are the coordinates. The
nodal basis functions are clamped shapes like any other once the first node is removed (003, 4.3), so the standard data
follow from the integrals of :mod:`beam_integrals`; its element matrices (13) and (27) come out of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from elastogen.generator.beam_integrals import DIRECTIONS, Beam, Direction, Mode, beam_body
from elastogen.generator.natural_frequencies import clamped_modes, mass_matrix, numeric
from elastogen.generator.piecewise import Breaks, Curve, Number, combination, exact
from elastogen.generator.robot import Body, Parameter

MAX_ELEMENTS = 200
_SMALL_TIP = 1e-3  # of a mode's largest deflection

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


@cache
def element_breaks(elements: int) -> Breaks:
    """The nodes in s = x / L."""
    return tuple(Fraction(i, elements) for i in range(elements + 1))


def reduced_modes(
    beam: Beam, modes: Sequence[Mode], count: int, tip_body: Body, parameters: Mapping[str, Parameter]
) -> list[Mode]:
    """Return the lowest clamped modes of the link with its tip body, direction by direction, phi(L) = 1.

    They are computed at the nominal values of the parameters and are fixed shapes from then on.
    """
    found = _lowest(beam, modes, count, tip_body, parameters)
    counts: dict[str, int] = {}
    reduced = []
    for _, direction, shape in found:
        counts[direction] = counts.get(direction, 0) + 1
        reduced.append(Mode(f"{direction}{counts[direction]}", direction, shape))
    return reduced


def mesh_errors(
    beam: Beam,
    elements: int,
    directions: Sequence[Direction],
    count: int,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
) -> list[float]:
    """Return the relative errors of the lowest clamped frequencies, against a mesh twice as fine.

    Hermite elements converge from above with order 4 in the element length, so the finer mesh has a sixteenth of the
    error (linear ones in torsion and extension: order 2, a quarter).
    """
    coarse, fine = (
        [frequency for frequency, _, _ in _lowest(beam, _elements(beam, n, directions), count, tip_body, parameters)]
        for n in (elements, 2 * elements)
    )
    return [abs(a / b - 1) for a, b in zip(coarse, fine, strict=True)]


def _elements(beam: Beam, elements: int, directions: Sequence[Direction]) -> list[Mode]:
    return element_modes(elements, directions, beam.length)


def _lowest(
    beam: Beam, modes: Sequence[Mode], count: int, tip_body: Body, parameters: Mapping[str, Parameter]
) -> list[tuple[float, Direction, Curve]]:
    """Frequency, direction and shape of the lowest modes of each direction by itself, over all directions."""
    found: list[tuple[float, Direction, Curve]] = []
    plain = replace(beam, foreshortening=False)
    for direction in DIRECTIONS:
        chosen = [mode for mode in modes if mode.direction == direction]
        if not chosen:
            continue
        body = beam_body(plain, chosen)
        mass = numeric(mass_matrix(body, tip_body), parameters)
        frequencies, shapes = clamped_modes(mass, numeric(body.stiffness, parameters))
        curves = [_nominal(mode.shape, parameters) for mode in chosen]
        for k in range(min(count, len(chosen))):
            found.append((float(frequencies[k]), direction, _normalized(shapes[:, k].tolist(), curves)))
    return sorted(found, key=lambda mode: mode[0])[:count]


def _nominal(shape: Curve, parameters: Mapping[str, Parameter]) -> Curve:
    return shape.substituted({p.symbol: exact(p.value) for p in parameters.values()})


def _normalized(factors: list[float], curves: Sequence[Curve]) -> Curve:
    """The combined shape with the value 1 at the tip, or with the largest nodal value 1 if the tip hardly moves."""
    shape = combination(factors, curves)
    nodal = [float(piece[0]) for piece in shape.pieces] + [float(shape.end)]
    size = max(nodal, key=abs)
    return shape.scaled(1 / (nodal[-1] if abs(nodal[-1]) > _SMALL_TIP * abs(size) else size))
