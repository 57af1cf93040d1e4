"""The motion of a frame by a formula: SymPy differentiates displacement and angles, twists and bias are put together here.

A product of rotations is a small chain of frames: omega_i = R_i^T omega_(i-1) + a_i df_i/dt, and its rate likewise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from elastogen.generator.joints.by_formula.rotation_vector import RotationVector
from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.robot.own.formula import Formula
from elastogen.generator.robot.robot import Vector
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import AxisRotation, Matrix3, Rotation, Vec, add, cross, scale

_KINKED = (sympy.Abs, sympy.sign, sympy.Min, sympy.Max)  # SymPy would differentiate them to functions without C


def smooth_by_pieces(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with kinks as piecewise definitions; the derivative at a kink is that of the side x >= 0."""
    return expression.replace(lambda e: isinstance(e, _KINKED), lambda e: _pieces(e))


def _pieces(e: sympy.Expr) -> sympy.Expr:
    if isinstance(e, sympy.Abs):
        return sympy.Piecewise((-e.args[0], e.args[0] < 0), (e.args[0], True))
    if isinstance(e, sympy.sign):
        return sympy.Piecewise((-1, e.args[0] < 0), (1, e.args[0] > 0), (0, True))
    first, *others = sorted(e.args, key=sympy.default_sort_key)
    for other in others:
        second = first < other if isinstance(e, sympy.Max) else other < first
        first = sympy.Piecewise((other, second), (first, True))
    return first


@dataclass(frozen=True)
class Differentiated:
    """Some expressions and their first and second derivatives by the coordinates."""

    values: tuple[sympy.Expr, ...]
    slopes: tuple[tuple[sympy.Expr, ...], ...]  # per coordinate
    curvatures: tuple[tuple[tuple[sympy.Expr, ...], ...], ...]  # per pair of coordinates k <= j: [j][k]

    @staticmethod
    def of(expressions: Iterable[sympy.Expr], symbols: Sequence[sympy.Symbol]) -> Differentiated:
        """Differentiate with SymPy, once for each joint."""
        values = tuple(smooth_by_pieces(e) for e in expressions)
        slopes = tuple(tuple(e.diff(s) for e in values) for s in symbols)
        curved = tuple(tuple(tuple(e.diff(s) for e in row) for s in symbols[: j + 1]) for j, row in enumerate(slopes))
        return Differentiated(values, slopes, curved)


class _Lowered:
    """The same expressions as values of a graph, at variables that are replaced when they are used."""

    def __init__(self, given: Differentiated, lower: Lowering, symbols: Sequence[sympy.Symbol]) -> None:
        self.graph = lower.graph
        self.variables = [lower.graph.input(f"formula[{k}]") for k in range(len(symbols))]
        known = dict(zip(symbols, self.variables, strict=True))

        def lowered(row: Sequence[sympy.Expr]) -> list[Value]:
            return [lower.function(e, known) for e in row]

        self._values = lowered(given.values)
        self._slopes = [lowered(row) for row in given.slopes]
        self._curvatures = [[lowered(row) for row in rows] for rows in given.curvatures]

    def _at(self, values: list[Value], q: Sequence[Value]) -> list[Value]:
        return substitute(self.graph, values, replacing(self.variables, q))

    def values(self, q: Sequence[Value]) -> list[Value]:
        """Return the values at q."""
        return self._at(self._values, q)

    def slopes(self, q: Sequence[Value]) -> list[list[Value]]:
        """Return the slopes for each coordinate."""
        return [self._at(row, q) for row in self._slopes]

    def rates(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        """Return first derivatives by time, and second ones without accelerations of the coordinates."""
        first = [self.graph.value(0)] * len(self._values)
        second = list(first)
        for j, row in enumerate(self._slopes):
            first = [total + slope * qd[j] for total, slope in zip(first, self._at(row, q), strict=True)]
            for k, curved in enumerate(self._curvatures[j]):
                product = qd[j] * qd[k] * (1 if j == k else 2)
                second = [total + c * product for total, c in zip(second, self._at(curved, q), strict=True)]
        return first, second


class FormulaMotion(FrameMotion):
    """Displacement in the joint frame, then the rotation."""

    by_functions = True

    def __init__(self, lower: Lowering, formula: Formula) -> None:
        self.graph: Graph = lower.graph
        self._axes = [turn.axis for turn in formula.turns]
        self._by_vector, self._series = formula.vector is not None, formula.series
        angles = formula.vector if formula.vector is not None else [turn.angle for turn in formula.turns]
        self._displacement = _Lowered(Differentiated.of(formula.displacement, formula.symbols), lower, formula.symbols)
        self._angles = _Lowered(Differentiated.of(angles, formula.symbols), lower, formula.symbols)

    def displacement(self, q: Sequence[Value]) -> Vec:
        """Return the displacement as written."""
        return self._displacement.values(q)

    def arguments(self, q: Sequence[Value]) -> list[Value]:
        """Return the arguments of the displacement's components, then of the rotations."""
        return [*self._displacement.values(q), *self._angles.values(q)]

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Return the product of the rotations, or the rotation of the vector."""
        if self._by_vector:
            return Rotation((Matrix3(self._vector(q).matrix),))
        return Rotation(tuple(step for steps in self._rotates(q) for step in steps))

    def _vector(self, q: Sequence[Value]) -> RotationVector:
        return (RotationVector.of if self._series else RotationVector.beyond_zero)(self._angles.values(q))

    def _rotates(self, q: Sequence[Value]) -> list[tuple[AxisRotation, ...]]:
        return [_about(self.graph, axis, angle) for axis, angle in zip(self._axes, self._angles.values(q), strict=True)]

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Return slopes of the displacement, and the angular velocities by the slopes of the angles."""
        linear, angular = self._displacement.slopes(q), self._angles.slopes(q)
        if self._by_vector:
            vector = self._vector(q)
            return [(vector.velocity(rate), along) for rate, along in zip(angular, linear, strict=True)]
        turns = self._rotates(q)
        return [(self._chained(turns, rates)[0], along) for rates, along in zip(angular, linear, strict=True)]

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Return the acceleration by velocities alone."""
        _, along = self._displacement.rates(q, qd)
        rates, changes = self._angles.rates(q, qd)
        if self._by_vector:
            return self._vector(q).acceleration(rates, changes), along
        return self._chained(self._rotates(q), rates, changes)[1], along

    def _chained(
        self, turns: Sequence[tuple[AxisRotation, ...]], rates: Sequence[Value], changes: Sequence[Value] = ()
    ) -> tuple[Vec, Vec]:
        """Return the angular velocity in the rotated frame from the rates of the angles, and its rate from their changes."""
        graph = self.graph
        omega = epsilon = [graph.value(0)] * 3
        for steps, axis, rate, change in zip(turns, self._axes, rates, changes or [graph.value(0)] * len(rates), strict=True):
            turn, own = Rotation(steps), [graph.value(float(component)) for component in axis]
            carried, spin = turn.inward(omega), scale(own, rate)
            epsilon = add(add(turn.inward(epsilon), scale(own, change)), cross(carried, spin))
            omega = add(carried, spin)
        return omega, epsilon


def _about(graph: Graph, axis: Vector, angle: Value) -> tuple[AxisRotation, ...]:
    """Return the rotation about an axis: one step for a coordinate axis, else two more steps to that direction and back."""
    x, y, z = (float(component) for component in axis)
    c, s = graph.cos(angle), graph.sin(angle)
    for k, component in enumerate((x, y, z)):
        if abs(component) == 1.0:
            return (AxisRotation(k, c, s if component > 0 else -s),)
    across = math.hypot(x, y)
    there = [(2, x / across, y / across), (1, z, across)]  # z comes to lie on the axis
    turns = [AxisRotation(k, graph.value(cosine), graph.value(sine)) for k, cosine, sine in there]
    back = [AxisRotation(k, graph.value(cosine), graph.value(-sine)) for k, cosine, sine in reversed(there)]
    return (*turns, AxisRotation(2, c, s), *back)


class FormulaPlan(MotionPlan):
    """One frame by all coordinates, in the axes of its joint."""

    def __init__(self, formula: Formula) -> None:
        self.formula, self.size = formula, len(formula.coordinates)

    def unnoticed(self, J: Array) -> Array:
        """Without a rotation a body needs no second moments, as on a prismatic joint."""
        part = np.zeros((4, 4))
        if not self.formula.turns and self.formula.vector is None:
            part[:3, :3] = J[:3, :3]
        return part

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """Build the motion."""
        return FormulaMotion(lower, self.formula), rotation
