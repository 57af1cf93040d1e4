"""Beams that slide through their joint, reduced to their lowest modes."""

from functools import cache

import numpy as np
import pytest
from moving_beam_oracle import Chain, Series

import elastogen
from elastogen.describe import describe
from elastogen.generator.beams.natural_frequencies import clamped_modes, natural_frequencies
from elastogen.generator.functions.derivation import derive_model
from elastogen.rigid_comparison import tip_deflections

MOTION = ("q", "qd", "qdd", "q3")
GRAVITY = (0.5, -9.81)


def rod(joint, length=0.3, **more):
    return {"joint": joint, "length": length, "rigid": True, "mass": 0.7, "inertia": 0.01, **more}


def beam(elements, **more):
    return {"joint": "Pb", "gamma": 0.3, "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": elements, **more}


def load(links, name="reduced", payload=0.1, **more):
    planar = {"links": links, "payload": {"mass": payload}, "gravity": list(GRAVITY)}
    return elastogen.load({"elastogen": 1, "name": name, "planar": planar, **more})


def derived(robot, *wanted):
    return {function.name: function for function in derive_model(robot, wanted).functions}


def evaluate(found, name, motion):
    return next(iter(found[name].evaluate(dict(zip(MOTION, motion, strict=False))).values()))


def close(found, expected, tolerance=1e-11):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# ---- with all modes the reduced model is the nodal one in other coordinates

RODS = {
    "plain": [rod("R"), beam(2)],
    "shortened": [rod("R"), beam(2, foreshortening=True)],
    "R behind": [rod("R"), beam(2), rod("R", 0.4)],
    "R behind, shortened": [rod("R"), beam(2, foreshortening=True), rod("R", 0.4)],
    "Pa behind": [rod("R"), beam(2), rod("Pa", 0.4, gamma=0.5), rod("R", 0.2)],
    "Pa behind, shortened": [rod("R"), beam(2, foreshortening=True), rod("Pa", 0.4, gamma=0.5), rod("R", 0.2)],
    "nodal Pa behind": [rod("R"), beam(2), rod("Pa", 0.4, gamma=0.5, slide="nodal")],
    "two": [beam(2), beam(2)],
}
FUNCTIONS = ("mass_matrix", "inverse_dynamics", "kinetic_energy", "potential_energy", "forward_kinematics", "stiffness_matrix")
HIGHER = {
    "plain": ("acceleration_energy_1", "acceleration_energy_2", "inertia_forces"),
    "shortened": ("acceleration_energy_1", "inertia_forces"),
}


@cache
def both(name):
    """The two robots' functions, the chain, and the modes by link."""
    links = RODS[name]
    all_modes = [link if link.get("rigid") else link | {"reduce_to": 2 * link["elements"]} for link in links]
    with pytest.warns(elastogen.RobotWarning, match="elements, with which frequency"):
        reduced = load(all_modes)
    modes = [None if link.flexible is None else np.array(link.flexible.telescope.modes) for link in reduced.links[1:]]
    wanted = (*FUNCTIONS, *HIGHER.get(name, ()))
    return derived(load(links, "nodal"), *wanted), derived(reduced, *wanted), Chain(links, 0.1, GRAVITY), modes


def nodal(plan, modes, motion):
    """The motion of nodal coordinates: u = P^-1 T a, by power series."""
    order = len(motion)
    faculty = np.array([1.0, 1.0, 2.0, 6.0])[:order, None]
    moved = np.array(motion) / faculty
    result = moved.copy()
    for start, T in zip(plan.starts, modes, strict=True):
        if T is not None:
            d, c = Series(moved[:, start]), moved[:, start + 1 : start + 1 + T.shape[1]] @ T.T
            for j in range(len(T)):
                result[:, start + 1 + j] = (Series(c[:, j]) / d).c if j % 2 else c[:, j]
    return result * faculty


@pytest.mark.parametrize("name", RODS)
def test_all_modes_are_the_nodal_model(name):
    expected, found, plan, modes = both(name)
    rng = np.random.default_rng(4)
    for _ in range(3):
        motion = 0.3 * rng.normal(size=(4, plan.nq))
        motion[0] *= 0.2
        for start, link in zip(plan.starts, plan.links, strict=True):
            motion[0, start] = rng.normal() if link["joint"] == "R" else rng.uniform(0.3, 0.95) * 0.8
        other = nodal(plan, modes, motion)
        J = np.stack([nodal(plan, modes, [motion[0], unit])[1] for unit in np.eye(plan.nq)], axis=1)
        close(evaluate(found, "mass_matrix", motion), J.T @ evaluate(expected, "mass_matrix", other) @ J)
        for function in found.keys() & {"inverse_dynamics", "inertia_forces"}:
            close(evaluate(found, function, motion), J.T @ evaluate(expected, function, other))
        for function in (name for name in found if "energy" in name):
            assert evaluate(found, function, motion) == pytest.approx(evaluate(expected, function, other), rel=1e-11)
        close(evaluate(found, "forward_kinematics", motion), evaluate(expected, "forward_kinematics", other))
        elastic = [start + 1 + j for start, T in zip(plan.starts, modes, strict=True) if T is not None for j in range(len(T))]
        block = np.ix_(elastic, elastic)
        K, rotated = evaluate(found, "stiffness_matrix", motion), J[block]
        close(K[block], rotated.T @ evaluate(expected, "stiffness_matrix", other)[block] @ rotated)


def test_a_sliding_joint_on_every_element():
    expected, found, plan, modes = both("Pa behind")
    motion = 0.2 * np.random.default_rng(8).normal(size=(3, plan.nq))
    motion[0, plan.starts[1]] = 0.6
    for place in (0.1, 0.4, 0.75):
        motion[0, plan.starts[2]] = place
        other = nodal(plan, modes, motion)
        J = np.stack([nodal(plan, modes, [motion[0], unit])[1] for unit in np.eye(plan.nq)], axis=1)
        close(evaluate(found, "inverse_dynamics", motion), J.T @ evaluate(expected, "inverse_dynamics", other))


# ---- with a few modes


def frequencies(robot, d):
    """Of the elastic coordinates of the last link, with all joints held."""
    found, q = derived(robot, "mass_matrix", "stiffness_matrix"), np.zeros(len(robot.coordinates))
    free = slice(-len(robot.links[-1].flexible.coordinates), None)
    result = []
    for q[-len(robot.links[-1].flexible.coordinates) - 1] in d:
        M, K = (evaluate(found, name, [q])[free, free] for name in ("mass_matrix", "stiffness_matrix"))
        result.append(clamped_modes(M, K)[0])
    return np.array(result)


@cache
def single(reduce_to=None, tip=0.0, joint="telescopic"):
    flexible = {"type": "elements", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 8,
                "tip": {"mass": tip, "com": [0.02, 0.01, 0], "inertia": [1e-4, 1e-4, 2e-4]}}  # fmt: skip
    if not tip:
        del flexible["tip"]
    if reduce_to:
        flexible["reduce_to"] = reduce_to
    slide = {"name": "slide", "type": joint} | ({"gamma": 0} if joint == "telescopic" else {})
    return elastogen.load({
        "elastogen": 1, "name": "single", "links": [{"name": "beam", "flexible": flexible}], "joints": [slide],
    })  # fmt: skip


LENGTHS = (0.1, 0.3, 0.5, 0.8)


def test_frequencies_without_a_load_are_those_of_the_elements():
    """The modes of the part outside have one shape at every length."""
    reduced, full = frequencies(single(2), LENGTHS), frequencies(single(), LENGTHS)
    np.testing.assert_allclose(reduced, full[:, :2], rtol=1e-8)
    np.testing.assert_allclose(reduced * np.square(LENGTHS)[:, None] / 0.64, reduced[-1:].repeat(4, 0), rtol=1e-8)


def test_frequencies_with_a_tip_body():
    """It is heavier and more extended against a shorter beam, but the modes are those at full length."""
    reduced, full = frequencies(single(3, 0.1), LENGTHS), frequencies(single(None, 0.1), LENGTHS)
    np.testing.assert_allclose(reduced[-1], full[-1, :3], rtol=1e-8)
    np.testing.assert_allclose(reduced[1:, 0], full[1:, 0], rtol=2e-4)
    np.testing.assert_allclose(reduced[:, 0], full[:, 0], rtol=5e-3)
    assert (reduced > full[:, :3] * (1 - 1e-8)).all()


@pytest.mark.parametrize("tip", [0.0, 0.1])
def test_all_outside_it_is_the_fixed_link(tip):
    body = single(3, tip, "revolute").links[-1]
    fixed = natural_frequencies(body.flexible, body.tip_body)
    np.testing.assert_allclose(frequencies(single(3, tip), [0.8])[0], fixed, rtol=1e-10)
    assert single(3, tip).links[-1].flexible.coordinates == body.flexible.coordinates == ("y1", "y2", "y3")


def test_elements_cost_nothing():
    """More of them change the numbers only; a few operations where an integral happens to vanish."""
    counts = []
    for elements in (4, 20):
        functions = derived(load([rod("R"), beam(elements, reduce_to=2)]), "inverse_dynamics", "mass_matrix")
        counts.append([function.program.count.total for function in functions.values()])
    np.testing.assert_allclose(counts[0], counts[1], rtol=0.15)
    assert sum(counts[1]) < 400


def test_live_parameters():
    """The shapes are those at the nominal values."""
    parameters = {"stiffness": {"value": 0.17}, "density": {"value": 0.35}}
    rayleigh = {"reduce_to": 2, "foreshortening": True, "damping": {"rayleigh": {"alpha": 0.2, "beta": 0.01}}}
    robot = load([rod("R"), beam(6, **rayleigh) | {"EI": "stiffness", "mass_per_length": "density"}],
                 parameters=parameters, live=["stiffness", "density"])  # fmt: skip
    fixed = load([rod("R"), beam(6, **rayleigh) | {"EI": 0.3, "mass_per_length": 0.5}])
    motion = 0.1 * np.random.default_rng(1).normal(size=(3, 4))
    motion[0, 1] = 0.5
    given = dict(zip(MOTION, motion, strict=False))
    result = derived(robot, "inverse_dynamics")["inverse_dynamics"].evaluate(given, {"stiffness": 0.3, "density": 0.5})
    close(result["F"], evaluate(derived(fixed, "inverse_dynamics"), "inverse_dynamics", motion), 1e-8)


# ---- in motion


DAMPED = [rod("R"), beam(6, reduce_to=2, foreshortening=True, damping={"ratios": [0.01, 0.03]})]


@pytest.fixture(scope="module")
def damped():
    """By ratios; the payload is not part of the modes that they are of."""
    outputs = ("simulation", "damping_matrix", "stiffness_matrix", "forward_kinematics")
    return elastogen.build_model(load(DAMPED, "reduced_damped"), outputs=outputs)


def start(model):
    q, qd = np.zeros(model.nq), np.zeros(model.nq)
    q[:4], qd[:2] = [0.3, 0.4, 0.05, 0.005], [1.0, 0.3]
    return q, qd


def test_damped_motion_balances(damped):
    s = damped.simulate(*start(damped), t=0.3, rtol=1e-9, atol=1e-10)
    assert s.dissipated[-1] > 1e-3 * s.kinetic.max()
    assert np.abs(s.balance).max() < 1e-6 * s.dissipated[-1]
    (tip,) = tip_deflections(load(DAMPED), s)
    turn = damped.forward_kinematics(s.q)[:, -1]
    close(tip.rotation[:, 2], np.arctan2(turn[:, 1, 0], turn[:, 0, 0]) - s.q[:, 0] - 0.3, 1e-10)


@pytest.mark.parametrize("d", [0.1, 0.35, 0.8])
def test_ratios_hold_at_every_length(damped, d):
    q = np.array([0, d, 0, 0])
    M, K, D = (f(q)[2:, 2:] for f in (damped.mass_matrix, damped.stiffness_matrix, damped.damping_matrix))
    M = M - 0.1 * np.ones((2, 2))  # the payload; phi(L) = 1
    A = np.block([[0 * M, np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    values = sorted(values[values.imag > 0], key=abs)
    np.testing.assert_allclose([-v.real / abs(v) for v in values], [0.01, 0.03], rtol=1e-8)


def test_derivatives(damped):
    q, qd = start(damped)
    qdd = 0.3 * np.random.default_rng(6).normal(size=damped.nq)
    by_q, by_qd, _ = damped.inverse_dynamics_derivatives(q, qd, qdd)
    h = 1e-5
    for j, unit in enumerate(np.eye(damped.nq)):
        ahead, back = (damped.inverse_dynamics(q + s * h * unit, qd, qdd) for s in (1, -1))
        np.testing.assert_allclose(by_q[:, j], (ahead - back) / (2 * h), rtol=0, atol=1e-6 * np.abs(by_q).max())
        ahead, back = (damped.inverse_dynamics(q, qd + s * h * unit, qdd) for s in (1, -1))
        np.testing.assert_allclose(by_qd[:, j], (ahead - back) / (2 * h), rtol=0, atol=1e-8 * np.abs(by_qd).max())


def test_energy_is_kept_while_a_joint_slides_on_the_beam():
    links = [rod("R"), beam(4, reduce_to=2, foreshortening=True), rod("Pa", 0.2, gamma=0.5)]
    model = elastogen.build_model(load(links, "reduced_slide"), outputs=("simulation",))
    q, qd = start(model)
    q[4], qd[4] = 0.55, 0.3
    s = model.simulate(q, qd, t=0.25, rtol=1e-10, atol=1e-11)
    energy = s.kinetic + s.potential
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-7 * s.kinetic.max())
    assert s.switch_count > 0


def test_rayleigh_with_a_tip_body():
    """M, with a part of the tip body that goes with 1/d and 1/d^2."""
    flexible = {"type": "elements", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 4, "reduce_to": 2,
                "tip": {"mass": 0.2, "com": [0.03, 0.01, 0], "inertia": [1e-3, 1e-3, 2e-3]},
                "damping": {"rayleigh": {"alpha": 0.3, "beta": 0.02}}}  # fmt: skip
    robot = elastogen.load({"elastogen": 1, "name": "tip_body", "links": [{"name": "beam", "flexible": flexible}],
                            "joints": [{"name": "slide", "type": "telescopic", "gamma": 0}]})  # fmt: skip
    found = derived(robot, "damping_matrix", "mass_matrix", "stiffness_matrix")
    for d in (0.2, 0.7):
        M, K, D = (
            evaluate(found, name, [np.array([d, 0, 0])])[1:, 1:]
            for name in ("mass_matrix", "stiffness_matrix", "damping_matrix")
        )
        close(D, 0.3 * M + 0.02 * K, 1e-12)


# ---- descriptions


def test_check_shows_the_error_of_the_frequencies():
    text = describe(load([rod("R"), beam(6, reduce_to=2)]))
    assert "lowest modes of 6 elements, frequencies too high by" in text


def test_what_is_refused():
    with pytest.raises(elastogen.RobotError, match=r"changes with the element.*slide: smooth"):
        load([rod("R"), beam(4, reduce_to=2, slide="nodal")])
    with pytest.raises(elastogen.RobotError, match=r"at most the 8 coordinates"):
        load([rod("R"), beam(4, reduce_to=9)])
    with pytest.raises(elastogen.RobotError, match=r"3 ratios.*expected 1 to 2"):
        load([rod("R"), beam(4, reduce_to=2, damping={"ratios": [0.01] * 3})])
