"""The kinematics by matrix exponentials (paper 001) is the recursion's, and its closed forms are those of products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from flexible_reference import CASES, beam_of, robot_of
from plain_programs import PlainPrograms, program
from robots_for_tests import quietly_loaded, random_robot, relative_error

from elastogen.generator.algorithms.exponentials.matrix_exponentials import MatrixExponentials
from elastogen.generator.beams.integrals import beam_body
from elastogen.generator.closed_form.closed_form import derive
from elastogen.generator.closed_form.exponentials import ExponentialForms
from elastogen.generator.description.load_robot import load
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import JointElasticity, Link, Robot
from elastogen.runtime.interface.argument import Argument

MOTION = ("q", "qd", "qdd")
FUNCTIONS = {
    "T": "forward_kinematics",
    "J": "jacobian",
    "v": "frame_velocities",
    "a": "frame_accelerations",
}
TOLERANCE = 1e-12


class Exponentials:
    """MatrixExponentials of a robot, evaluated."""

    def __init__(self, robot: Robot, **options: Any) -> None:
        self.graph, self.size = Graph(), len(robot.coordinates)
        self.motion = [[self.graph.input(f"{name}[{k}]") for k in range(self.size)] for name in MOTION]
        self.mek = MatrixExponentials(self.graph, robot, self.motion, **options)

    def __call__(self, state: dict[str, Any], **outputs: Any) -> dict[str, Any]:
        arguments = [Argument(name, (self.size,), "", "") for name in MOTION]
        found = []
        for name, values in outputs.items():
            array = np.array(values, dtype=object)
            found.append((Argument(name, array.shape, "", ""), [self.graph.value(x) for x in array.flat]))
        return program(self.graph, arguments, found).evaluate(state)

    def kinematics(self, state: dict[str, Any]) -> dict[str, Any]:
        frames, mek = range(len(self.mek.chains)), self.mek
        return self(
            state,
            T=[mek.transform(f) for f in frames],
            J=mek.jacobian(),
            v=[mek.velocity(f) for f in frames],
            a=[mek.acceleration(f) for f in frames],
        )


def state_of(robot: Robot, seed: int, elastic: float = 1.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    scale = np.array([elastic if c.elastic else 1.5 for c in robot.coordinates])
    return {name: scale * rng.uniform(-1, 1, len(scale)) for name in MOTION}


def errors(robot: Robot, seed: int, elastic: float = 1.0, **options: Any) -> dict[str, float]:
    programs, state = PlainPrograms(robot), state_of(robot, seed, elastic)
    found = Exponentials(robot, **options).kinematics(state)
    return {key: relative_error(found[key], programs(name, **state)) for key, name in FUNCTIONS.items()}


@pytest.mark.parametrize("seed", range(10))
def test_random_chains_and_trees(seed: int) -> None:
    robot = random_robot(seed, 1 + seed % 5, branching=0.5 if seed % 2 else 0.0)
    assert max(errors(robot, seed).values()) < TOLERANCE


def test_elastic_joints_are_two_exponentials_of_one_screw() -> None:
    robot = random_robot(3, 3, branching=0.0, fixed=0.0)
    joints = tuple(replace(joint, elasticity=JointElasticity(100.0)) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    assert len(robot.coordinates) == 6
    assert max(errors(robot, 1).values()) < TOLERANCE


def planar(case: int, link: int, **options: Any) -> Robot:
    """A chain of the reference with one bending direction only in one link, all other links rigid ends."""
    robot = robot_of(CASES[case], **options)
    links = []
    for entry, made in zip(CASES[case]["chain"], robot.links[1:], strict=True):
        if made.flexible is None:
            links.append(made)
            continue
        beam, modes = beam_of(entry["link"], "exponential", **options)
        direction = modes[link % len(modes)].direction
        kept = [mode for mode in modes if mode.direction == direction]
        links.append(Link(made.name, flexible=beam_body(beam, kept), tip_body=made.tip_body))
    return replace(robot, links=(robot.links[0], *links))


@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("foreshortening", [False, True])
def test_planar_tips_coincide_exactly(case: int, link: int, foreshortening: bool) -> None:
    """Displacement, then rotation: rotations about one axis commute, their product is the exponential of the sum."""
    robot = planar(case, link, foreshortening=foreshortening)
    assert any(c.elastic for c in robot.coordinates)
    assert max(errors(robot, case, elastic=0.3).values()) < TOLERANCE


@pytest.mark.parametrize("form", ["split", "screw"])
def test_spatial_tips_differ_at_second_order(form: str) -> None:
    """Poses differ by O(q_ij^2), Jacobians by O(q_ij): deflections a tenth, errors a hundredth and a tenth."""
    robot = robot_of(CASES[1])
    large, small = (errors(robot, 5, size, tip=form) for size in (1e-2, 1e-3))
    assert 80 < large["T"] / small["T"] < 120
    assert 8 < large["J"] / small["J"] < 12


def test_screw_form_of_one_planar_mode_differs_at_second_order_too() -> None:
    """The screw carries its displacement along: exp(DT q) is not displacement and rotation in turn."""
    robot = planar(0, 0)
    large, small = (errors(robot, 5, size, tip="screw") for size in (1e-2, 1e-3))
    assert 80 < large["T"] / small["T"] < 120


def test_differential_matrices_are_partial_derivatives() -> None:
    """001 (25): A_ki and A_kjm against differences; their sums are the rate and the acceleration of T."""
    robot = random_robot(8, 4, branching=0.0)
    exponentials = Exponentials(robot)
    mek, n = exponentials.mek, exponentials.size
    state = state_of(robot, 2)
    first = [mek.differential(-1, i) for i in range(n)]
    second = [[mek.second_differential(-1, i, j) for j in range(n)] for i in range(n)]
    found = exponentials(state, A=first, B=second)
    names = ["transform_rate_1", "transform_rate_2"]
    programs = PlainPrograms(robot)
    rate = np.einsum("i,iab->ab", state["qd"], found["A"])
    acceleration = np.einsum("i,iab->ab", state["qdd"], found["A"])
    acceleration += np.einsum("i,j,ijab->ab", state["qd"], state["qd"], found["B"])
    assert relative_error(rate, programs(names[0], **state)[-1]) < TOLERANCE
    assert relative_error(acceleration, programs(names[1], **state)[-1]) < TOLERANCE


def test_transfer_factors_have_the_sizes_of_the_paper() -> None:
    """001 (7)-(10): 3 x 3, 3 x 6, 6 x (9 + 3 (n - i)), and their product is the column."""
    robot = random_robot(8, 4, branching=0.0)
    exponentials = Exponentials(robot)
    n = exponentials.size
    parts = [exponentials.mek.transfer_factors(-1, i) for i in range(n)]
    for number, part in enumerate(parts, start=1):
        width = 9 + 3 * (n - number)
        assert (len(part.V1), len(part.V2[0]), len(part.V3), len(part.V3[0]), len(part.M)) == (3, 6, 6, width, width)
    state = state_of(robot, 4)
    J = PlainPrograms(robot)("jacobian", **state)
    columns = exponentials(state, c=[part.column for part in parts])["c"]
    assert relative_error(columns.T, J[:3]) < TOLERANCE


def test_the_printed_translation_part_of_an_exponential_is_wrong() -> None:
    """000 (33), 001: with k k^T instead of {k x}^2 the position of a rotated point grows with q."""
    graph = Graph()
    robot = random_robot(1, 1, types=(random_robot(1, 1).joints[-1].type,))
    q = [graph.input("q[0]")]
    factor = MatrixExponentials(graph, robot, [q]).factors[0]
    k = np.array([float(x.constant or 0) for x in factor.unit])
    v = np.array([float(x.constant or 0) for x in factor.v])
    K, angle = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]]), 0.7
    true = (np.eye(3) * angle + K * (1 - np.cos(angle)) + K @ K * (angle - np.sin(angle))) @ v
    printed = (np.eye(3) * angle + K * (1 - np.cos(angle)) + np.outer(k, k) * (angle - np.sin(angle))) @ v
    A = np.zeros((4, 4))
    A[:3, :3], A[:3, 3] = K, v
    series, term = np.eye(4), np.eye(4)
    for order in range(1, 30):
        term = term @ A * angle / order
        series = series + term
    if factor.rate.is_zero:
        pytest.skip("the joint slides")
    assert np.abs(series[:3, 3] - true).max() < 1e-14
    assert np.abs(series[:3, 3] - printed).max() > 1e-3


# ---- closed forms


def vanish(one: sympy.Matrix, other: sympy.Matrix) -> bool:
    return all(sympy.simplify(x) == 0 for x in one - other)


def test_closed_forms_of_trtrr() -> None:
    closed = derive(quietly_loaded("trtrr"), symbolic="nonzero")
    forms = closed.by_matrix_exponentials
    assert forms.transforms == closed.transforms
    assert vanish(forms.jacobian, closed.jacobian)
    for one, other in (
        (forms.linear_velocities, closed.linear_velocities()),
        (forms.angular_velocities, closed.angular_velocities()),
        (forms.linear_accelerations, closed.linear_accelerations()),
        (forms.angular_accelerations, closed.angular_accelerations()),
    ):
        assert all(vanish(x, y) for x, y in zip(one, other, strict=True))
    assert forms.names == tuple(joint.name for joint in closed.robot.moving_joints)
    for i, q in enumerate(closed.q):
        assert vanish(forms.differential_matrices()[i], forms.transforms[-1].diff(q))
        V1, V2, V3, M = forms.transfer_factors(i)
        assert vanish(V1 * V2 * V3 * M, closed.jacobian[:3, i])


def test_closed_forms_merge_parallel_axes() -> None:
    forms = derive(quietly_loaded("two_link"), symbolic="nonzero").by_matrix_exponentials
    q1, q2, l1, l2 = sympy.symbols("q1 q2 l1 l2", real=True)
    assert forms.transforms[-1][0, 3] == l1 * sympy.cos(q1) + l2 * sympy.cos(q1 + q2)
    assert forms.exponentials[1][0, 3] == l1 * (1 - sympy.cos(q2))


def test_closed_forms_of_a_flexible_robot() -> None:
    robot = planar(1, 0)
    forms = ExponentialForms(robot)
    state = state_of(robot, 3, 0.2)
    symbols = sympy.symbols([f"q{k + 1}" for k in range(len(robot.coordinates))], real=True)
    values = dict(zip(symbols, state["q"], strict=True))
    T = np.array(forms.transforms[-1].subs(values), dtype=float)
    assert relative_error(T, PlainPrograms(robot)("forward_kinematics", q=state["q"])[-1]) < 1e-12


def test_one_scalar_type_serves_all() -> None:
    assert all(isinstance(x, Value) for row in Exponentials(random_robot(2, 2)).mek.jacobian() for x in row)


def test_joints_that_are_no_screws_are_refused() -> None:
    with pytest.raises(OutputError, match="floating, whose motion is not a product"):
        Exponentials(load("two_link", base="floating"))
