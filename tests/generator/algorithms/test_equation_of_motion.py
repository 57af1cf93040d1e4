"""The documented equation of motion, for every robot: the emitted terms sum to the inverse dynamics."""

from dataclasses import replace

import numpy as np
import pytest
from flexible_chains import random_chain as random_flexible_chain
from flexible_descriptions import KINDS, arm, flexible
from robots_for_tests import difference_quotient, quietly_loaded, random_drive, random_robot

from elastogen.generator.description.files import builtin_names
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.sliding.elements_inside import selectors

TERMS = ("mass_matrix", "coriolis_vector", "stiffness_matrix", "damping_matrix", "elastic_forces",
         "gravity_vector", "friction_forces", "inverse_dynamics", "strain_energy")  # fmt: skip

SPECIAL = ("satellite", "four_bar", "five_bar", "slider_crank", "delta", "six_leg_platform")  # nq > nv; loops


class Equation:
    """The terms of a robot's equation of motion at one state, its drives with friction."""

    def __init__(self, robot, seed, names=TERMS, drives=True):
        rng = np.random.default_rng(seed)
        if drives:
            robot = replace(robot, joints=tuple(replace(joint, actuation=random_drive(rng)) for joint in robot.joints))
        self.functions = {function.name: function for function in derive_model(robot, names).functions}
        self.parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
        elastic = np.array([coordinate.elastic for coordinate in robot.coordinates])
        size = np.where(elastic, 0.02, 1.0)
        self.q, self.qd, self.qdd = (size * rng.uniform(-1, 1, len(size)) for _ in range(3))
        for selector in selectors(robot):
            self.q[selector.coordinate] = rng.uniform(0.3, 0.9) * selector.upper
            if selector.passage == "clamp":  # what is inside the joint does not move
                start = selector.nodes + 2 * selector.element(self.q) - 2
                self.qd[start : start + 4] = self.qdd[start : start + 4] = 0.0

    def __call__(self, name, q=None):
        given = {"q": self.q if q is None else q, "qd": self.qd, "qdd": self.qdd}
        function = self.functions[name]
        (result,) = function.evaluate(
            {argument.name: given[argument.name] for argument in function.inputs}, self.parameters
        ).values()
        return result

    @property
    def terms(self):
        """M qdd, C qd, Q_e, G, D qd + Coulomb friction."""
        return np.array([
            self("mass_matrix") @ self.qdd, self("coriolis_vector"), self("elastic_forces"), self("gravity_vector"),
            self("friction_forces"),
        ])  # fmt: skip


def planar(*links, **payload):
    """A planar robot; every link is (joint, elements, further keys)."""
    common = {"length": 0.7, "mass_per_length": 0.5, "EI": 0.4}
    made = []
    for joint, elements, more in links:
        shape = {"elements": elements} if elements else {"rigid": True, "mass": 1.2, "inertia": 0.05}
        plain = {"length": 0.7} if not elements else common
        made.append({"joint": joint, **plain, **shape, **({} if joint == "R" else {"gamma": 0.3}), **more})
    return quietly_loaded({"elastogen": 1, "name": "planar", "planar": {"links": made, "payload": {"mass": 0.2, **payload}}})


RAYLEIGH = {"damping": {"rayleigh": {"alpha": 0.1, "beta": 0.01}}}
RATIO = {"damping": {"ratio": 0.02}}
SHORT, NODAL = {"foreshortening": True}, {"slide": "nodal"}
ROBOTS = {
    **{name: lambda name=name: quietly_loaded(name) for name in builtin_names() if name not in SPECIAL},
    "rigid tree": lambda: random_robot(3),
    "rigid chain": lambda: random_robot(8, 5, branching=0.0),
    "spatial modes": lambda: random_flexible_chain(2, 2, 2),
    **{kind: lambda kind=kind: quietly_loaded(arm(flexible(kind))) for kind in KINDS},
    "shortening modes": lambda: quietly_loaded(arm(flexible("modes", **SHORT, **RATIO))),
    "elastic joint": lambda: quietly_loaded(arm(
        flexible("elements", elements=2, **RAYLEIGH),
        joints=[{"name": "j1", "type": "revolute", "elasticity": {"stiffness": 20, "damping": 0.1}}])),
    "R Pa smooth": lambda: planar(("R", 3, RAYLEIGH), ("Pa", 2, SHORT)),
    "R Pa nodal": lambda: planar(("R", 2, RATIO), ("Pa", 2, NODAL)),
    "R Pb smooth": lambda: planar(("R", 2, {}), ("Pb", 2, RATIO)),
    "R Pb nodal": lambda: planar(("R", 0, {}), ("Pb", 3, {**NODAL, **RAYLEIGH})),
    "Pb shortening": lambda: planar(("Pb", 2, {**SHORT, **RAYLEIGH}), ("R", 0, {})),
    "Pb reduced": lambda: planar(("R", 0, {}), ("Pb", 5, {"reduce_to": 2, **RATIO})),
    "Pb carries Pa": lambda: planar(("Pb", 2, {}), ("Pa", 0, {})),
    "nodal Pb behind Pa": lambda: planar(("R", 2, {}), ("Pa", 2, {}), ("Pb", 2, NODAL)),
}  # fmt: skip
TELESCOPIC = {"rpb_table3": "joint2", "R Pb smooth": "joint2", "Pb shortening": "joint1", "Pb reduced": "joint2",
              "Pb carries Pa": "joint1"}  # fmt: skip


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    robot = ROBOTS[request.param]()
    return request.param, robot, Equation(robot, 7)


def test_the_terms_sum_to_the_inverse_dynamics(case):
    _, _, equation = case
    terms = equation.terms
    error = np.abs(terms.sum(axis=0) - equation("inverse_dynamics"))
    assert (error <= 1e-12 * np.abs(terms).max()).all(), error


@pytest.mark.parametrize("name", ["rigid tree", "spatial modes", "shortening modes", "R Pa nodal", "Pb reduced"])
def test_coriolis_matrix_and_vector_agree(name):
    equation = Equation(ROBOTS[name](), 5, ("coriolis_matrix", "coriolis_vector"))
    c = equation("coriolis_vector")
    np.testing.assert_allclose(equation("coriolis_matrix") @ equation.qd, c, rtol=0, atol=1e-12 * np.abs(c).max())


def test_elastic_forces_are_the_gradient_of_the_strain_energy(case):
    name, robot, equation = case
    Q, q, K = equation("elastic_forces"), equation.q, equation("stiffness_matrix")
    energy = equation("strain_energy")
    np.testing.assert_allclose(energy, 0.5 * q @ K @ q, rtol=1e-12, atol=0)
    clamped = np.zeros(len(q), dtype=bool)
    if name in ("R Pb nodal", "nodal Pb behind Pa"):  # what is inside the joint does not count
        clamped = np.diag(equation("mass_matrix")) == 1.0
        assert clamped.sum() == 4
    steps = [2e-3 * e for e in np.eye(len(q))]
    gradient = [difference_quotient(lambda s, e=e: equation("strain_energy", q + s * e), 1.0) for e in steps]
    np.testing.assert_allclose(np.array(gradient) / 2e-3, Q, rtol=0, atol=1e-10 * max(np.abs(Q).max(), 1e-3))
    assert not Q[clamped].any()
    slide = [robot.coordinate_names.index(TELESCOPIC[name])] if name in TELESCOPIC else []
    beyond = np.abs(Q - K @ q) > 1e-12 * max(np.abs(Q).max(), 1e-3)
    assert list(np.flatnonzero(beyond)) == slide  # where the headers and the docs say so
    if not any(coordinate.elastic for coordinate in robot.coordinates):
        assert energy == 0
        assert not Q.any()


def test_friction_forces_are_damping_and_coulomb_friction(case):
    """With Coulomb friction taken away, D qd is all that is lost."""
    _, robot, _ = case
    plain = replace(
        robot, joints=tuple(replace(j, actuation=replace(j.actuation, viscous=0.4, coulomb=0)) for j in robot.joints)
    )
    equation = Equation(plain, 11, ("friction_forces", "damping_matrix"), drives=False)
    lost = equation("friction_forces")
    np.testing.assert_allclose(equation("damping_matrix") @ equation.qd, lost, rtol=0, atol=1e-13 * np.abs(lost).max())


def test_headers_say_where_stiffness_depends_on_q(case):
    name, _, equation = case
    ((K, _),), ((Q, _),) = (equation.functions[f].program.outputs for f in ("stiffness_matrix", "elastic_forces"))
    depends = "q" in [argument.name for argument in equation.functions["stiffness_matrix"].inputs]
    assert ("constant" in K.doc) != depends
    assert ("use elastic_forces" in K.doc) == (name in TELESCOPIC)
    assert ("dK/dd" in Q.doc) == (name in TELESCOPIC)
