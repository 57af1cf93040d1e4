"""Beams that slide through their joint with a moving clamp: foreshortening and acceleration energies against power series."""

from functools import cache

import numpy as np
import pytest
from moving_beam_oracle import Chain

import elastogen
from elastogen.generator.beams.natural_frequencies import critical_rates
from elastogen.generator.functions.derivation import derive_model

MOTION = ("q", "qd", "qdd", "q3", "q4", "q5")
PARTS = {"M": "mass_matrix", "C": "coriolis_vector", "G": "gravity_vector", "F": "inverse_dynamics", "T": "kinetic_energy",
         "V": "potential_energy"}  # fmt: skip


def rod(joint, length=0.3, **more):
    return {"joint": joint, "length": length, "rigid": True, "mass": 0.7, "inertia": 0.01, **more}


def beam(elements, foreshortening=True, **more):
    return {"joint": "Pb", "gamma": 0.3, "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": elements,
            "foreshortening": foreshortening, **more}  # fmt: skip


CHAINS = {
    "2 elements": [rod("R"), beam(2)],
    "3 elements": [rod("R"), beam(3)],
    "plain": [rod("R"), beam(2, foreshortening=False), rod("R", 0.4)],
    "R behind": [rod("R"), beam(2), rod("R", 0.4)],
    "Pa behind": [rod("R"), beam(3), rod("Pa", 0.4, gamma=0.5)],
    "nodal Pa behind": [rod("R"), beam(3), rod("Pa", 0.4, gamma=0.5, slide="nodal")],
    "Pb behind": [beam(2), beam(2)],
}


@cache
def chain(name):
    return Chain(CHAINS[name], 0.1, (0.5, -9.81))


@cache
def functions(name, *wanted):
    robot = elastogen.load(chain(name).description("chain"))
    return {function.name: function for function in derive_model(robot, wanted).functions}


def evaluate(found, name, motion):
    given = dict(zip(MOTION, motion, strict=False))
    return next(iter(found[name].evaluate(given).values()))


def motions(name, seed, count, orders=3):
    """States far from straight: slopes of some tenths."""
    plan, rng = chain(name), np.random.default_rng(seed)
    for _ in range(count):
        motion = 0.4 * rng.normal(size=(orders, plan.nq))
        motion[0] *= 0.3
        for start, link in zip(plan.starts, plan.links, strict=True):
            motion[0, start] = rng.normal() if link["joint"] == "R" else rng.uniform(0.15, 0.95) * 0.8
        yield motion


def close(found, expected, tolerance=1e-11):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", CHAINS)
def test_dynamics_against_power_series(name):
    found = functions(name, *PARTS.values(), "forward_kinematics")
    for motion in motions(name, 5, 4):
        expected = chain(name).evaluate(*motion)
        for part, function in PARTS.items():
            close(evaluate(found, function, motion), expected[part])
        close(evaluate(found, "forward_kinematics", motion)[-1][:2, 3], expected["tip"], 1e-13)


@pytest.mark.parametrize("name", ["Pa behind", "nodal Pa behind"])
def test_sliding_joint_on_every_element(name):
    """The line of a P_a joint on a shortened beam, behind the clamp and on each of three elements."""
    plan, found = chain(name), functions(name, *PARTS.values(), "forward_kinematics")
    motion = next(motions(name, 1, 1))
    motion[0, plan.starts[1]] = 0.6
    for element, place in enumerate((0.1, 0.3, 0.5, 0.75)):
        motion[0, plan.starts[2]] = place
        assert plan.element(1, motion[0], place) == element
        assert found["inverse_dynamics"].selectors[1].element(motion[0]) == element
        expected = plan.evaluate(*motion)
        close(evaluate(found, "inverse_dynamics", motion), expected["F"])
        close(evaluate(found, "forward_kinematics", motion)[-1][:2, 3], expected["tip"], 1e-13)


@pytest.mark.parametrize("name", ["3 elements", "plain", "R behind", "Pa behind"])
@pytest.mark.parametrize("p", [1, 2])
def test_acceleration_energies_against_power_series(name, p):
    found = functions(name, "acceleration_energy_1", "acceleration_energy_2")
    for motion in motions(name, 3, 3, p + 2):
        assert evaluate(found, f"acceleration_energy_{p}", motion) == pytest.approx(chain(name).energy(motion, p), rel=1e-11)


@pytest.mark.parametrize("p", [3, 4])
def test_higher_acceleration_energies(p):
    found = functions("2 elements", "acceleration_energy_3", "acceleration_energy_4")
    for motion in motions("2 elements", 7, 2, p + 2):
        expected = chain("2 elements").energy(motion, p)
        assert evaluate(found, f"acceleration_energy_{p}", motion) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", ["3 elements", "plain"])
def test_appell(name):
    """dE1/dqdd are the inertia forces; E1 is quadratic in qdd, so that central differences are exact."""
    found = functions(name, "acceleration_energy_1", "inertia_forces")
    for motion in motions(name, 9, 2):
        slopes = []
        for unit in np.eye(motion.shape[1]):
            ends = [evaluate(found, "acceleration_energy_1", [*motion[:2], motion[2] + s * unit]) for s in (1, -1)]
            slopes.append(0.5 * (ends[0] - ends[1]))
        close(np.array(slopes), evaluate(found, "inertia_forces", motion))


def test_rates_of_the_forces():
    """d/dt of the driving forces along a polynomial motion, against central differences of order 4."""
    found = functions("2 elements", "inverse_dynamics", "inverse_dynamics_rate_1")
    (motion,) = motions("2 elements", 4, 1, 4)
    h = 1e-3

    def at(t):
        q, qd, qdd, q3 = motion
        moved = q + qd * t + qdd * t**2 / 2 + q3 * t**3 / 6, qd + qdd * t + q3 * t**2 / 2, qdd + q3 * t
        return evaluate(found, "inverse_dynamics", moved)

    expected = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)
    close(evaluate(found, "inverse_dynamics_rate_1", motion), expected, 1e-8)


# ---- behind a link whose tip is linear, where all goes by transformations


@cache
def behind_a_flexible_link(rotation, foreshortening):
    inner = {"type": "elements", "length": 0.5, "mass_per_length": 0.4, "EI": 0.5, "elements": 1, "rotation": rotation}
    outer = {"type": "elements", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2,
             "foreshortening": foreshortening}  # fmt: skip
    robot = elastogen.load({
        "elastogen": 1, "name": "linear", "gravity": [0.3, -9.81, 0], "payload": {"mass": 0.1},
        "links": [{"name": "inner", "flexible": inner}, {"name": "outer", "flexible": outer}],
        "joints": [{"name": "turn", "type": "revolute"}, {"name": "slide", "type": "telescopic", "gamma": 0.2}],
    })  # fmt: skip
    names = ("mass_matrix", "inverse_dynamics", "kinetic_energy", "acceleration_energy_1")
    return {function.name: function for function in derive_model(robot, names).functions}


@pytest.mark.parametrize("foreshortening", [False, True])
def test_by_transformations(foreshortening):
    """Where the inner link is straight and has no rates, linear and exponential tips are the same to second order."""
    linear, exact = (behind_a_flexible_link(rotation, foreshortening) for rotation in ("linear", "exponential"))
    motion = 0.3 * np.random.default_rng(2).normal(size=(3, 8))
    motion[0, 3] = 0.5
    motion[:2, 1:3] = 0.0
    for name in linear:
        close(evaluate(linear, name, motion), evaluate(exact, name, motion))


# ---- in space


@cache
def in_space(*wanted):
    flexible = {"type": "elements", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2, "foreshortening": True}
    robot = elastogen.load({
        "elastogen": 1, "name": "space", "gravity": [0.3, -9.81, 2.0], "payload": {"mass": 0.1},
        "links": [{"name": "hub", "mass": 1, "inertia": [0.1, 0.2, 0.25]}, {"name": "fork", "mass": 0.5, "com": [0.1, 0, 0]},
                  {"name": "beam", "flexible": flexible}],
        "joints": [{"name": "yaw", "type": "revolute", "axis": [0, 1, 0]},
                   {"name": "roll", "type": "revolute", "axis": [1, 0, 0]},
                   {"name": "slide", "type": "telescopic", "gamma": 0.2}],
    })  # fmt: skip
    return {function.name: function for function in derive_model(robot, wanted).functions}


def test_in_space():
    """About axes that are not those of the plane: Appell's equations, Lagrange's kinetic energy, and power = dT/dt."""
    found = in_space("acceleration_energy_1", "inertia_forces", "mass_matrix", "kinetic_energy", "coriolis_vector")
    motion = 0.4 * np.random.default_rng(5).normal(size=(3, 7))
    motion[0, 2] = 0.5
    q, qd, qdd = motion
    inertia = evaluate(found, "inertia_forces", motion)
    slopes = []
    for unit in np.eye(7):
        ends = [evaluate(found, "acceleration_energy_1", [q, qd, qdd + s * unit]) for s in (1, -1)]
        slopes.append(0.5 * (ends[0] - ends[1]))
    close(np.array(slopes), inertia)
    M = evaluate(found, "mass_matrix", motion)
    close(M @ qdd + evaluate(found, "coriolis_vector", motion), inertia)
    assert evaluate(found, "kinetic_energy", motion) == pytest.approx(0.5 * qd @ M @ qd, rel=1e-12)
    h = 1e-3
    T = [evaluate(found, "kinetic_energy", [q + qd * t + qdd * t**2 / 2, qd + qdd * t]) for t in (-2 * h, -h, h, 2 * h)]
    assert inertia @ qd == pytest.approx((T[0] - 8 * T[1] + 8 * T[2] - T[3]) / (12 * h), rel=1e-8)


# ---- descriptions


def test_live_parameters():
    """Stiffness and mass of the beam stay inputs; at their values the model is the one with numbers."""
    links = [rod("R"), beam(2, EI="stiffness", mass_per_length="density", damping={"rayleigh": {"alpha": 0.2, "beta": 0.01}})]
    fixed = [rod("R"), beam(2, EI=0.3, mass_per_length=0.5, damping={"rayleigh": {"alpha": 0.2, "beta": 0.01}})]
    parameters = {"stiffness": {"value": 0.17}, "density": {"value": 0.35}}
    live = Chain(links, 0.1, (0.5, -9.81)).description("live") | {"parameters": parameters, "live": ["stiffness", "density"]}
    found, expected = (
        {f.name: f for f in derive_model(elastogen.load(given), ("inverse_dynamics",)).functions}
        for given in (live, Chain(fixed, 0.1, (0.5, -9.81)).description("fixed"))
    )
    (motion,) = motions("2 elements", 8, 1)
    result = found["inverse_dynamics"].evaluate(dict(zip(MOTION, motion, strict=False)), {"stiffness": 0.3, "density": 0.5})
    close(result["F"], evaluate(expected, "inverse_dynamics", motion))


@pytest.mark.parametrize("d", [0.2, 0.5, 0.8])
def test_the_part_outside_bends_as_a_cantilever(d):
    """A force P at its end: P d^3 / (3 EI) and a slope of P d^2 / (2 EI); a moment: the same slope's transpose, d / EI."""
    robot = elastogen.load({"elastogen": 1, "name": "ruler", "planar": {"links": [rod("R"), beam(3)]}})
    (function,) = derive_model(robot, ("stiffness_matrix",)).functions
    q = np.zeros(len(robot.coordinates))
    q[1] = d
    (K,) = function.evaluate({"q": q}, {}).values()
    assert not np.any(K[:2])
    assert not np.any(K[:, :2])
    compliance = np.linalg.inv(K[2:, 2:])[-2:, -2:]
    np.testing.assert_allclose(compliance, np.array([[d**3 / 3, d**2 / 2], [d**2 / 2, d]]) / 0.17, rtol=1e-10)


def test_no_critical_rate_with_foreshortening():
    with_it, without = (elastogen.load(chain(name).description("spin")) for name in ("2 elements", "plain"))
    assert critical_rates(with_it) == {}
    assert critical_rates(without)["link2"] > 0


def test_the_plain_beam_needs_few_operations():
    """rpb_table3: a derivation that needs more is a step back."""
    names = {"inverse_dynamics": 1021, "mass_matrix": 486, "forward_dynamics": 1665, "kinetic_energy": 412}
    for function in derive_model(elastogen.load("rpb_table3"), tuple(names)).functions:
        assert function.program.count.total <= names[function.name]
