"""Equations of motion of SymPy's mechanics, M q'' = f(q, q'), as functions of the catalogue.

A row of joints lends its names; its masses take no part.
"""

from __future__ import annotations

import itertools
import math
import numbers
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.algorithms.solving.factorization import factorize
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.catalogue import Derived, flat
from elastogen.generator.functions.derivation import CATALOGUE, ModelDerivation, derive_model, program_of
from elastogen.generator.functions.function import Function
from elastogen.generator.functions.variants import Variant, VariantFamily
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.from_sympy import ExpressionLowering, LoweringError
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.robot.errors import OutputError, shortened
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Parameter, Robot

NAMES = (
    "mass_matrix", "coriolis_vector", "gravity_vector", "inertia_forces", "inverse_dynamics", "forward_dynamics",
    "kinetic_energy", "inverse_dynamics_derivatives",
)  # fmt: skip


@dataclass(frozen=True)
class GivenEquations:
    """M q'' = f in coordinates, their rates and parameters, all of them plain symbols."""

    coordinates: tuple[str, ...]
    q: tuple[sympy.Symbol, ...]
    qd: tuple[sympy.Symbol, ...]
    M: sympy.Matrix
    f: sympy.Matrix
    parameters: tuple[Parameter, ...]


def equations_of(method: Any, parameters: Mapping[Any, float], live: Iterable[Any]) -> GivenEquations:
    """The equations of a KanesMethod or LagrangesMethod; refuses what has constraints or no speed for each coordinate."""
    from sympy.physics.mechanics import KanesMethod, LagrangesMethod, dynamicsymbols

    if not isinstance(method, (KanesMethod, LagrangesMethod)):
        raise OutputError(
            f"from_mechanics: got {type(method).__name__}, expected a KanesMethod or LagrangesMethod of "
            "sympy.physics.mechanics."
        )
    if not isinstance(live, Iterable) or isinstance(live, Mapping):
        raise OutputError(f"from_mechanics: got live={live!r}, expected names of parameters, for example live=['m'].")
    M, f, coordinates, rates = _kane(method) if isinstance(method, KanesMethod) else _lagrange(method)
    clock = dynamicsymbols._t
    names = tuple(coordinate.func.__name__ for coordinate in coordinates)
    q, qd = (tuple(sympy.Dummy(f"{kind}[{k}]") for k in range(len(names))) for kind in ("q", "qd"))
    known = dict(zip(rates, qd, strict=True))
    known |= {coordinate.diff(clock): symbol for coordinate, symbol in zip(coordinates, qd, strict=True)}
    known |= dict(zip(coordinates, q, strict=True))
    M, f = (matrix.xreplace(known) for matrix in (M, f))
    M, f = _plainly_named(M, f, {*q, *qd, clock})
    inputs = {
        node: sympy.Symbol(node.func.__name__)
        for node in (M.atoms(AppliedUndef) | f.atoms(AppliedUndef))
        if node.args == (clock,)
    }
    if M.atoms(sympy.Derivative) | f.atoms(sympy.Derivative):
        raise OutputError(
            f"from_mechanics: {min(map(str, M.atoms(sympy.Derivative) | f.atoms(sympy.Derivative)))} is left in the equations, "
            "expected coordinates and their rates only. Fix: give inputs without derivatives"
        )
    M, f = (matrix.xreplace(inputs).xreplace({clock: sympy.Symbol(TIME)}) for matrix in (M, f))
    found = _parameters(M, f, {*q, *qd}, set(inputs.values()), parameters, {_name(key) for key in live})
    _check_inertia(M, q, {sympy.Symbol(p.name): p.value or float(p.live) for p in found}, names)
    return GivenEquations(names, q, qd, M, f, found)


def _name(key: Any) -> str:
    """The name of a symbol or of a function of time; a text as it is."""
    return key.func.__name__ if isinstance(key, AppliedUndef) else str(key)


def _check_inertia(
    M: sympy.Matrix, q: Sequence[sympy.Symbol], values: Mapping[sympy.Symbol, float], names: Sequence[str]
) -> None:
    """Refuse a mass matrix that no state makes regular: no accelerations follow from it."""
    chosen = random.Random(1)
    for _ in range(3):
        state = dict(values) | {symbol: chosen.uniform(0.2, 1.2) for symbol in q}
        try:
            at = np.array(M.xreplace(state).evalf(), dtype=float)
        except (TypeError, ValueError):  # functions without a value are named where they become C
            return
        size = np.sqrt(np.abs(np.diag(at)))
        if np.all(size > 0) and np.linalg.cond(at / np.outer(size, size)) < 1e13:
            return
    raise OutputError(
        f"from_mechanics: the mass matrix of {', '.join(names)} is singular at every state that was tried, expected inertia "
        "in each coordinate. Fix: give each a mass or an inertia, or leave out what follows from the others"
    )


def _plainly_named(M: sympy.Matrix, f: sympy.Matrix, state: set[sympy.Symbol]) -> tuple[sympy.Matrix, sympy.Matrix]:
    """The equations with symbols without assumptions; refuses two symbols of one name, and the name of the time."""
    given = sorted((M.free_symbols | f.free_symbols) - state, key=lambda symbol: str(symbol.name))
    for one, other in itertools.pairwise(given):
        if one.name == other.name:
            raise OutputError(
                f"from_mechanics: got two symbols {one.name} with other assumptions, expected one. Fix: make the symbol once, "
                "or rename one of them"
            )
    if any(symbol.name == TIME for symbol in given):
        raise OutputError(
            f"from_mechanics: got a symbol {TIME}, which is the name of the clock here, expected dynamicsymbols._t for the "
            "clock. Fix: rename the symbol"
        )
    plain = {symbol: sympy.Symbol(symbol.name) for symbol in given}
    return M.xreplace(plain), f.xreplace(plain)


def _kane(method: Any) -> tuple[sympy.Matrix, sympy.Matrix, list[Any], list[Any]]:
    """M and f of q'' by the speeds u = W (q' - k): W^T M_u W q'' = W^T (f_u - M_u W' ...)."""
    from sympy.physics.mechanics import dynamicsymbols

    q, u = list(method.q), list(method.u)
    if len(q) != len(u) or getattr(method, "_qdep", None) or getattr(method, "_udep", None):
        raise OutputError(
            f"from_mechanics: got {len(q)} coordinates and {len(u)} speeds, dependent ones among them, expected one "
            "independent speed for each coordinate. Fix: choose independent coordinates; constraints are for elastogen's loops"
        )
    try:
        M, f = method.mass_matrix, method.forcing
    except (ValueError, AttributeError):
        try:
            method.kanes_equations()
            M, f = method.mass_matrix, method.forcing
        except Exception as problem:
            raise OutputError(
                f"from_mechanics: the equations are not formed ({problem}). Fix: call kanes_equations(bodies, loads) first"
            ) from None
    clock = dynamicsymbols._t
    rates = method.kindiffdict()
    velocities = sympy.Matrix([rates[coordinate.diff(clock)] for coordinate in q])
    K = velocities.jacobian(u)
    if any(entry.has(*u) for entry in K):
        raise OutputError("from_mechanics: rates of coordinates are not linear in the speeds, expected q' = K(q) u + k.")
    if velocities == sympy.Matrix(u):
        return M, f, q, u
    speeds = [coordinate.diff(clock) for coordinate in q]
    W = K.inv(method="LU").applyfunc(sympy.simplify)
    by_rates = W * (sympy.Matrix(speeds) - velocities.subs(dict.fromkeys(u, 0)))  # u in terms of q and q'
    values = dict(zip(u, by_rates, strict=True))
    drift = by_rates.diff(clock).subs({speed.diff(clock): 0 for speed in speeds})  # u' less W q''
    M, f = M.subs(values), f.subs(values)
    return W.T * M * W, W.T * (f - M * drift), q, speeds


def _lagrange(method: Any) -> tuple[sympy.Matrix, sympy.Matrix, list[Any], list[Any]]:
    if len(method.coneqs):
        raise OutputError(
            f"from_mechanics: got {len(method.coneqs)} constraints, expected none. Fix: choose independent coordinates; "
            "mechanisms with loops are for elastogen's own description"
        )
    if not getattr(method, "eom", None):
        method.form_lagranges_equations()
    return method.mass_matrix, method.forcing, list(method.q), list(method._qdots)


def _parameters(
    M: sympy.Matrix,
    f: sympy.Matrix,
    state: set[sympy.Symbol],
    inputs: set[sympy.Symbol],
    given: Mapping[Any, float],
    live: set[str],
) -> tuple[Parameter, ...]:
    """All other symbols with their values: inputs are live, and zero unless given."""
    if not isinstance(given, Mapping):
        raise OutputError(f"from_mechanics: got parameters={shortened(given)}, expected a mapping from symbols to numbers.")
    values: dict[str, float] = {}
    for key, value in given.items():
        name = _name(key)
        if isinstance(value, sympy.Expr) and value.is_number and value.is_real:
            value = float(value)  # pi, sqrt(2)/3
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(float(value)):
            raise OutputError(f"from_mechanics: got {value!r} for {name}, expected a finite number.")
        values[name] = float(value)
    used = sorted({symbol.name for symbol in (M.free_symbols | f.free_symbols) - state})
    free = {symbol.name for symbol in inputs} | {TIME}
    missing = [name for name in used if name not in values and name not in free]
    if missing:
        raise OutputError(
            f"from_mechanics: no value for {', '.join(missing)}. Fix: parameters={{{missing[0]!r}: 1.0, ...}}; live=[...] "
            "keeps some of them inputs of the C"
        )
    if unknown := (set(values) - set(used)) | (live - set(used)):
        raise OutputError(
            f"from_mechanics: {', '.join(sorted(unknown))} does not occur in the equations, expected some of {used}."
        )
    return tuple(Parameter(name, values.get(name, 0.0), live=name in live or name in free) for name in used)


def skeleton(given: GivenEquations, name: str) -> Robot:
    """A row of joints with the names of the coordinates, and the parameters of the equations."""
    names = ["base", *(f"part{k + 1}" for k in range(len(given.q)))]
    links = [{"name": "base"}, *({"name": part, "mass": 1.0} for part in names[1:])]
    joints = [
        {"name": coordinate, "type": "prismatic", "parent": names[k], "child": names[k + 1], "axis": [1, 0, 0]}
        for k, coordinate in enumerate(given.coordinates)
    ]
    robot = load({"elastogen": 1, "name": name, "gravity": [0, 0, 0], "links": links, "joints": joints})
    own = {parameter.name: parameter for parameter in given.parameters if parameter.name != TIME}
    robot = replace(robot, parameters=own)
    if any(parameter.name == TIME for parameter in given.parameters):
        from elastogen.generator.robot.own.terms import symbol

        robot = robot.with_terms(name="clock", forces={given.coordinates[0]: symbol(TIME)})  # so that simulations set it
    return robot


def derivation_of(given: GivenEquations, name: str) -> ModelDerivation:
    """What is emitted: M, f and what follows from them."""
    robot = skeleton(given, name)
    variant = VariantFamily(robot).plain()
    functions = []
    for each in NAMES:
        entry = CATALOGUE[each]
        with variant.graph.apart():
            program = program_of(entry, variant, _derived(each, variant, given), ())
        functions.append(Function(entry.name, entry.brief, program, ()))
    return replace(derive_model(robot, ("mass_matrix",)), functions=tuple(functions))


def _derived(name: str, variant: Variant, given: GivenEquations) -> Derived:
    graph = variant.graph
    q, qd, qdd = (variant.input(key) for key in ("q", "qd", "qdd"))
    known = dict(zip((*given.q, *given.qd), (*q, *qd), strict=True))
    known |= {sympy.Symbol(p.name): graph.input(p.name) if p.live else graph.value(p.value) for p in given.parameters}
    lower = ExpressionLowering(graph, known)
    try:
        M = [[lower(given.M[r, c]) for c in range(len(q))] for r in range(len(q))]
        rest = [-lower(entry) for entry in given.f]
    except LoweringError as problem:
        raise OutputError(f"from_mechanics: the equations cannot become C: {problem}.") from None
    at_rest = substitute(graph, rest, replacing(qd, variant.zeros()))
    moving = [a - b for a, b in zip(rest, at_rest, strict=True)]

    def accelerated(forces: list[Value]) -> list[Value]:
        return [sum((m * a for m, a in zip(row, qdd, strict=True)), force) for row, force in zip(M, forces, strict=True)]

    if name == "mass_matrix":
        return Derived((flat(M),))
    if name == "coriolis_vector":
        return Derived((moving,))
    if name == "gravity_vector":
        return Derived((at_rest,))
    if name == "inertia_forces":
        return Derived((accelerated(moving),))
    if name == "kinetic_energy":
        return Derived(
            (
                [
                    sum(
                        (0.5 * m * a * b for row, a in zip(M, qd, strict=True) for m, b in zip(row, qd, strict=True)),
                        graph.value(0),
                    )
                ],
            )
        )
    if name == "inverse_dynamics":
        return Derived((accelerated(rest),))
    if name == "inverse_dynamics_derivatives":
        forces = accelerated(rest)
        return Derived(tuple(flat(jacobian(graph, forces, by)) for by in (q, qd, qdd)))
    factors = factorize(M, [k - 1 for k in range(len(q))])
    return Derived((factors.solve([f - r for f, r in zip(variant.input("F"), rest, strict=True)]),), factors.pivots)
