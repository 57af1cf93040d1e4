"""Planar robots with finite-element links and sliding joints (paper 003): reference numbers, quadrature, limits, switches."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from planar_oracle import Planar
from planar_pairs import evaluate, functions, pair_of, state_of
from reference_beam import FREE

import elastogen

CASES = {
    case["name"]: case
    for case in json.loads((Path(__file__).parents[2] / "data" / "planar_finite_elements.json").read_text())["cases"]
}
JOINTS = ("R", "Pa", "Pb")
PAIRS = tuple(itertools.product(JOINTS, repeat=2))
DYNAMICS = ("mass_matrix", "inverse_dynamics", "forward_kinematics", "kinetic_energy", "potential_energy")


# ---- reference numbers


def robot_of(case, slide):
    links = []
    for given in case["links"]:
        link = {"joint": given["joint"], "length": given["length"]}
        if given["joint"] != "R":
            link |= {"gamma": given["gamma"], "slide": slide}
        if given.get("rigid"):
            link |= {"rigid": True, "mass": given["mass"], "inertia": given["inertia"]}
        else:
            link |= {"mass_per_length": given["m_per_m"], "EI": given["EI"], "elements": given["n_elements"]}
        links.append(link)
    planar = {"links": links, "payload": {"mass": case["payload"]}, "gravity": case["gravity"]}
    return elastogen.load({"elastogen": 1, "name": "planar", "planar": planar})


def kept_coordinates(case):
    """Indices in the file's q_full of the robot's coordinates: without the first node of links on R and Pa."""
    kept, place = [], 0
    for link in case["links"]:
        kept.append(place)
        place += 1
        if not link.get("rigid"):
            count = 2 * link["n_elements"] + 2
            kept += range(place + (0 if link["joint"] == "Pb" else 2), place + count)
            place += count
    return kept


REFERENCES = [
    *((name, "nodal", "expected") for name in CASES if "RPa" not in name),
    *((name, slide, key) for name in CASES if "RPa" in name
      for slide, key in (("nodal", "sliding_node"), ("smooth", "sliding_interp"))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "slide", "key"), REFERENCES)
def test_reference_numbers(name, slide, key):
    case = CASES[name]
    found = functions(
        robot_of(case, slide),
        ("mass_matrix", "coriolis_vector", "stiffness_matrix", "gravity_vector", "inverse_dynamics", "forward_kinematics"),
    )
    kept = kept_coordinates(case)
    for state in case["states"]:
        expected = state[key]
        q, qd, qdd = (np.array(state[vector])[kept] for vector in ("q_full", "qd_full", "qdd_full"))
        free = [kept.index(k) for k in expected["free_indices"]]
        block = np.ix_(free, free)
        given = {"q": q, "qd": qd, "qdd": qdd}
        results = {
            "M": evaluate(found, "mass_matrix", **given)[block],
            "K": evaluate(found, "stiffness_matrix", **given)[block],
            "C_times_qd": evaluate(found, "coriolis_vector", **given)[free],
            "G": evaluate(found, "gravity_vector", **given)[free],
            "inverse_dynamics": evaluate(found, "inverse_dynamics", **given)[free],
            "tip": evaluate(found, "forward_kinematics", **given)[-1][:2, 3],
        }
        for quantity, result in results.items():
            scale = max(np.abs(expected[quantity]).max(), 1e-12)
            np.testing.assert_allclose(result, expected[quantity], rtol=0, atol=1e-12 * scale, err_msg=quantity)


# ---- all nine pairs of joints against quadrature and the appendix


def appendix_tip(plan, q):
    """Appendix 4 of the paper, RPa as corrected: the sum of two arms, each with its deflection across."""
    first, second = plan.links
    inside = plan.inside(q)
    p1, p2 = q[plan.starts[0]], q[plan.starts[1]]
    if second["joint"] == "Pa":
        along, (f, s) = p2, plan.contact(1, q, inside)
    else:
        along, f, s = first["length"], q[plan.starts[1] - 2], q[plan.starts[1] - 1]
    base = {"R": (p1, 0, 0), "Pa": (first.get("gamma", 0), p1, 0), "Pb": (first.get("gamma", 0), 0, p1 - first["length"])}
    angle, shift, back = base[first["joint"]]
    turn = angle + s + (p2 if second["joint"] == "R" else second["gamma"])
    reach = p2 if second["joint"] == "Pb" else second["length"]
    return np.array([
        shift + (along + back) * math.cos(angle) - f * math.sin(angle) + reach * math.cos(turn) - q[-2] * math.sin(turn),
        (along + back) * math.sin(angle) + f * math.cos(angle) + reach * math.sin(turn) + q[-2] * math.cos(turn),
    ])  # fmt: skip


@pytest.mark.parametrize("slide", ["nodal", "smooth"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_pairs_of_joints_against_quadrature(first, second, slide):
    if slide == "smooth" and "Pb" not in (first, second) and second != "Pa":
        pytest.skip("no joint slides")
    plan = pair_of(first, second, slide)
    found = functions(elastogen.load(plan.description("pair")), DYNAMICS)
    rng = np.random.default_rng(5)
    for _ in range(4):
        q, qd, qdd = state_of(plan, rng)
        given = {"q": q, "qd": qd, "qdd": qdd}
        expected = plan.evaluate(q, qd, qdd)
        clamped = plan.clamped(q)
        free = [k for k in range(plan.nq) if k not in clamped]
        M = evaluate(found, "mass_matrix", **given)
        F = evaluate(found, "inverse_dynamics", **given)
        scale = np.abs(expected["M"]).max()
        np.testing.assert_allclose(M[np.ix_(free, free)], expected["M"][np.ix_(free, free)], rtol=0, atol=1e-13 * scale)
        np.testing.assert_array_equal(M[clamped], np.eye(plan.nq)[clamped])
        tolerance = 1e-8 if slide == "smooth" else 1e-12  # the quadrature differentiates by finite differences
        np.testing.assert_allclose(F[free], expected["F"][free], rtol=0, atol=tolerance * np.abs(expected["F"]).max())
        np.testing.assert_array_equal(F[clamped], 0.0)
        tip = evaluate(found, "forward_kinematics", **given)[-1][:2, 3]
        np.testing.assert_allclose(tip, expected["tip"], rtol=0, atol=1e-14)
        np.testing.assert_allclose(tip, appendix_tip(plan, q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(evaluate(found, "kinetic_energy", **given), expected["T"], rtol=1e-12)
        np.testing.assert_allclose(evaluate(found, "potential_energy", **given), expected["V"], rtol=1e-12)


@pytest.mark.parametrize(("first", "second"), [("R", "Pa"), ("R", "Pb")])
def test_foreshortening_against_quadrature(first, second):
    """Geometric stiffening on a link that is slid along (smooth), and on one that slides (nodal)."""
    plan = pair_of(first, second, "smooth" if second == "Pa" else "nodal")
    for link in plan.links:
        link["foreshortening"] = True
    found = functions(elastogen.load(plan.description("stiffened")), ("mass_matrix", "inverse_dynamics"))
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, qd, qdd = state_of(plan, rng)
        q *= np.where(np.arange(plan.nq) == plan.starts[1], 1.0, 3.0)
        expected = plan.evaluate(q, qd, qdd)
        free = [k for k in range(plan.nq) if k not in plan.clamped(q)]
        M, F = evaluate(found, "mass_matrix", q=q), evaluate(found, "inverse_dynamics", q=q, qd=qd, qdd=qdd)
        np.testing.assert_allclose(M[np.ix_(free, free)], expected["M"][np.ix_(free, free)], rtol=0, atol=1e-12)
        np.testing.assert_allclose(F[free], expected["F"][free], rtol=0, atol=1e-7 * np.abs(expected["F"]).max())


def test_three_links_of_all_joint_types():
    links = [
        {"joint": "R", "length": 0.7, "mass_per_length": 0.4, "EI": 0.5, "elements": 2},
        {"joint": "Pa", "gamma": 0.4, "length": 0.5, "mass_per_length": 0.3, "EI": 0.4, "elements": 1},
        {"joint": "Pb", "gamma": -0.2, "length": 0.6, "mass_per_length": 0.2, "EI": 0.3, "elements": 2},
    ]
    plan = Planar(links, 0.05, (0.0, -9.81))
    found = functions(elastogen.load(plan.description("three")), ("mass_matrix", "inverse_dynamics"))
    q, qd, qdd = state_of(plan, np.random.default_rng(2))
    expected = plan.evaluate(q, qd, qdd)
    np.testing.assert_allclose(evaluate(found, "mass_matrix", q=q), expected["M"], rtol=0, atol=1e-13)
    F = evaluate(found, "inverse_dynamics", q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(F, expected["F"], rtol=0, atol=1e-8 * np.abs(expected["F"]).max())


# ---- limits and consistency


def test_rigid_limit():
    """At zero deflection the joints' block of M is that of rigid rods."""
    for first, second in (("R", "Pa"), ("R", "Pb"), ("Pb", "R")):
        plan = pair_of(first, second, "smooth")
        rods = [
            {key: value for key, value in link.items() if key in ("joint", "length", "gamma")}
            | {"rigid": True, "mass": 0.5 * link["length"], "inertia": 0.5 * link["length"] ** 3 / 12}
            for link in plan.links
        ]
        flexible = functions(elastogen.load(plan.description("a")), ("mass_matrix",))
        rigid = functions(elastogen.load(Planar(rods, 0.1, (0.5, -9.81)).description("b")), ("mass_matrix",))
        q = np.zeros(plan.nq)
        joints = [plan.starts[0], plan.starts[1]]
        q[joints] = [0.7, 0.35]
        M = evaluate(flexible, "mass_matrix", q=q)[np.ix_(joints, joints)]
        np.testing.assert_allclose(M, evaluate(rigid, "mass_matrix", q=q[joints]), rtol=1e-12, atol=1e-15)


def test_sliding_on_assumed_modes_is_sliding_on_one_element():
    """(x/L)^2 and (x/L)^3 span what one element does: the same robot in other coordinates."""
    L = 0.8
    outer = {"name": "outer", "flexible": {"type": "elements", "length": 0.5, "mass_per_length": 0.3, "EI": 0.2, "elements": 1}}
    inner = {"type": "modes", "length": L, "mass_per_length": 0.4, "EI": 0.3,
             "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "y", "shape": "(x/L)**3"}]}  # fmt: skip
    elements = {"type": "elements", "length": L, "mass_per_length": 0.4, "EI": 0.3, "elements": 1}
    joints = [{"name": "turn", "type": "revolute"}, {"name": "slide", "type": "sliding", "gamma": 0.4}]
    first, second = (
        functions(
            elastogen.load({"elastogen": 1, "name": "a", "gravity": [0, -9.81, 0], "joints": joints,
                            "links": [{"name": "inner", "flexible": flexible}, outer]}),
            ("inverse_dynamics",),
        )
        for flexible in (inner, elements)
    )  # fmt: skip
    rng = np.random.default_rng(3)
    A = np.eye(6)
    A[1:3, 1:3] = [[1, 1], [2 / L, 3 / L]]  # nodal deflection and slope of the modes
    motion = 0.05 * rng.normal(size=(3, 6))
    motion[0, 3] = 0.37
    by_modes = evaluate(first, "inverse_dynamics", q=motion[0], qd=motion[1], qdd=motion[2])
    q, qd, qdd = (A @ row for row in motion)
    by_elements = evaluate(second, "inverse_dynamics", q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(by_modes, A.T @ by_elements, rtol=1e-11, atol=1e-13)


def _frequencies(M, K):
    return np.sort(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K)))))


def test_beam_outside_of_a_telescopic_joint_is_a_clamped_beam():
    """With its joint held, the smooth P_b link has the frequencies of a beam of length d; errors of order 4."""
    exact = FREE[0] * (0.8 / 0.5) ** 2
    errors = []
    for elements in (2, 4):
        link = {"joint": "Pb", "gamma": 0, "length": 0.8, "mass_per_length": 0.35325, "EI": 0.1688, "elements": elements}
        found = functions(
            elastogen.load({"elastogen": 1, "name": "pb", "planar": {"links": [link]}}), ("mass_matrix", "stiffness_matrix")
        )
        q = np.zeros(1 + 2 * elements)
        q[0] = 0.5
        M, K = (evaluate(found, name, q=q)[1:, 1:] for name in ("mass_matrix", "stiffness_matrix"))
        errors.append(_frequencies(M, K)[0] / exact - 1)
    assert 0 < errors[1] < 1e-4
    assert 14 < errors[0] / errors[1] < 18


# ---- switches


def test_smooth_contact_has_no_jump_of_place_and_angle():
    """At a node tip and Jacobian are continuous but for the column of d, in which w'' of the elements stands."""
    plan = pair_of("R", "Pa", "smooth")
    found = functions(elastogen.load(plan.description("pair")), ("forward_kinematics", "jacobian"))
    q, _, _ = state_of(plan, np.random.default_rng(7))
    d = plan.starts[1]
    q[d] = 0.4
    after = q.copy()
    after[d] = np.nextafter(0.4, 1.0)
    assert [found["jacobian"].selectors[0].element(at) for at in (q, after)] == [1, 2]
    poses = [evaluate(found, "forward_kinematics", q=at) for at in (q, after)]
    np.testing.assert_allclose(poses[0], poses[1], rtol=0, atol=1e-14)
    before, behind = (evaluate(found, "jacobian", q=at) for at in (q, after))
    others = [k for k in range(plan.nq) if k != d]
    np.testing.assert_allclose(before[:, others], behind[:, others], rtol=0, atol=1e-13)
    assert behind[5, d] - before[5, d] == pytest.approx(
        plan.deflection(0, 0.4, q, 2, 2) - plan.deflection(0, 0.4, q, 1, 2), abs=1e-12
    )
