"""Beams that slide through their joint, reduced to their lowest modes."""

from functools import cache

import numpy as np
import pytest
from moving_beam_oracle import Chain, Series

import elastogen
from elastogen.generator.derivation import derive_model
from elastogen.generator.natural_frequencies import clamped_modes, natural_frequencies

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
    "shortened": [rod("R"), beam(3, foreshortening=True)],
    "R behind": [rod("R"), beam(2), rod("R", 0.4)],
    "R behind, shortened": [rod("R"), beam(2, foreshortening=True), rod("R", 0.4)],
    "Pa behind": [rod("R"), beam(3), rod("Pa", 0.4, gamma=0.5), rod("R", 0.2)],
    "Pa behind, shortened": [rod("R"), beam(2, foreshortening=True), rod("Pa", 0.4, gamma=0.5), rod("R", 0.2)],
    "nodal Pa behind": [rod("R"), beam(2), rod("Pa", 0.4, gamma=0.5, slide="nodal")],
    "two": [beam(2), beam(2)],
}
FUNCTIONS = ("mass_matrix", "inverse_dynamics", "kinetic_energy", "potential_energy", "forward_kinematics",
             "acceleration_energy_1", "acceleration_energy_2", "inertia_forces", "stiffness_matrix")  # fmt: skip


@cache
def both(name):
    """The two robots' functions, the chain, and the modes by link."""
    links = RODS[name]
    all_modes = [link if link.get("rigid") else link | {"reduce_to": 2 * link["elements"]} for link in links]
    with pytest.warns(elastogen.RobotWarning, match="elements, with which frequency"):
        reduced = load(all_modes)
    modes = [None if link.flexible is None else np.array(link.flexible.telescope.modes) for link in reduced.links[1:]]
    return derived(load(links, "nodal"), *FUNCTIONS), derived(reduced, *FUNCTIONS), Chain(links, 0.1, GRAVITY), modes


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
        for function in ("inverse_dynamics", "inertia_forces"):
            close(evaluate(found, function, motion), J.T @ evaluate(expected, function, other))
        for function in ("kinetic_energy", "potential_energy", "acceleration_energy_1", "acceleration_energy_2"):
            assert evaluate(found, function, motion) == pytest.approx(evaluate(expected, function, other), rel=1e-11)
        close(evaluate(found, "forward_kinematics", motion), evaluate(expected, "forward_kinematics", other))
        elastic = [start + 1 + j for start, T in zip(plan.starts, modes, strict=True) if T is not None for j in range(len(T))]
        block = np.ix_(elastic, elastic)
        K, turned = evaluate(found, "stiffness_matrix", motion), J[block]
        close(K[block], turned.T @ evaluate(expected, "stiffness_matrix", other)[block] @ turned)


def test_a_sliding_joint_on_every_element():
    expected, found, plan, modes = both("Pa behind")
    motion = 0.2 * np.random.default_rng(8).normal(size=(3, plan.nq))
    motion[0, plan.starts[1]] = 0.6
    for place in (0.1, 0.3, 0.5, 0.75):
        motion[0, plan.starts[2]] = place
        other = nodal(plan, modes, motion)
        J = np.stack([nodal(plan, modes, [motion[0], unit])[1] for unit in np.eye(plan.nq)], axis=1)
        close(evaluate(found, "inverse_dynamics", motion), J.T @ evaluate(expected, "inverse_dynamics", other))
