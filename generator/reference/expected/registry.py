"""The expected values of every function by its name: of the catalogue, derived from others, or a user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elastogen.generator.reference.expected.contacts import CONTACTS
from elastogen.generator.reference.expected.coordinates import COORDINATES
from elastogen.generator.reference.expected.derivatives import (
    Values,
    derivatives_of_accelerations,
    first_derivatives,
    own_derivatives,
    second_derivatives,
    second_derivatives_of_accelerations,
    sensitivity,
    tangent,
)
from elastogen.generator.reference.expected.energy_parts import ENERGY_PARTS
from elastogen.generator.reference.expected.frames import FRAMES, chosen, generalized
from elastogen.generator.reference.expected.inner_forces import INNER
from elastogen.generator.reference.expected.loops import LOOPS
from elastogen.generator.reference.expected.loops import accelerations as closed_accelerations
from elastogen.generator.reference.expected.orientation import ORIENTATION
from elastogen.generator.reference.expected.papers import PAPERS
from elastogen.generator.reference.expected.plain import EXPECTATIONS, Difference, Expectation, Found, solution, tree_forces
from elastogen.generator.reference.expected.plain import driving_forces as all_forces
from elastogen.generator.reference.expected.regressors import REGRESSORS
from elastogen.generator.reference.expected.whole import WHOLE
from elastogen.generator.reference.own_functions import UnknownValueError, own_values
from elastogen.generator.reference.quantities import Array, Quantities
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.argument import Argument


class _Any:
    """Stands for the found values where only the expected ones are wanted."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.zeros(())

    def __getitem__(self, key: Any) -> _Any:
        return self

    def reshape(self, *shape: Any) -> _Any:
        """Itself."""
        return self


def _accelerations(of: Quantities) -> list[Array]:
    if of.of.robot.loops:
        return [closed_accelerations(of)]
    rest = tree_forces(of, np.zeros_like(of.at("qdd"))).value
    return [solution(of, of.unloaded(of.at("F")) - rest)]


def _loaded_accelerations(of: Quantities) -> list[Array]:
    rest, load = tree_forces(of, np.zeros_like(of.at("qdd"))).value, generalized(of, chosen(of)).value
    return [solution(of, of.unloaded(of.at("F")) - rest + load)]


def _solved(of: Quantities) -> list[Array]:
    return [solution(of, of.states["b"])]


SOLUTIONS: dict[str, Values] = {
    "forward_dynamics": _accelerations,
    "forward_dynamics_with_wrenches": _loaded_accelerations,
    "mass_matrix_solve": _solved,
}
"""Values of functions that are compared by what follows from them."""
BY_IDENTITIES = frozenset({
    *("loop_residual", "loop_jacobian", "loop_bias", "loop_forces", "difference", "start_of_path", "motion_on_path"),
    *("joint_reactions", "joint_reactions_base", "elastic_inverse_dynamics", "regressor", "base_regressor", "section_loads"),
    *("acceleration_matrix", "jacobian_coriolis", "jacobian_coriolis_tip", "coriolis_coefficients", "random_configuration"),
    *("transform_second_partials",),
    *("exponential_transfer_factors", "exponential_second_differentials", "exponential_operators", "exponential_factors"),
    *("exponential_arguments", "exponential_differentials", "element_stiffness_matrices", "element_shapes"),
    *("element_mass_matrices", "inverse_dynamics_second_order", "forward_dynamics_second_order"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives", *CONTACTS, *ORIENTATION),
})  # fmt: skip
"""Functions that are compared by identities: the description has no numbers of them to take differences of."""


def _forces(of: Quantities) -> list[Array]:
    return [all_forces(of).value]


def _sizes(of: Quantities) -> Array:
    return all_forces(of).size


DERIVATIVES: dict[str, Expectation] = {
    "inverse_dynamics_derivatives": first_derivatives(("q", "qd", "qdd"), _forces, _sizes, "inverse"),
    "forward_dynamics_derivatives": derivatives_of_accelerations(("q", "qd", "F"), _accelerations, _forces, _sizes, "forward"),
    "inverse_dynamics_second_order": second_derivatives(("q", "qd", "qdd"), _forces, _sizes, "inverse"),
    "forward_dynamics_second_order": second_derivatives_of_accelerations(
        ("q", "qd", "F"), _accelerations, _forces, _sizes, "forward"
    ),
}
_LISTED: dict[str, Expectation] = {
    **EXPECTATIONS, **WHOLE, **FRAMES, **INNER, **LOOPS, **PAPERS, **COORDINATES, **REGRESSORS, **DERIVATIVES,
    **CONTACTS, **ORIENTATION, **ENERGY_PARTS,
}  # fmt: skip


def _of_one_axis(expectation: Expectation) -> Expectation:
    """Tips that rotate about several axes differ from products of exponentials by design (001 (33)): not compared."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        tips = [link.flexible for link in of.of.robot.links if link.flexible is not None]
        axes = [sum(any(x != 0 for x in column) for column in zip(*body.tip_rotations, strict=True)) for body in tips]
        other = any(body.tip == "linear" for body in tips) or any(count > 1 for count in axes)
        return [] if other else expectation(of, found)

    return check


ALL_EXPECTATIONS: dict[str, Expectation] = {
    name: _of_one_axis(check) if name.startswith("exponential_") else check for name, check in _LISTED.items()
}
"""By the names of the catalogue."""
PRIMARY = frozenset({*EXPECTATIONS, *(name for name in WHOLE if "_rate_" not in name)})
"""Kinematics, forces, matrices and energies that follow from sums over the bodies: no doubt about them is left open."""
_ORDER = "which parameters are independent, and in which order all of them stand, is what the derivation finds"
NOT_COMPARED: dict[str, str] = {
    **dict.fromkeys(("inertial_parameters", "base_parameters"), _ORDER),
    "exponential_partial_products": "which exponentials stand between base and tip is what the derivation finds",
    "link_inertia_matrices": "the integrals that the description takes are its only source as well",
    "closed_configuration": "it is taken only where loop_residual, which is compared, says that it closes the loops",
    "forward_dynamics_by_other_coordinates": "its coordinates suit states in which others fail, and leave few digits elsewhere",
}
"""The other functions of the catalogue, and why nothing is compared."""


@dataclass(frozen=True)
class Asked:
    """A function to compare: its name, its inputs, and the function and derivative that it was made from."""

    name: str
    inputs: Sequence[Argument]
    base: str = ""
    ending: str = ""  # "_tangent", "_sensitivity", "_adjoint" or "_hessian", also with "_by_parameters"

    @property
    def takes_differences(self) -> bool:
        """Whether its comparison evaluates the description at many states: then one sample of a sliding robot is enough."""
        return bool(self.ending) or self.name in DERIVATIVES

    def primary(self, robot: Robot) -> bool:
        """Whether a difference is a fault of the derivation, and cannot be one of the comparison."""
        solves = bool(robot.loops) and self.name in ("inverse_dynamics", "forward_dynamics")
        return self.name in PRIMARY and not self.ending and not solves


def values_of(robot: Robot, name: str, inputs: Mapping[str, tuple[str, ...]]) -> Values | None:
    """The description's own values of a function, as arrays (states, ...), or None."""
    own = {function.name: function for function in robot.functions}
    if name in own:
        return None if own[name].by else own_values(own[name], lambda other: values_of(robot, other, inputs), inputs)
    if name in SOLUTIONS:
        return SOLUTIONS[name]
    if name not in ALL_EXPECTATIONS or name in BY_IDENTITIES:
        return None
    expectation, nothing = ALL_EXPECTATIONS[name], [_Any()] * 8
    return lambda of: [np.asarray(difference[1]) for difference in expectation(of, nothing)]  # type: ignore[arg-type]


def expectation_of(robot: Robot, asked: Asked, inputs: Mapping[str, tuple[str, ...]]) -> Expectation | None:
    """The comparison of a function, or None; ``inputs`` are those of functions that own ones call."""
    own = {function.name: function for function in robot.functions}
    if asked.ending:
        values = values_of(robot, asked.base, inputs)
        if values is None:
            return None
        if asked.ending == "_tangent":
            return _known(tangent(values, asked.inputs))
        kind, by_parameters, _ = asked.ending.partition("_by_parameters")
        solves = asked.base in SOLUTIONS
        return _known(sensitivity(kind, values, asked.inputs, bool(by_parameters), asked.name, solves=solves))
    if asked.name in own:
        function = own[asked.name]
        values = own_values(function, lambda other: values_of(robot, other, inputs), inputs)
        return _known(own_derivatives(function, values) if function.by else _plainly(values))
    return ALL_EXPECTATIONS.get(asked.name)


def _plainly(values: Values) -> Expectation:
    def check(of: Quantities, found: Found) -> list[Difference]:
        return [(a, b, np.abs(b) + max(1e-300, float(np.abs(b).max(initial=0.0))))
                for a, b in zip(found, values(of), strict=True)]  # fmt: skip

    return check


def _known(expectation: Expectation) -> Expectation:
    """No comparison if a call has no value here."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        try:
            return expectation(of, found)
        except UnknownValueError:
            return []

    return check
