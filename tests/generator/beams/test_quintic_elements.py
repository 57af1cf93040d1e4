"""Finite elements of degree 5: curvatures are coordinates and continuous, so that joints slide without any jump."""

import numpy as np
import pytest
import sympy

import elastogen
from elastogen.generator.beams.finite_elements import CUBIC, LINEAR, QUINTIC
from elastogen.generator.beams.natural_frequencies import natural_frequencies
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Body

L = 0.8
BEAM = {"type": "elements", "length": L, "mass_per_length": 0.35325, "EI": 0.1688}
PUBLISHED = {
    "clamped": (3.797658548, 23.79951987, 66.63934478),
    "tip mass": (2.430759847, 18.72959228, 56.47491039),
    "hub and tip mass": (7.777672371, 21.05306834, 57.23146274),
}


def functions(robot, *names):
    return {function.name: function for function in derive_model(robot, names).functions}


@pytest.mark.parametrize("element", [LINEAR, CUBIC, QUINTIC], ids=["1", "3", "5"])
def test_shape_functions_are_hermite(element):
    """Each one has one nodal value 1 and the others 0."""
    t = sympy.Symbol("t")
    for k, function in enumerate((*element.left, *element.right)):
        polynomial = sum(c * t**power for power, c in enumerate(function))
        nodal = [sympy.diff(polynomial, t, order).subs(t, end) for end in (0, 1) for order in range(element.each)]
        assert nodal == [1 if j == k else 0 for j in range(2 * element.each)]


def planar(elements, degree=5, payload=0.0, **more):
    link = {**BEAM, "joint": "R", "elements": elements, "degree": degree, **more}
    del link["type"]
    return elastogen.load({"elastogen": 1, "name": "quintic", "planar": {"links": [link], "payload": {"mass": payload}}})


def test_ten_elements_give_the_published_frequencies():
    """All three, of the clamped beam, with a tip mass, and hinged at a hub: far below 1e-4."""
    body = planar(10).links[1].flexible
    found = {
        "clamped": natural_frequencies(body),
        "tip mass": natural_frequencies(body, Body(0.1)),
    }
    hinged = functions(planar(10, payload=0.1, inertia=0.01), "mass_matrix", "stiffness_matrix")
    M, K = (next(iter(f.evaluate({"q": np.zeros(len(body.coordinates) + 1)}).values())) for f in hinged.values())
    found["hub and tip mass"] = np.sort(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K)))))[1:]
    for name, expected in PUBLISHED.items():
        np.testing.assert_allclose(found[name][:3], expected, rtol=1e-8, err_msg=name)


def test_order_of_convergence():
    exact = PUBLISHED["clamped"][2]
    errors = [natural_frequencies(planar(n).links[1].flexible)[2] / exact - 1 for n in (2, 4)]
    assert errors[1] > 0
    assert errors[0] == pytest.approx(2.17e-3, rel=0.01)
    assert 7.0 < np.log2(errors[0] / errors[1]) < 9.0


def test_one_element_is_a_beam_of_polynomials():
    """(x/L)^2 ... (x/L)^5 span what one quintic element does, for the beam and for a joint that slides along it."""
    outer = {"name": "outer", "mass": 0.5, "com": [0.1, 0.02, 0], "inertia": [2e-3, 3e-3, 4e-3]}
    modes = [{"direction": "y", "shape": f"(x/L)**{power}"} for power in range(2, 6)]
    joints = [{"name": "turn", "type": "revolute"}, {"name": "slide", "type": "sliding", "gamma": 0.4}]
    found = []
    for flexible in ({**BEAM, "type": "modes", "modes": modes}, {**BEAM, "elements": 1, "degree": 5}):
        links = [{"name": "inner", "flexible": {**flexible, "foreshortening": True}}, outer]
        robot = elastogen.load({"elastogen": 1, "name": "a", "gravity": [0, -9.81, 0], "joints": joints, "links": links})
        found.append(functions(robot, "inverse_dynamics", "forward_kinematics"))
    assert robot.coordinate_names[1:5] == ("inner.y0_curvature", "inner.y1", "inner.y1_slope", "inner.y1_curvature")
    A = np.eye(6)
    A[1] = [0, 2 / L**2, 0, 0, 0, 0]
    for row, order in ((2, 0), (3, 1), (4, 2)):
        A[row, 1:5] = [np.prod([power - k for k in range(order)]) / L**order for power in range(2, 6)]
    motion = 0.05 * np.random.default_rng(3).normal(size=(3, 6))
    motion[0, 5] = 0.37
    names = ("q", "qd", "qdd")
    by_modes = found[0]["inverse_dynamics"].evaluate(dict(zip(names, motion, strict=True)))["F"]
    by_element = found[1]["inverse_dynamics"].evaluate(dict(zip(names, (A @ row for row in motion), strict=True)))["F"]
    np.testing.assert_allclose(by_modes, A.T @ by_element, rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def sliding():
    link = {key: value for key, value in BEAM.items() if key != "type"} | {"joint": "R", "elements": 3, "degree": 5}
    outer = {"joint": "Pa", "gamma": 0.3, "length": 0.3, "rigid": True, "mass": 0.4, "inertia": 0.003}
    planar_robot = {"links": [link, outer], "gravity": [0, -2.0], "payload": {"mass": 0.05}}
    return elastogen.build_model({"elastogen": 1, "name": "no_jumps", "planar": planar_robot}, outputs="simulation")


def test_the_mass_matrix_does_not_jump_at_nodes(sliding):
    d = sliding.metadata.sliding[0].coordinate
    q = 0.1 * np.random.default_rng(4).normal(size=sliding.nq)
    q[d] = L / 3
    after = q.copy()
    after[d] = np.nextafter(L / 3, 1.0)
    assert sliding.elements([q, after]).tolist() == [[1], [2]]
    M, M_after = sliding.mass_matrix(q), sliding.mass_matrix(after)
    np.testing.assert_allclose(M_after, M, rtol=0, atol=1e-12 * np.abs(M).max())


@pytest.mark.filterwarnings("ignore:.*turned at")
def test_velocities_go_on_at_nodes(sliding):
    """Nothing jumps: the state that is carried over is the state that came, and energy is conserved all the same."""
    d = sliding.metadata.sliding[0].coordinate
    rng = np.random.default_rng(5)
    q, qd = 0.05 * rng.normal(size=sliding.nq), rng.normal(size=sliding.nq)
    q[d], qd[d] = 2 * L / 3, 0.7
    _, velocity, switch = sliding.switch_element("joint2", q, qd)
    np.testing.assert_allclose(velocity, qd, rtol=0, atol=1e-8)
    assert (switch.before, switch.after) == (2, 3)
    start, speed = np.zeros(sliding.nq), np.zeros(sliding.nq)
    start[d], speed[d] = 0.2, 2.0
    motion = sliding.simulate(start, speed, t=0.2, rtol=1e-10, atol=1e-12)
    assert motion.switch_count == 2
    assert np.abs(motion.balance).max() < 1e-9 * np.abs(motion.kinetic).max()


def test_reduction_and_limits():
    reduced = planar(4, reduce_to=3).links[1].flexible
    np.testing.assert_allclose(natural_frequencies(reduced), PUBLISHED["clamped"], rtol=1e-5)
    assert max(reduced.reduction.errors) < 1e-5
    with pytest.raises(elastogen.RobotError, match="degree"):
        planar(4, degree=4)
    telescopic = {**BEAM, "joint": "Pb", "gamma": 0, "elements": 3, "degree": 5}
    del telescopic["type"]
    with pytest.raises(elastogen.RobotError, match="degree: got 5, expected 3 for a link on a smooth telescopic joint"):
        elastogen.load({"elastogen": 1, "name": "no", "planar": {"links": [telescopic]}})
