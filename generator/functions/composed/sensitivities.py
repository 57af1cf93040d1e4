"""First and second derivatives of any function of the catalogue by all its inputs, for optimizers and learning.

With x the inputs one after the other and y the outputs one after the other, flattened row by row:

- ``<function>_sensitivity``: J = dy/dx;
- ``<function>_adjoint``: J^T w for weights w, one for each number of y, in one pass backward;
- ``<function>_hessian``: d(J^T w)/dx, the Hessian of w^T y.

The change of q has nq numbers, one for each coordinate: those of a quaternion count one by one. With ``_by_parameters`` behind
the name, x ends with the live parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, flat
from elastogen.generator.functions.composed.solved_accelerations import is_solved, solved_formulations
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.differentiate import directional, jacobian, seed, weighted_gradient
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.dense_matrices import mirrored
from elastogen.runtime.interface.argument import Argument

WEIGHTS = "output_weights"
PARAMETERS = "_by_parameters"


@dataclass(frozen=True)
class _Sensitivity:
    """One of the three: its description, its further inputs, its shape, and its values."""

    brief: str
    weighted: bool
    result: Callable[[int, int], Argument]  # from the numbers of inputs and outputs
    values: Callable[[Variant, list[Value], list[Value], list[Value]], list[Value]]  # y, x, w


def _hessian(variant: Variant, y: list[Value], x: list[Value], w: list[Value]) -> list[Value]:
    graph, gradient = variant.graph, weighted_gradient(variant.graph, y, w, x)
    along = [[graph.value(0)] * k + directional(graph, gradient[k:], seed(each, graph.one)) for k, each in enumerate(x)]
    return flat(mirrored(along))  # the Hessian of a number is symmetric


KINDS = {
    "_sensitivity": _Sensitivity(
        "Jacobian of {} by all its inputs, one after the other.",
        False,
        lambda n, m: Argument("dy_dx", (m, n), "", "rows: outputs, columns: inputs, one after the other"),
        lambda variant, y, x, w: flat(jacobian(variant.graph, y, x)),
    ),
    "_adjoint": _Sensitivity(
        "Gradient by all inputs of the weighted sum of the outputs of {}.",
        True,
        lambda n, m: Argument("gradient", (n,), "", "by the inputs, one after the other"),
        lambda variant, y, x, w: weighted_gradient(variant.graph, y, w, x),
    ),
    "_hessian": _Sensitivity(
        "Hessian by all inputs of the weighted sum of the outputs of {}.",
        True,
        lambda n, m: Argument("hessian", (n, n), "", "symmetric, by the inputs, one after the other"),
        _hessian,
    ),
}  # by the ending of the name


def sensitivity_of(name: str, known: Mapping[str, Entry]) -> tuple[str, str] | None:
    """The function and the ending in a name; None if it is not a sensitivity."""
    for ending in (kind + more for kind in KINDS for more in ("", PARAMETERS)):
        base = name.removesuffix(ending)
        if base != name and name not in known and base in known and known[base].inputs:
            return base, ending
    return None


def sensitivity_entry(entry: Entry, ending: str) -> Entry:
    """The entry of a sensitivity of a function."""
    kind, choose, parametric = KINDS[ending.removesuffix(PARAMETERS)], entry.formulations_for, ending.endswith(PARAMETERS)

    def inputs(variant: Variant) -> list[Argument]:
        points = len(variant.pointed.points) if entry.frame_assignment in ("points", "physical", "frames", "loaded") else 0
        own = entry.own_inputs_for(variant)
        return [own.get(name) or input_argument(name, variant.positions, variant.size, points) for name in entry.inputs]

    def varied(variant: Variant) -> list[Value]:
        x = [variant.graph.input(argument.element(k)) for argument in inputs(variant) for k in range(argument.size)]
        return [*x, *live_values(variant)]

    def size(variant: Variant) -> int:
        return sum(argument.size for argument in entry.outputs(variant))

    def weights(variant: Variant) -> dict[str, Argument]:
        own = dict(entry.own_inputs_for(variant))
        return own | {WEIGHTS: Argument(WEIGHTS, (size(variant),), "", "one for each number of the outputs, in their order")}

    def live_values(variant: Variant) -> list[Value]:
        return [variant.graph.input(parameter.name) for parameter in (variant.robot.live_parameters if parametric else ())]

    def weight_values(variant: Variant) -> list[Value]:
        return [variant.graph.input(weights(variant)[WEIGHTS].element(k)) for k in range(size(variant))]

    def differentiated(formulation: Formulation) -> Formulation:
        def derive(variant: Variant) -> Derived:
            derived = formulation(variant)
            y = [value for values in derived.outputs for value in values]
            w = weight_values(variant) if kind.weighted else []
            return Derived((kind.values(variant, y, varied(variant), w),), derived.pivots)

        return derive

    def formulations(variant: Variant) -> tuple[Formulation, ...]:
        if entry.name == "forward_dynamics" and is_solved(variant):
            return solved_formulations(variant, ending.removesuffix(PARAMETERS), live_values, weight_values)
        chosen = entry.formulations if choose is None else choose(variant)
        return tuple(differentiated(formulation) for formulation in chosen[:1])

    return replace(
        entry,
        name=entry.name + ending,
        brief=kind.brief.format(entry.name),
        inputs=(*entry.inputs, *((WEIGHTS,) if kind.weighted else ())),
        outputs=lambda variant: (kind.result(len(varied(variant)), size(variant)),),
        formulations=tuple(differentiated(formulation) for formulation in entry.formulations[:1]),
        formulations_for=formulations,
        own_inputs=weights,
        explore=False,
        default=False,
    )
