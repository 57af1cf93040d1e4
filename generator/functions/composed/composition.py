"""Functions of robots with dense modes that call other functions in C, so that their long loops are emitted once.

    inertia_forces      Newton-Euler, with the weight times 0
    inverse_dynamics    Newton-Euler, with the weight times 1, elastic and friction forces
    forward_dynamics    M qdd = F - inverse_dynamics(q, qd, 0), by elimination

Each has a program as before, which is compared with the description; here it is compared with what C is to compute, at the
same states. Where they differ, as with friction that grows with the load, or where it costs much less, the program is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from elastogen.generator.bodies.shaped_body import dense_modes
from elastogen.generator.functions.catalogue import Derived, Entry
from elastogen.generator.functions.function import Function
from elastogen.generator.functions.variants import Variant, VariantFamily
from elastogen.generator.program.arguments import vector
from elastogen.generator.program.program import OperationCount, Program
from elastogen.generator.reference.self_check import SelfCheck
from elastogen.runtime.interface.argument import Argument

NEWTON_EULER = "newton_euler"
WEIGHT = Argument("weight", (1,), "of gravity: 0 or 1", "")
TOLERANCE = 1e-9  # relative: of a program and of what C computes in its place
PARTS = {
    "inertia_forces": ("inverse_dynamics", "elastic_forces", "friction_forces"),
    "inverse_dynamics": ("inertia_forces", "elastic_forces", "friction_forces"),
    "forward_dynamics": ("mass_matrix", "inverse_dynamics"),
}
"""What has to be emitted as well."""
WORTH = 1.75  # times the operations of its own program: with more, forward_dynamics is not worth the bytes that it saves


@dataclass(frozen=True)
class Composition:
    """How C composes a function: see build/c/composition.py."""

    functions: Mapping[str, Function]  # of the model, by name; those that come later, too
    newton_euler: Function  # with a weight as its last input
    own: OperationCount
    replaces: bool = True  # whether it takes the place of the function's program

    def count(self, name: str) -> OperationCount:
        """Operations of a function, with those of all its calls."""
        if not self.replaces:
            return self.functions[name].program.count
        if name in ("inertia_forces", "inverse_dynamics"):
            called = [self.newton_euler.count]
            called += [self.functions[part].count for part in PARTS[name][1:] if name == "inverse_dynamics"]
        else:
            called = [self.functions[part].count for part in PARTS[name]]
        total = self.own
        for count in called:
            total = total.plus(count)
        return total


@dataclass
class Composer:
    """Decides for the functions of one model, as they are derived."""

    family: VariantFamily
    names: tuple[str, ...]
    check: SelfCheck
    derive: Callable[[VariantFamily, Entry], Function]
    functions: dict[str, Function] = field(default_factory=dict)
    _newton_euler: Function | None = None

    def take(self, function: Function) -> Function:
        """The function to emit."""
        made = self._composed(function) if self._is_possible(function) else function
        self.functions[function.name] = made
        return made

    def _is_possible(self, function: Function) -> bool:
        robot = self.family.robot
        if not dense_modes(robot) or robot.loops or function.selectors or function.program.in_tables is None:
            return False
        return all(part in self.names for part in PARTS.get(function.name, ("",)))

    def _composed(self, function: Function) -> Function:
        if self._newton_euler is None:
            self._newton_euler = self.derive(self.family, _ENTRY)
        n = function.outputs[0].size
        made = Composition(self.functions, self._newton_euler, _own_operations(function.name, n))
        if function.name == "forward_dynamics" and made.count(function.name).cost > WORTH * function.program.count.cost:
            return function
        arguments = self.check.samples[0].arguments
        found = _evaluated(function.program, arguments, self.check.parameters)
        put_together = self._values(function.name, arguments)
        if np.abs(found - put_together).max() > TOLERANCE * np.abs(found).max():
            shared = function.name == "inverse_dynamics" and self.functions["inertia_forces"].composition is not None
            return replace(function, composition=replace(made, replaces=False)) if shared else function
        return replace(function, composition=made)

    def _values(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """What C is to compute."""

        def forces(at: Mapping[str, Any], weight: float) -> Any:
            assert self._newton_euler is not None
            count = len(at["q"])
            return _evaluated(self._newton_euler.program, {**at, "weight": np.full((count, 1), weight)}, self.check.parameters)

        def called(part: str, at: Mapping[str, Any]) -> Any:
            return _evaluated(self.functions[part].program, at, self.check.parameters)

        if name == "inertia_forces":
            return forces(arguments, 0.0)
        if name == "inverse_dynamics":
            return forces(arguments, 1.0) + called("elastic_forces", arguments) + called("friction_forces", arguments)
        rest = {**arguments, "qdd": np.zeros_like(arguments["qdd"])}
        rows = arguments["F"] - called("inverse_dynamics", rest)
        return np.linalg.solve(called("mass_matrix", arguments), rows[..., None])[..., 0]


def _evaluated(program: Program, arguments: Mapping[str, Any], parameters: Mapping[str, float]) -> Any:
    (argument, _), count = program.outputs[0], len(arguments["q"])
    values = program.evaluate({a.name: arguments[a.name] for a in program.inputs}, parameters)[argument.name]
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (count, *argument.shape))


def _own_operations(name: str, n: int) -> OperationCount:
    if name == "inverse_dynamics":
        return OperationCount(add=2 * n)
    if name == "forward_dynamics":
        pairs, entries = n * (n - 1) // 2, (n - 1) * n * (n + 1) // 6
        return OperationCount(mul=entries + 4 * pairs + n, add=entries + 2 * pairs + n, div=n)
    return OperationCount()


def _forces(variant: Variant) -> Derived:
    (weight,) = variant.input("weight", 1)
    gravity = [weight * g for g in variant.mechanism.gravity]
    return Derived((variant.forces(variant.input("q"), variant.input("qd"), variant.input("qdd"), gravity),))


_ENTRY = Entry(
    NEWTON_EULER,
    "M qdd + C qd, and G times the weight.",
    ("q", "qd", "qdd", "weight"),
    lambda variant: (vector("Q", variant.size, "N m or N", "forces"),),
    (_forces,),
    "dynamic",
    own_inputs={"weight": WEIGHT},
)
