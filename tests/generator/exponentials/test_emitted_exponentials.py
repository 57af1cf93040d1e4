"""Matrix exponentials as functions of the catalogue: against the recursions, and against the closed forms."""

from functools import cache

import numpy as np
import pytest
from flexible_reference import CASES, robot_of

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError

NAMES = ("operators", "factors", "transforms", "transfer_factors", "jacobian", "jacobian_rate", "differentials",
         "second_differentials", "velocities", "accelerations")  # fmt: skip
JUDGES = ("forward_kinematics", "jacobian", "jacobian_rate", "frame_velocities", "frame_accelerations", "transform_partials",
          "transform_second_partials")  # fmt: skip


@cache
def programs(name):
    robot = elastogen.load("trtrr") if name == "trtrr" else robot_of(CASES[0])
    wanted = [*(f"exponential_{part}" for part in NAMES), *JUDGES]
    if name != "trtrr":
        wanted = [name for name in wanted if "second" not in name]
    return robot, {function.name: function for function in derive_model(robot, wanted).functions}


@pytest.mark.parametrize("name", ["trtrr", "planar beams"])
def test_they_are_the_recursions(name):
    robot, found = programs(name)
    n = len(robot.coordinates)
    rng = np.random.default_rng(81)
    live = {parameter.name: parameter.value for parameter in robot.live_parameters}
    state = {key: rng.uniform(-0.3, 0.3, n) for key in ("q", "qd", "qdd")}

    def value(function):
        given = {argument.name: state[argument.name] for argument in found[function].inputs}
        return found[function].evaluate(given, live)

    def one(function):
        return next(iter(value(function).values()))

    pairs = {"transforms": "forward_kinematics", "jacobian": "jacobian", "jacobian_rate": "jacobian_rate",
             "velocities": "frame_velocities", "accelerations": "frame_accelerations"}  # fmt: skip
    for ours, judge in pairs.items():
        np.testing.assert_allclose(one(f"exponential_{ours}"), one(judge), rtol=0, atol=1e-12, err_msg=ours)
    factors = value("exponential_transfer_factors")
    columns = np.einsum("nij,njk,nkl,nl->in", factors["V1"], factors["V2"], factors["V3"], factors["M_v"])
    A, first = one("exponential_differentials"), one("transform_partials")[-1]
    np.testing.assert_allclose(columns, A[:, :3, 3].T, rtol=0, atol=1e-12)
    if name == "trtrr":  # one exponential for each coordinate
        np.testing.assert_allclose(A, first, rtol=0, atol=1e-12)
        second = one("exponential_second_differentials")
        np.testing.assert_allclose(second, one("transform_second_partials")[-1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(columns, one("jacobian")[:3], rtol=0, atol=1e-12)
    product = np.eye(4)
    for factor in one("exponential_factors"):
        product = product @ factor
    zero = found["forward_kinematics"].evaluate({"q": np.zeros(n)}, live)["T"][-1]
    np.testing.assert_allclose(product @ zero, one("forward_kinematics")[-1], rtol=0, atol=1e-12)
    generators = one("exponential_operators")
    assert not generators[:, 3].any()


def test_quaternions_are_no_screws():
    with pytest.raises(OutputError, match="not for floating and spherical"):
        derive_model(elastogen.load("puma560", base="floating"), ["exponential_jacobian"])


def test_in_c(cache_dir):
    model = elastogen.build_model("two_link", outputs=["exponential_jacobian", "jacobian"], precision="float")
    q = np.array([0.3, -0.4])
    np.testing.assert_allclose(model.evaluate("exponential_jacobian", q=q), model.jacobian(q), atol=1e-6)


def test_the_form_of_the_tip_is_a_choice():
    """A screw of one bending mode rotates about a distant axis: it differs from the tip of 000 (66) at second order."""
    robot = robot_of(CASES[0])
    forms = elastogen.derive(robot).by_matrix_exponentials
    split, screw = forms.with_tip("split"), forms.with_tip("screw")
    assert split.names == forms.names
    assert len(screw.names) < len(split.names)
