"""Prints the functions of a robot's model as C, and their shared tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import elastogen
from elastogen.build.c import elements as c_elements
from elastogen.build.c.association import for_few_registers
from elastogen.build.c.body import FunctionBody
from elastogen.build.c.composition import composed_lines
from elastogen.build.c.dialect import Dialect, parameter_list
from elastogen.build.c.function import print_body
from elastogen.build.c.loops.direct_results import VECTORS
from elastogen.build.c.tables.pool import Pool
from elastogen.build.files.contexts import FunctionText, Identity, PartText, Prototype
from elastogen.build.identity import model_sha256
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Composition, Function, Signature
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.abi import ABI_VERSION


class FunctionPrinter:
    """Prints the functions of a robot's model, each once."""

    def __init__(self, robot: Robot, options: EmitOptions) -> None:
        name = robot.name
        self.sha256 = model_sha256(robot, options)
        self.identity = Identity(name, name.upper(), options.precision, ABI_VERSION, elastogen.__version__, self.sha256)
        self.dialect = Dialect(name, options.precision, options.sincos)
        self.pool = Pool(name, options.precision)
        self._live = [parameter.name for parameter in robot.live_parameters]
        self._printed: dict[str, list[tuple[Prototype, FunctionBody]]] = {}
        self._chosen: dict[str, Function] = {}

    def chosen(self, model: ModelDerivation) -> ModelDerivation:
        """Return the model with its functions as they are printed; in single precision sums have the order chosen for it."""
        if self.dialect.real != "float":
            return model
        new = tuple(function for function in model.functions if function.name not in self._chosen)
        self._chosen |= {function.name: function for function in for_few_registers(replace(model, functions=new)).functions}
        return replace(model, functions=tuple(self._chosen[function.name] for function in model.functions))

    def bodies(self, function: Function) -> list[tuple[Prototype, FunctionBody]]:
        """Return the C bodies of a function."""
        if function.name not in self._printed:
            self._printed[function.name] = _function_bodies(function, self.dialect, self._live, self.pool)
        return self._printed[function.name]

    def print_all(self, model: ModelDerivation) -> None:
        """Print all functions of a model; their tables share rows where possible."""
        for function in model.functions:
            self.bodies(function)
        if self.pool.asked:
            self.pool = self.pool.longest_first()
            self._printed.clear()

    def texts(self, function: Function) -> list[FunctionText]:
        """Return the bodies as a template needs them."""
        return [_function_text(prototype, body) for prototype, body in self.bodies(function)]


def prototype_of(function: Signature, dialect: Dialect) -> Prototype:
    """Return the declaration of a function in the header."""
    returns = "int" if function.can_fail else "void"
    return Prototype(returns, f"{dialect.prefix}_{function.name}", parameter_list(function.inputs, function.outputs, dialect))


def in_prototype(function: Function, dialect: Dialect) -> Prototype:
    """Return the declaration of the function for given elements inside sliding joints."""
    parameters, *arguments = parameter_list(function.inputs, function.outputs, dialect)
    k = f"const int k[{len(function.selectors)}]"
    return Prototype("int", f"{dialect.prefix}_{c_elements.in_name(function)}", (parameters, k, *arguments))


def _function_bodies(
    function: Function, dialect: Dialect, live: Sequence[str], pool: Pool
) -> list[tuple[Prototype, FunctionBody]]:
    """Print a function; with sliding joints also those for given indicators and elements, and one that chooses these."""
    program = function.program
    if function.composition is not None:
        return _composed_bodies(function, function.composition, dialect, live, pool)
    if not function.selectors:
        return [(prototype_of(function, dialect), print_body(program, function.name, dialect, live, pool))]
    name, returns = c_elements.held_name(function), "static int" if program.pivots else "static void"
    held = Prototype(returns, f"{dialect.prefix}_{name}", parameter_list(program.inputs, function.outputs, dialect))
    return [
        (held, print_body(program, name, dialect, live, pool)),
        (in_prototype(function, dialect), FunctionBody(c_elements.in_lines(function, dialect))),
        (prototype_of(function, dialect), FunctionBody(c_elements.chosen_lines(function, dialect))),
    ]


def _composed_bodies(
    function: Function, composition: Composition, dialect: Dialect, live: Sequence[str], pool: Pool
) -> list[tuple[Prototype, FunctionBody]]:
    """Print a function that calls others; functions that share Newton-Euler are emitted after the last of them."""
    if function.name == "inertia_forces":
        return []
    found = []
    if function.name == "inverse_dynamics":
        core, sharing = composition.newton_euler, composition.functions["inertia_forces"]
        static = replace(prototype_of(core, dialect), returns="static void")
        found = [
            (static, print_body(core.program, core.name, dialect, live, pool)),
            (prototype_of(sharing, dialect), FunctionBody(composed_lines(sharing, dialect))),
        ]
    body = FunctionBody(composed_lines(function, dialect))
    if not composition.replaces:
        body = print_body(function.program, function.name, dialect, live, pool)
    return [*found, (prototype_of(function, dialect), body)]


def _function_text(prototype: Prototype, body: FunctionBody) -> FunctionText:
    parts = (PartText(Prototype("void", part.name, part.parameters), part.comment, part.lines) for part in body.parts)
    lanes = tuple(sorted({part.lanes for part in body.parts} - {0}))
    return FunctionText(prototype, body.lines, tuple(parts), body.work_type, body.work_fields, body.legend, lanes=lanes)


def vectors_of(functions: Sequence[FunctionText]) -> tuple[tuple[int, str], ...]:
    """Return the vectors that functions compute with: numbers of lanes and names in C."""
    return tuple((lanes, VECTORS[lanes]) for lanes in sorted({lanes for function in functions for lanes in function.lanes}))
