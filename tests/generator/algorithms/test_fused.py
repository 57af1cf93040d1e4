"""Several functions at one state as one: the same values, fewer operations."""

import numpy as np
import pytest
from flexible_chains import random_chain as random_flexible_chain
from golden_files import CASES
from robots_for_tests import quietly_loaded, random_robot

from elastogen.build.options import BuildOptions
from elastogen.generator.functions.derivation import CATALOGUE, derive_model, output_names
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.arguments import input_argument, vector
from elastogen.generator.program.program import Program
from elastogen.generator.robot.errors import OutputError

CONTROL = ("mass_matrix", "coriolis_matrix", "gravity_vector")
ROBOTS = {
    "rigid": (lambda: random_robot(4, 4), CONTROL),
    "drives, mixed layouts": (lambda: quietly_loaded("scara"), ("jacobian", "inverse_dynamics", "potential_energy")),
    "modes": (lambda: random_flexible_chain(2, 2, 2), ("mass_matrix", "elastic_forces", "forward_kinematics")),
    "sliding": (lambda: quietly_loaded(CASES["golden_sliding"][0]), ("mass_matrix", "gravity_vector", "stiffness_matrix")),
    "pivots": (lambda: quietly_loaded("two_link"), ("forward_dynamics", "mass_matrix")),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_fused_functions_give_what_their_parts_give(name):
    make, parts = ROBOTS[name]
    robot = make()
    *single, together = derive_model(robot, [*parts, "+".join(parts)]).functions
    assert together.name == "_and_".join(parts)
    rng = np.random.default_rng(3)
    state = {key: rng.uniform(0.05, 0.4, len(robot.coordinates)) for key in ("q", "qd", "qdd", "F")}
    nominal = {parameter.name: parameter.value for parameter in robot.live_parameters}

    def results(function):
        return function.evaluate({argument.name: state[argument.name] for argument in function.inputs}, nominal)

    found, expected = results(together), {}
    for function in single:
        expected |= results(function)
    assert set(found) == set(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=0, atol=1e-12 * max(np.abs(value).max(), 1e-3), err_msg=key)
    assert together.program.count.cost <= sum(function.program.count.cost for function in single)
    assert bool(together.program.pivots) == ("forward_dynamics" in parts)


def test_a_controller_needs_a_quarter_less():
    *single, together = derive_model(quietly_loaded("puma560"), [*CONTROL, "+".join(CONTROL)]).functions
    assert together.program.count.cost <= 0.73 * sum(function.program.count.cost for function in single)


@pytest.mark.parametrize("seed", range(6))
def test_gravity_from_composite_bodies_is_that_of_newton_and_euler(seed):
    robot = random_robot(seed)
    frame_assignments = VariantFamily(robot).dynamic()
    variant = frame_assignments[seed % len(frame_assignments)]
    newton, composite = (formulation(variant).outputs[0] for formulation in CATALOGUE["gravity_vector"].formulations)
    inputs = [input_argument("q", variant.size, variant.size)]
    outputs = [
        (vector(name, variant.size, "", ""), [v.ref for v in values]) for name, values in (("a", newton), ("b", composite))
    ]
    nominal = {parameter.name: parameter.value for parameter in robot.live_parameters}
    q = np.random.default_rng(seed).uniform(-2, 2, (5, variant.size))
    both = Program(variant.graph, inputs, outputs).evaluate({"q": q}, nominal)
    np.testing.assert_allclose(both["a"], both["b"], rtol=0, atol=1e-12 * np.abs(both["a"]).max())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("mass_matrix+mass_matrix", "two different functions"),
        ("mass_matrix+gravty_vector", "did you mean 'gravity_vector'"),
        ("mass_matrix+", "expected functions"),
        ("inertia_forces+elastic_forces", "has Q twice"),
        ("mass_matrix+forward_dynamics+inverse_dynamics", "has F twice"),
    ],
)
def test_what_cannot_be_fused_is_reported(wrong, said):
    with pytest.raises(OutputError, match=said):
        derive_model(quietly_loaded("two_link"), [wrong])


def test_the_option_names_groups():
    assert BuildOptions.checked(fused=[CONTROL]).emit.outputs == ("default", "+".join(CONTROL))
    assert output_names(["gravity_vector+mass_matrix", "jacobian"]) == ("jacobian", "gravity_vector+mass_matrix")
    for wrong in ("mass_matrix", ["mass_matrix"], [["mass_matrix"]], [[1, 2]]):
        with pytest.raises(OutputError, match="fused: got"):
            BuildOptions.checked(fused=wrong)
