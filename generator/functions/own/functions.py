"""The user's own functions as entries of the catalogue: expressions lowered, calls of other functions inserted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.algorithms.solving.factorization import factorize
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation
from elastogen.generator.functions.own.calls import SOLVE
from elastogen.generator.functions.variants import Variant, VariantFamily
from elastogen.generator.program.arguments import POSITIONS
from elastogen.generator.program.differentiate import has_kinks, jacobian, pulled_back
from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.own.functions import OwnFunction
from elastogen.generator.robot.own.terms import Symbols
from elastogen.generator.spatial.vectors import Mat
from elastogen.runtime.interface.argument import Argument

ARRANGED = ("points", "physical", "grounded", "contacts")  # frame assignments of their own; the others serve one another


def own_entries(family: VariantFamily, catalogue: Mapping[str, Entry]) -> dict[str, Entry]:
    """An entry for each of the robot's own functions."""
    return {function.name: _entry(family, catalogue, function) for function in family.robot.functions}


def _entry(family: VariantFamily, catalogue: Mapping[str, Entry], function: OwnFunction) -> Entry:
    own = {name: Argument(name, shape, "", "input") for name, shape in function.inputs.items()}
    called = _called(function)
    for name in called - {SOLVE}:
        family.frame_assignments(catalogue[name].frame_assignment)  # made before anything is derived apart
    dynamic = any(catalogue[name].frame_assignment == "dynamic" for name in called - {SOLVE})
    sizes = {name: argument.size for name, argument in own.items()}
    return Entry(
        function.name, function.doc or f"Own function {function.name}.", (*function.state, *own),
        lambda variant: _outputs(function, variant, sizes), _formulations(family, catalogue, function),
        "dynamic" if dynamic else "kinematic", explore=True, largest=100 if dynamic else 10, finalists=4, own_inputs=own,
    )  # fmt: skip


def _called(function: OwnFunction) -> set[str]:
    """Names of the functions that it calls."""
    found = set()
    for block in function.outputs.values():
        for element in block.elements:
            found |= {call.func.__name__.partition(".")[0] for call in element.atoms(AppliedUndef)}
    return found


def _outputs(function: OwnFunction, variant: Variant, sizes: Mapping[str, int]) -> tuple[Argument, ...]:
    if not function.by:
        return tuple(Argument(name, block.shape, "", "output") for name, block in function.outputs.items())
    rows = []
    for name, block in function.outputs.items():
        for by in function.by:
            shape = (len(block.elements), sizes.get(by, variant.size))
            rows.append(Argument(f"d{name}_d{by}", shape, "", f"derivatives of {name} by {by}"))
    return tuple(rows)


def _formulations(family: VariantFamily, catalogue: Mapping[str, Entry], function: OwnFunction) -> tuple[Formulation, ...]:
    """Forward derivatives and, for a few numbers by many inputs, backward ones; the cheaper is kept."""
    numbers = sum(len(block.elements) for block in function.outputs.values())
    directions = (_forward, _backward) if function.by and numbers < len(family.robot.velocities) else (_forward,)
    return tuple(partial(_derive, family, catalogue, function, direction) for direction in directions)


def _forward(variant: Variant, values: Sequence[Value], by: str, variables: Sequence[Value]) -> Mat:
    return variant.by_position(values) if by == "q" else jacobian(variant.graph, values, variables)


def _backward(variant: Variant, values: Sequence[Value], by: str, variables: Sequence[Value]) -> Mat:
    if has_kinks(variant.graph, values):
        return _forward(variant, values, by, variables)
    graph, q = variant.graph, variant.input("q")
    inputs = q if by == "q" else variables
    rows = [pulled_back(graph, [value], [graph.value(1)], inputs) for value in values]
    return [variant.mechanism.forces_of(q, row) for row in rows] if by == "q" else rows


def _derive(
    family: VariantFamily,
    catalogue: Mapping[str, Entry],
    function: OwnFunction,
    differentiated: Callable[[Variant, Sequence[Value], str, Sequence[Value]], Mat],
    variant: Variant,
) -> Derived:
    lowering = _Lowering(family, catalogue, function, variant)
    blocks = [[lowering(element) for element in block.elements] for block in function.outputs.values()]
    if not function.by:
        return Derived(tuple(blocks), lowering.pivots)
    outputs = []
    for values in blocks:
        for by in function.by:
            rows = differentiated(variant, values, by, lowering.variables[by])
            outputs.append([value for row in rows for value in row])
    return Derived(tuple(outputs), lowering.pivots)


def _in_robot_order(variant: Variant, name: str) -> list[Value]:
    """An input in the user's order; mechanisms have the last number of a quaternion at the end."""
    values = variant.input(name)
    return variant.mechanism.in_robot_order(values) if name in POSITIONS else values


class _Lowering:
    """Values of a function's expressions in a frame assignment; equal calls are derived once."""

    def __init__(self, family: VariantFamily, catalogue: Mapping[str, Entry], function: OwnFunction, variant: Variant) -> None:
        self.family, self.catalogue, self.variant, self.function = family, catalogue, variant, function
        self.pivots: list[Value] = []
        self._calls: dict[tuple[str, tuple[int, ...]], list[list[Value]]] = {}
        graph, robot = variant.graph, family.robot
        symbols = Symbols(robot)
        self.variables = {name: _in_robot_order(variant, name) for name in ("q", "qd", "qdd")}
        for name, shape in function.inputs.items():
            self.variables[name] = [graph.input(f"{name}[{k}]") for k in range(int(sympy.prod(shape)))]
        values = {p.symbol: graph.input(p.name) if p.live else graph.value(p.value) for p in robot.parameters.values()}
        for kind in ("q", "qd", "qdd"):
            values |= dict(zip(getattr(symbols, kind), self.variables[kind], strict=True))
        for name in function.inputs:
            for k, value in enumerate(self.variables[name]):
                values[sympy.Symbol(f"{name}[{k}]", real=True)] = value
        self._lower = ExpressionLowering(graph, values, self._call)

    def __call__(self, expression: sympy.Expr) -> Value:
        return self._lower(expression)

    def _call(self, node: AppliedUndef, arguments: Sequence[Value]) -> Value:
        name, output, element = node.func.__name__.split(".")
        key = (name if name != SOLVE else f"{SOLVE}.{output}", tuple(value.ref for value in arguments))
        if key not in self._calls:
            self._calls[key] = [self._solve(int(output), arguments)] if name == SOLVE else self._inlined(name, arguments)
        return self._calls[key][0 if name == SOLVE else int(output)][int(element)]

    def _solve(self, n: int, arguments: Sequence[Value]) -> list[Value]:
        """x of A x = b from the lower triangle of A and b."""
        place = {(r, c): r * (r + 1) // 2 + c for r in range(n) for c in range(r + 1)}
        A = [[arguments[place[max(r, c), min(r, c)]] for c in range(n)] for r in range(n)]
        factors = factorize(A, range(-1, n - 1))
        self.pivots += [pivot for pivot in factors.pivots if pivot.ref not in {known.ref for known in self.pivots}]
        return factors.solve(arguments[-n:])

    def _inlined(self, name: str, arguments: Sequence[Value]) -> list[list[Value]]:
        """A function of the catalogue, with values as its inputs."""
        entry = self.catalogue[name]
        variant = self._frame_assignment(entry)
        derived = entry.first_formulation(variant)(variant)
        graph = variant.graph
        inputs: list[Value] = []
        for key in entry.inputs:
            single = {"wrench": 6, "wrenches": 6 * len(variant.pointed.points) if entry.frame_assignment in ARRANGED else 0}
            one = key in ("delta_m", "delta_theta", "tau")
            size = 1 if one else single.get(key)
            inputs += _in_robot_order(variant, key) if size is None else variant.input(key, size)
        if self.family.selectors and "q" in entry.inputs:
            first = variant.size * entry.inputs.index("q")
            given = [value.ref for value in arguments[first : first + variant.size]]
            if given != [value.ref for value in self.variables["q"]]:
                raise OutputError(
                    f"{self.function.name}: {name} of {self.family.robot.name} must be called with s.q: which element "
                    "of a beam is inside a sliding joint is found at q"
                )
        known = replacing(inputs, arguments)
        values = [list(block) for block in derived.outputs]
        flat = substitute(graph, [value for block in (*values, list(derived.pivots)) for value in block], known)
        result, start = [], 0
        for block in values:
            result.append(flat[start : start + len(block)])
            start += len(block)
        self.pivots += flat[start:]
        return result

    def _frame_assignment(self, entry: Entry) -> Variant:
        """The present frame assignment if it suffices, else the user's frames with the same merging of parallel axes."""
        if entry.frame_assignment == "dynamic" or (
            entry.frame_assignment == "kinematic" and entry.frame_assignment == self._own_frame_assignment
        ):
            return self.variant
        if entry.frame_assignment in ARRANGED:
            return self.family.frame_assignments(entry.frame_assignment)[0]
        return self.family.plain(merge=self.variant.merge) if entry.frame_assignment == "kinematic" else self.family.plain()

    @property
    def _own_frame_assignment(self) -> str:
        return "kinematic" if self.variant in self.family.frame_assignments("kinematic") else "dynamic"
