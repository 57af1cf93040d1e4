"""The formula joint: its user writes displacement and rotation as expressions in coordinates and parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import sympy

from elastogen.generator.derivation_errors import NumberError
from elastogen.generator.joints.by_formula import elementary
from elastogen.generator.joints.by_formula.motion import FormulaMotion, FormulaPlan
from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.helical import HelicalPlan
from elastogen.generator.joints.prismatic import PrismaticPlan
from elastogen.generator.joints.revolute import RevolutePlan
from elastogen.generator.program.from_sympy import ExpressionLowering, LoweringError
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.interpret import DOUBLES, interpret
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Key, Screw
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.own.formula import Formula, read_formula
from elastogen.generator.robot.placement import from_axis_angle, product, transform
from elastogen.generator.robot.robot import Actuation, Joint, Limits, Matrix, Parameter, Robot, Scalar, Vector

SAMPLES = 12  # places where the joint is asked whether it moves
SINGULAR = 1e-9  # smallest singular value of unit twists, relative to the largest

AXES: tuple[Vector, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_EXPRESSION: dict[str, Any] = {"type": ["number", "string"]}
_THREE = {"type": "array", "items": _EXPRESSION, "minItems": 3, "maxItems": 3}
_TURN = {
    "type": "object", "properties": {"axis": _THREE, "angle": _EXPRESSION}, "required": ["axis", "angle"],
    "additionalProperties": False,
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class FormulaJoint(JointKind):
    """``T(q) = Trans(displacement) . Rot``; the only kind whose joints differ by more than numbers."""

    formula: Formula = field(default_factory=Formula)

    name = "formula"
    keys: ClassVar[tuple[Key, ...]] = (
        Key("coordinates", "names of its coordinates with their units, rad or m", shape="written",
            schema={"type": "object", "additionalProperties": {"enum": ["rad", "m"]}}),
        Key("displacement", "expressions of coordinates and parameters", shape="written", unit="m", default=(), schema=_THREE),
        Key("rotation", "rotation vector, expressions", shape="written", unit="rad", default=(), schema=_THREE),
        Key("turns", "instead of rotation: rotations about fixed axes, outermost first", shape="written", default=(),
            schema={"type": "array", "items": _TURN}),
    )  # fmt: skip
    takes: ClassVar[tuple[str, ...]] = ("placement", "limits", "motor", "friction")

    def described(self, given: Mapping[str, Any], parameters: Mapping[str, Parameter], where: Location) -> JointKind:
        """Return the kind of one joint."""
        return FormulaJoint(read_formula(given, parameters, where))

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """Return the coordinates as declared; a single one has the joint's name."""
        named = self.formula.coordinates
        return tuple(JointCoordinate(unit, name if len(named) > 1 else "") for name, unit in named)

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """Return the screws if each coordinate rotates or displaces by itself."""
        return elementary.screws(self.formula)

    def factors(self, joint: Joint) -> tuple[Screw, ...]:
        """Return the displacement along x, y and z, then the rotations; a rotation vector is not a product of fixed screws."""
        if self.formula.vector is not None:
            return ()
        along = (Screw(axis, turns=False, advance=1) for axis in AXES)
        turns = (Screw(turn.axis, turns=True, advance=0) for turn in self.formula.turns)
        return self.screws(joint) or (*along, *turns)

    @property
    def for_reading(self) -> JointKind:
        """Return readable expressions with sine and cosine of the rotation vector's length, which must not be zero there."""
        return FormulaJoint(replace(self.formula, series=False))

    def pose(self, joint: Joint, values: Sequence[Scalar]) -> Matrix:
        """Return the expressions at these values."""
        known = dict(zip(self.formula.symbols, (sympy.sympify(value) for value in values), strict=True))

        def at(expressions: Sequence[sympy.Expr]) -> Vector:
            x, y, z = (_scalar(expression.xreplace(known)) for expression in expressions)
            return (x, y, z)

        total = transform(((1, 0, 0), (0, 1, 0), (0, 0, 1)), at(self.formula.displacement))
        for turn in self.formula.turns:
            total = product(total, from_axis_angle(turn.axis, _scalar(turn.angle.xreplace(known))))
        if self.formula.vector is not None:
            x, y, z = at(self.formula.vector)
            angle = _scalar(sympy.sqrt(sympy.sympify(x * x + y * y + z * z)))
            if angle != 0:
                total = product(total, from_axis_angle((x / angle, y / angle, z / angle), angle))
        return total

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """Return the plans of built-in kinds if they apply, else one frame by the formula."""
        return tuple(_plan(screw) for screw in self.screws(joint)) or (FormulaPlan(self.formula),)

    def check(self, robot: Robot, joint: Joint, where: Location) -> None:
        """Check that expressions can be emitted as C and that every coordinate moves something."""
        super().check(robot, joint, where)
        if len(self.formula.coordinates) > 1:
            given = {"limits": joint.limits != Limits(), "motor": joint.actuation != Actuation()}
            for key in (key for key, is_given in given.items() if is_given):
                expected = f"no {key} for a formula joint with several coordinates"
                raise where.at(key).error(key, expected, "chain joints with one coordinate each, or use terms")
        self._check_code(robot, where)
        self._check_motion(robot, joint, where.at("coordinates"))

    def _check_code(self, robot: Robot, where: Location) -> None:
        graph = Graph()
        for key, expression in self.formula.expressions.items():
            lower = ExpressionLowering(graph, {s: graph.input(str(s)) for s in expression.free_symbols})
            try:
                lower(expression)
            except LoweringError as problem:
                raise where.at(*key).error(expression, "an expression that can become C", str(problem)) from None
            strange = expression.free_symbols - set(self.formula.symbols) - {p.symbol for p in robot.parameters.values()}
            if strange:
                raise where.at(*key).error(str(sorted(strange, key=str)[0]), "coordinates and parameters", "declare it")

    def _check_motion(self, robot: Robot, joint: Joint, where: Location) -> None:
        """Refuse coordinates that move nothing anywhere, or the same as others do."""
        twists = [columns for columns in self._sampled_twists(robot, joint, where) if np.isfinite(columns).all()]
        if not twists:
            fix = "check roots, logarithms and divisions between the limits"
            raise where.error("no real value anywhere", "expressions that are real and finite", fix)
        names = [name for name, _ in self.formula.coordinates]
        for k, name in enumerate(names):
            if max(float(np.abs(columns[:, k]).max()) for columns in twists) < SINGULAR:
                raise where.error(name, "coordinates that move the joint", f"use {name} in an expression, or remove it")
        if max(_independence(columns) for columns in twists) < SINGULAR:
            expected = "coordinates with independent motions somewhere"
            raise where.error(", ".join(names), expected, "remove one: the mass matrix would be singular everywhere")

    def _sampled_twists(self, robot: Robot, joint: Joint, where: Location) -> list[np.ndarray]:
        """Return 6 x n twists at random places between the limits."""
        graph = Graph()
        try:
            motion = FormulaMotion(Lowering(graph, robot), self.formula)
        except LoweringError as problem:
            raise where.error("a derivative without C", "expressions that can be differentiated", str(problem)) from None
        q = [graph.input(f"q[{k}]") for k in range(len(self.formula.coordinates))]
        try:
            values = [value for angular, linear in motion.twists(q) for value in (*angular, *linear)]
        except NumberError:
            fix = "write smaller numbers; units are SI and radians"
            raise where.error("numbers whose products are not finite", "a motion of the size of a robot", fix) from None
        order = graph.cone(value.ref for value in values)
        fixed = {p.name: p.value for p in robot.live_parameters}
        rng = np.random.default_rng(0)
        found = []
        for _ in range(SAMPLES):
            place = {
                f"q[{k}]": np.float64(_between(rng, unit, joint.limits)) for k, (_, unit) in enumerate(self.formula.coordinates)
            }
            with np.errstate(all="ignore"):
                results = interpret(graph, order, {**fixed, **place}, DOUBLES)
            flat = np.array([float(results.read(value.ref)) for value in values])
            found.append(flat.reshape(len(q), 6).T)
        return found


def _between(rng: np.random.Generator, unit: str, limits: Limits) -> float:
    far = math.pi if unit == "rad" else 1.0
    low = -far if limits.lower is None else limits.lower
    high = max(low, far) if limits.upper is None else limits.upper
    return float(rng.uniform(low, high))


def _independence(columns: np.ndarray) -> float:
    """Return the smallest singular value of the columns at unit length."""
    lengths = np.linalg.norm(columns, axis=0)
    return 0.0 if lengths.min() < SINGULAR else float(np.linalg.svd(columns / lengths, compute_uv=False).min())


def _plan(screw: Screw) -> MotionPlan:
    if not screw.turns:
        return PrismaticPlan(screw.axis)
    return RevolutePlan(screw.axis) if screw.advance == 0 else HelicalPlan(screw.axis, screw.advance)


def _scalar(expression: sympy.Expr) -> Scalar:
    if expression.is_Integer:
        return int(expression)
    return float(expression) if expression.is_number else expression
