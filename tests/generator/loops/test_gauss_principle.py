"""Dynamics of random closed mechanisms against Gauss' principle by plain linear algebra."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, link_poses, null_space, random_mechanism, residuals

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE, derive_model, output_names, program_of
from elastogen.generator.functions.loops.by_legs import forward_dynamics_by_legs, has_legs
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.robot.errors import OutputError

CASES: list[tuple[str, int, int, list[str], dict[str, Any]]] = [
    ("planar revolute", 1, 5, ["revolute"], {"planar": True}),
    ("planar, two loops", 2, 8, ["revolute", "spherical"], {"planar": True}),
    ("planar, three loops of all sorts", 3, 10, ["prismatic", "distance", "gear"], {"planar": True}),
    ("spatial revolute", 4, 7, ["revolute"], {}),
    ("spatial, four loops", 5, 13, ["spherical", "distance", "universal", "gear"], {}),
    ("spatial fixed", 6, 8, ["fixed"], {}),
    ("cylindrical", 7, 6, ["cylindrical", "distance"], {}),
    ("prismatic", 8, 7, ["prismatic"], {}),
    ("floating base", 9, 5, ["spherical", "distance"], {"base": "floating"}),
    ("quaternions in the loop", 10, 5, ["spherical", "universal"], {"kinds": ("spherical", "revolute")}),
    ("planar, floating", 11, 5, ["revolute"], {"planar": True, "base": "floating"}),
]
WANTED = ("mass_matrix", "forward_dynamics", "constraint_forces", "loop_residual", "loop_jacobian", "loop_bias", "loop_forces")


@pytest.mark.parametrize(("seed", "joints", "loops", "how"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_random_mechanisms(seed: int, joints: int, loops: list[str], how: dict[str, Any]) -> None:
    file, q = random_mechanism(seed, joints, loops, **how)
    robot = elastogen.load(file)
    known = analysis_of(robot)
    value = _values(robot, WANTED)
    tree = _values(replace(robot, loops=()), ("inverse_dynamics",))
    J = jacobian(robot, q)
    assert known.rank == np.linalg.matrix_rank(J, 1e-8)
    assert known.freedoms == J.shape[1] - known.rank
    assert np.abs(residuals(robot, q, np.zeros(J.shape[1])).a).max() < 1e-12
    assert np.abs(value("loop_residual", q=q)).max() < 1e-12
    ours = value("loop_jacobian", q=q)
    assert np.linalg.matrix_rank(np.vstack([J, ours]), 1e-8) == known.rank  # the same rows
    assert np.linalg.matrix_rank(ours, 1e-8) == known.rank
    N, rng = null_space(J), np.random.default_rng(seed)
    for _ in range(2):
        qd, F = N @ rng.normal(size=N.shape[1]), rng.normal(size=len(N))
        M, forces = value("mass_matrix", q=q), F - tree("inverse_dynamics", q=q, qd=qd, qdd=0 * qd)
        expected = gauss(J, 2 * residuals(robot, q, qd).c, M, forces)
        qdd = value("forward_dynamics", q=q, qd=qd, F=F)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(qdd, expected, rtol=1e-9, atol=1e-10 * scale)
        assert np.abs(ours @ expected + value("loop_bias", q=q, qd=qd)).max() < 1e-9 * (1 + scale)
        reaction = value("constraint_forces", q=q, qd=qd, F=F)
        np.testing.assert_allclose(reaction, M @ expected - forces, rtol=1e-8, atol=1e-9 * np.abs(M @ expected).max())
        assert abs(reaction @ qd) < 1e-8 * (1 + np.abs(reaction).max())  # they do no work
        _check_inverse(robot, q, qd, expected, value)


def _check_inverse(robot: Any, q: Any, qd: Any, qdd: Any, value: Any) -> None:
    """Drives alone give the motion back, or are refused by name."""
    known = analysis_of(robot)
    if known.unforced:
        with pytest.raises(OutputError, match="freedoms without drives"):
            output_names(("inverse_dynamics",), robot)
        return
    F = _values(robot, ("inverse_dynamics",))("inverse_dynamics", q=q, qd=qd, qdd=qdd)
    passive = [k for k, v in enumerate(robot.velocities) if not v.driven and k not in known.choice.independent]
    assert not F[passive].any()
    again = value("forward_dynamics", q=q, qd=qd, F=F)
    np.testing.assert_allclose(again, qdd, rtol=1e-8, atol=1e-9 * np.abs(qdd).max())


def _values(robot: Any, names: tuple[str, ...]) -> Any:
    programs = {function.name: function.program for function in derive_model(robot, names).functions}

    def value(name: str, **state: Any) -> Any:
        (answer,) = programs[name].evaluate(state).values()
        return answer

    return value


def parallel_robot(seed: int, legs: int, body: str) -> dict[str, Any]:
    """Legs of three joints each, from the base to random points of one body, closed where no joint has moved."""
    rng = np.random.default_rng(seed)

    def inertia() -> dict[str, Any]:
        place, tensor = rng.uniform(-0.2, 0.2, 3).tolist(), rng.uniform(0.02, 0.03, 3).tolist()
        return {"mass": float(rng.uniform(0.5, 2)), "com": place, "inertia": tensor}

    links: list[dict[str, Any]] = [{"name": "frame"}, {"name": "carrier", **inertia()}, {"name": "body", **inertia()}]
    joints: list[dict[str, Any]] = [
        {"name": "lift", "type": "prismatic", "axis": rng.normal(size=3).tolist(), "parent": "frame", "child": "carrier",
         "driven": False},
        {"name": "hub", "type": body, "parent": "carrier", "child": "body", "driven": False,
         "placement": {"xyz": [0, 0, 0.7], "rpy": rng.uniform(-1, 1, 3).tolist()}},
    ]  # fmt: skip
    loops = []
    tree = elastogen.load({"elastogen": 1, "name": "tree", "links": links[:3], "joints": joints})
    rest = link_poses(
        tree, np.array([0.0, *([0, 0, 0, 1.0] if body == "spherical" else [0.0])]), np.zeros(len(tree.velocities))
    )
    for k in range(legs):
        foot, r = rng.uniform(-1, 1, 3), rng.uniform(-0.4, 0.4, 3)
        point = (rest["body"].a @ [*r, 1.0])[:3]
        knee = (foot + point) / 2 + rng.uniform(-0.3, 0.3, 3)
        for name, parent, place in (("thigh", "frame", foot), ("shank", f"thigh{k}", knee - foot)):
            links.append({"name": f"{name}{k}", **inertia()})
            kind = "universal" if name == "thigh" else "revolute"
            axes = {"axis": [1, 0, 0], "axis2": [0, 1, 0]} if kind == "universal" else {"axis": rng.normal(size=3).tolist()}
            joints.append({"name": f"{name}{k}", "type": kind, "parent": parent, "child": f"{name}{k}", **axes,
                           "placement": {"xyz": place.tolist()}, "driven": kind == "revolute"})  # fmt: skip
        loops.append({"name": f"ball{k}", "type": "spherical", "a": {"link": f"shank{k}", "xyz": (point - knee).tolist()},
                      "b": {"link": "body", "xyz": r.tolist()}})  # fmt: skip
    return {"elastogen": 1, "name": "parallel", "links": links, "joints": joints, "loops": loops}


@pytest.mark.parametrize(("seed", "legs", "body"), [(1, 1, "revolute"), (2, 2, "revolute"), (3, 4, "spherical")])
def test_parallel_robots_by_their_legs(seed: int, legs: int, body: str) -> None:
    """Bodies that turn while legs carry them, one leg and many: formulations of their own."""
    robot = elastogen.load(parallel_robot(seed, legs, body))
    variants = VariantFamily(robot).dynamic()
    assert has_legs(variants[0])
    known, tree = analysis_of(robot), _values(replace(robot, loops=()), ("inverse_dynamics", "mass_matrix"))
    found = []
    for variant in (variants[0], variants[-1]):
        function = CATALOGUE["forward_dynamics"]
        with variant.graph.apart():
            found.append(program_of(function, variant, forward_dynamics_by_legs(variant), ()))
    rng = np.random.default_rng(seed)
    for q, qd, _ in known.samples[:12:4]:
        F = rng.normal(size=len(qd))
        J, M = jacobian(robot, q), tree("mass_matrix", q=q)
        expected = gauss(J, 2 * residuals(robot, q, qd).c, M, F - tree("inverse_dynamics", q=q, qd=qd, qdd=0 * qd))
        for program in found:
            (qdd,) = program.evaluate({"q": q, "qd": qd, "F": F}).values()
            np.testing.assert_allclose(qdd, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
    if known.fit == "exactly":
        value = _values(robot, ("forward_dynamics",))
        for q, qd, qdd in known.samples[:8:4]:
            _check_inverse(robot, q, qd, qdd, value)


@pytest.mark.parametrize(
    ("seed", "loops", "how"),
    [
        (8, ["gear", "distance"], {"base": "floating", "kinds": ("revolute",)}),  # q has one more number than qd
        (2, ["revolute", "distance"], {"planar": True, "kinds": ("revolute", "prismatic")}),  # rows in other axes
    ],
)
def test_mechanisms_are_confirmed_by_their_description(seed: int, loops: list[str], how: dict[str, Any]) -> None:
    robot = elastogen.load(random_mechanism(seed, 6, loops, **how)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derive_model(robot, ("forward_dynamics", "loop_residual", "loop_jacobian", "constraint_forces"))
