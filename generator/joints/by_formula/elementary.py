"""Formulas that are rotations and displacements by single coordinates: they are treated like the built-in kinds."""

from __future__ import annotations

import sympy

from elastogen.generator.robot.joint_kind import Screw
from elastogen.generator.robot.own.formula import Formula
from elastogen.generator.robot.robot import Vector

ROUNDING = 1e-14  # of unit vectors


def screws(formula: Formula) -> tuple[Screw, ...]:
    """One screw for each coordinate, in their order, or none where the formula is not of this form.

    All displacements come before all rotations in a formula; as screws, one coordinate after the other, they may stand behind
    rotates about their own direction only.
    """
    along = _directions(formula)
    turns = _rotated(formula)
    if formula.vector is not None or along is None or turns is None:
        return ()
    found: list[Screw] = []
    for k, symbol in enumerate(formula.symbols):
        earlier = [axis for other, axis in turns.items() if formula.symbols.index(other) < k]
        screw = _screw(along[k], turns.get(symbol))
        if screw is None or (screw.advance != 0 and not all(_parallel(screw.axis, axis) for axis in earlier)):
            return ()
        found.append(screw)
    return tuple(found)


def _directions(formula: Formula) -> list[sympy.Matrix] | None:
    """Return the displacement by a unit of each coordinate, if the displacement is the sum of such."""
    displacement = sympy.Matrix(formula.displacement)
    slopes = [displacement.diff(symbol) for symbol in formula.symbols]
    if any(slope.has(*formula.symbols) for slope in slopes):
        return None
    linear = sum((slope * symbol for slope, symbol in zip(slopes, formula.symbols, strict=True)), sympy.zeros(3, 1))
    return slopes if (displacement - linear).expand() == sympy.zeros(3, 1) else None


def _rotated(formula: Formula) -> dict[sympy.Symbol, Vector] | None:
    """Return the axis of each coordinate that rotates, in order, if every rotation has a coordinate of its own."""
    found: dict[sympy.Symbol, Vector] = {}
    for turn in formula.turns:
        sign, symbol = turn.angle.as_coeff_Mul()
        if sign not in (1, -1) or symbol not in formula.symbols or symbol in found:
            return None
        x, y, z = turn.axis
        found[symbol] = turn.axis if sign == 1 else (-x, -y, -z)
    order = [formula.symbols.index(symbol) for symbol in found]
    return found if order == sorted(order) else None


def _screw(slope: sympy.Matrix, axis: Vector | None) -> Screw | None:
    """Return a rotation about the axis with a displacement along it, or a displacement of unit length."""
    if axis is None:
        if not all(entry.is_number for entry in slope) or abs(float(slope.norm()) - 1) > ROUNDING:
            return None
        x, y, z = (int(entry) if entry.is_Integer else float(entry) for entry in slope)
        return Screw((x, y, z), turns=False, advance=1)
    pitch = sympy.expand(sum(component * entry for component, entry in zip(axis, slope, strict=True)))
    rest = slope - sympy.Matrix(axis) * pitch
    if not all(_vanishes(entry) for entry in rest):
        return None
    return Screw(axis, turns=True, advance=pitch if pitch.free_symbols else float(pitch))


def _vanishes(entry: sympy.Expr) -> bool:
    """Whether every coefficient of a sum is a rounding error."""
    return all(abs(float(c)) < ROUNDING for c in sympy.expand(entry).as_coefficients_dict().values())


def _parallel(u: Vector, v: Vector) -> bool:
    return bool(abs(abs(sum(float(a) * float(b) for a, b in zip(u, v, strict=True))) - 1) < ROUNDING)
