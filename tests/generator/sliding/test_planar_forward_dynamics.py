"""Forward dynamics of robots with several sliding joints: M qdd + bias = F with the mass matrix of the quadrature."""

import numpy as np
import pytest
from plain_programs import PlainPrograms
from planar_oracle import Planar
from planar_pairs import state_of

import elastogen

ROBOTS = [  # joints, how they slide, elements (0: rigid); a slot of a window and the held nodes of another beam in every order
    ("R Pa Pb", "smooth nodal", (3, 2, 2)),
    ("R Pa Pb", "nodal nodal", (3, 0, 3)),
    ("Pb R Pa", "nodal smooth", (2, 3, 1)),
    ("Pb Pa Pb", "nodal smooth nodal", (3, 3, 2)),
    ("R Pa Pa Pb", "smooth nodal nodal", (4, 3, 0, 2)),
    ("R Pa R Pb", "smooth nodal", (5, 0, 1, 2)),
    ("Pb Pa Pa R", "smooth nodal smooth", (3, 3, 1, 2)),
]


def robot_of(joints, slides, elements, seed):
    rng, slides = np.random.default_rng(seed), iter(slides.split())
    links = []
    for joint, count in zip(joints.split(), elements, strict=True):
        link = {"joint": joint, "length": round(rng.uniform(0.5, 1.0), 3)}
        if joint != "R":
            link |= {"gamma": round(rng.uniform(-1, 1), 3), "slide": next(slides)}
        link |= (
            {"elements": count, "mass_per_length": round(rng.uniform(0.2, 0.6), 3), "EI": 0.4}
            if count
            else {"rigid": True, "mass": 0.5, "inertia": 0}
        )
        links.append(link)
    return Planar(links, 0.1, (0.5, -9.81))


@pytest.mark.parametrize(("joints", "slides", "elements"), ROBOTS)
def test_forward_dynamics_of_several_sliding_joints(joints, slides, elements):
    plan = robot_of(joints, slides, elements, seed=8)
    robot = PlainPrograms(elastogen.load(plan.description("robot")))
    rng = np.random.default_rng(3)
    for _ in range(4):
        q, qd, F = state_of(plan, rng)
        free = [k for k in range(plan.nq) if k not in plan.clamped(q)]
        M = plan.evaluate(q, 0 * q, 0 * q)["M"]
        bias = robot("inverse_dynamics", q=q, qd=qd, qdd=0 * q)
        qdd = robot("forward_dynamics", q=q, qd=qd, F=F)
        np.testing.assert_array_equal(qdd[plan.clamped(q)], 0.0)
        scale = np.abs(M) @ np.abs(qdd) + np.abs(bias) + np.abs(F)
        np.testing.assert_array_less((np.abs(M @ qdd + bias - F) / scale)[free], 1e-12)


def test_forward_dynamics_of_a_tree_with_sliding_joints():
    """Two joints slide on one beam that carries a telescopic link as well: both windows share nodes with the factorization."""

    def beam(elements, **options):
        return {"type": "elements", "length": 0.9, "mass_per_length": 0.4, "EI": 0.5, "elements": elements} | options

    rod = {"mass": 0.3, "com": [0.1, 0, 0], "inertia": [0.001, 0.002, 0.002]}
    robot = elastogen.load({
        "elastogen": 1, "name": "tree", "gravity": [0.3, -9.81, 0],
        "links": [{"name": "base"}, {"name": "beam", "flexible": beam(3)}, {"name": "cart", **rod},
                  {"name": "crane", "flexible": beam(3)}, {"name": "boom", "flexible": beam(2)}, {"name": "hook", **rod}],
        "joints": [
            {"name": "turn", "type": "revolute", "parent": "base", "child": "beam"},
            {"name": "drive", "type": "sliding", "parent": "beam", "child": "cart", "gamma": 0.4, "slide": "nodal"},
            {"name": "second", "type": "sliding", "parent": "beam", "child": "crane", "gamma": -0.7},
            {"name": "reach", "type": "telescopic", "parent": "crane", "child": "boom", "slide": "nodal", "gamma": 0.3},
            {"name": "swing", "type": "revolute", "parent": "crane", "child": "hook", "axis": [0, 1, 0]},
        ],
        "tip": {"link": "boom"},
    })  # fmt: skip
    programs = PlainPrograms(robot)
    rng = np.random.default_rng(6)
    slides = [robot.coordinate_names.index(name) for name in ("drive", "second", "reach")]
    for _ in range(4):
        q, qd, F = rng.normal(size=(3, len(robot.coordinates))) * [[0.02], [0.3], [1.0]]
        q[slides] = rng.uniform(0.1, 0.85, 3)
        M = programs("mass_matrix", q=q)
        bias = programs("inverse_dynamics", q=q, qd=qd, qdd=0 * q)
        held = np.abs(M - np.diag(np.diag(M))).max(axis=1) == 0
        assert held.sum() == 4
        scale = np.sqrt(np.diag(M))
        right = np.where(held, 0.0, F - bias)
        expected = np.linalg.solve(M / np.outer(scale, scale), right / scale) / scale
        qdd = programs("forward_dynamics", q=q, qd=qd, F=F)
        np.testing.assert_allclose(qdd, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_inner_nodes_of_a_beam_are_eliminated_at_generation():
    """Their rows of M are numbers: only two joints and the ends of the beams, two numbers each, have pivots to compute."""
    rng = np.random.default_rng(5)
    for elements, divisions in (((3, 0), 2 + 2), ((3, 2), 2 + 2 + 2)):
        plan = robot_of("R R", "", elements, seed=4)
        robot = PlainPrograms(elastogen.load(plan.description("robot") | {"live": ["payload"]}))
        q, qd, F = state_of(plan, rng)
        qdd = robot("forward_dynamics", q=q, qd=qd, F=F)
        assert robot.counted("forward_dynamics").div == divisions
        M, bias = plan.evaluate(q, 0 * q, 0 * q)["M"], robot("inverse_dynamics", q=q, qd=qd, qdd=0 * q)
        scale = np.abs(M) @ np.abs(qdd) + np.abs(bias) + np.abs(F)
        np.testing.assert_array_less(np.abs(M @ qdd + bias - F) / scale, 1e-12)
