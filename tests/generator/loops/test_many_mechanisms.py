"""Many random mechanisms, planar and spatial, with one to four loops of all types, fixed and free: Gauss' principle."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, null_space, random_mechanism, residuals
from test_loop_descriptions import FOUR_BAR

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.loops.numbers import LoopNumbers
from elastogen.generator.mechanism.frame_assignment import build_mechanism
from elastogen.generator.program.graph import Graph

ROWS = {
    "revolute": 5, "spherical": 3, "universal": 4, "cylindrical": 4, "prismatic": 5, "fixed": 6, "distance": 1, "gear": 1,
}  # fmt: skip
IN_PLANE = {"revolute": 2, "spherical": 2, "prismatic": 2, "fixed": 3, "distance": 1, "gear": 1}
LARGEST = 16  # joints


def _values(robot: Any, names: tuple[str, ...]) -> Any:
    programs = {function.name: function.program for function in derive_model(robot, names).functions}
    return lambda name, **state: next(iter(programs[name].evaluate(state).values()))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 140))
def test_gauss_principle_of_many_mechanisms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    planar = bool(rng.random() < 0.4)
    kinds = IN_PLANE if planar else ROWS
    loops = [str(rng.choice(list(kinds))) for _ in range(int(rng.integers(1, 5)))]
    base = "floating" if rng.random() < 0.2 else "fixed"
    joints = min(sum(kinds[kind] for kind in loops) + int(rng.integers(1, 4)), LARGEST)
    own = () if planar or rng.random() < 0.7 else ("spherical", "revolute", "prismatic")
    file, q = random_mechanism(seed, joints, loops, planar=planar, base=base, kinds=own)
    robot = elastogen.load(file)
    J = jacobian(robot, q)
    rank = np.linalg.matrix_rank(J, 1e-8)
    if rank == J.shape[1]:
        with pytest.raises(elastogen.RobotError, match="leave nothing to move"):
            analysis_of(robot)
        return
    assert analysis_of(robot).rank == rank
    value = _values(robot, ("mass_matrix", "forward_dynamics", "constraint_forces"))
    tree = _values(replace(robot, loops=()), ("inverse_dynamics",))
    N = null_space(J)
    qd, F = N @ rng.normal(size=N.shape[1]), rng.normal(size=len(N))
    M, forces = value("mass_matrix", q=q), F - tree("inverse_dynamics", q=q, qd=qd, qdd=0 * qd)
    expected = gauss(J, 2 * residuals(robot, q, qd).c, M, forces)
    found = value("forward_dynamics", q=q, qd=qd, F=F)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    reaction = value("constraint_forces", q=q, qd=qd, F=F)
    np.testing.assert_allclose(reaction, M @ expected - forces, rtol=0, atol=1e-9 * np.abs(M @ expected).max())
    assert abs(reaction @ qd) < 1e-8 * (1 + np.abs(reaction).max() * np.abs(qd).max())  # they do no work


def test_starts_close_where_rows_depend_on_each_other_in_closed_configurations_alone() -> None:
    """Steps of Newton without damping close 20 of these: some of six rows on four joints follow where all are closed."""
    file, _ = random_mechanism(206, 5, ["fixed"], planar=False, base="fixed", kinds=())
    robot = elastogen.load(file)
    numbers, generator = (
        LoopNumbers(robot, build_mechanism(Graph(), robot, reframe=False, regroup=False)),
        np.random.default_rng(1),
    )
    _, gaps = numbers.close(np.array([numbers.random(generator) for _ in range(64)]))
    assert (gaps < 1e-9).sum() > 40


def test_a_leg_with_two_joints_on_one_axis_is_not_determined_by_its_end() -> None:
    """Its formulation ended in a raw error."""
    body = {"mass": 1.0, "com": [0.1, 0, 0.02], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}}
    joints: list[dict[str, Any]] = [
        {"name": "hip", "type": "revolute", "axis": [0, 0, 1], "parent": "ground", "child": "thigh"},
        {
            "name": "knee",
            "type": "revolute",
            "axis": [0, 1, 0],
            "parent": "thigh",
            "child": "disc",
            "placement": {"xyz": [0.4, 0, 0]},
        },
        {"name": "same", "type": "revolute", "axis": [0, 1, 0], "parent": "disc", "child": "shin"},
        {
            "name": "x",
            "type": "prismatic",
            "axis": [1, 0, 0],
            "parent": "ground",
            "child": "a",
            "placement": {"xyz": [0.6, 0.1, 0.3]},
        },
        {"name": "y", "type": "prismatic", "axis": [0, 1, 0], "parent": "a", "child": "b"},
        {"name": "z", "type": "prismatic", "axis": [0, 0, 1], "parent": "b", "child": "plate"},
    ]
    links = [{"name": "ground"}, *({"name": joint["child"], **body} for joint in joints)]
    loop = {"name": "point", "type": "spherical", "a": {"link": "shin", "xyz": [0.4, 0, 0]}, "b": {"link": "plate"}}
    robot = elastogen.load({"elastogen": 1, "name": "coincident", "links": links, "joints": joints, "loops": [loop]})
    q, qd, _ = analysis_of(robot).samples[0]
    value, tree = _values(robot, ("mass_matrix", "forward_dynamics")), _values(replace(robot, loops=()), ("inverse_dynamics",))
    F = np.linspace(-1, 1, 6)
    forces = F - tree("inverse_dynamics", q=q, qd=qd, qdd=0 * qd)
    expected = gauss(jacobian(robot, q), 2 * residuals(robot, q, qd).c, value("mass_matrix", q=q), forces)
    found = value("forward_dynamics", q=q, qd=qd, F=F)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_platform_on_too_few_legs_is_no_floating_base() -> None:
    """So the forces that it would take are no inverse dynamics of the drives."""
    robot = elastogen.load("six_leg_platform")

    def left(parts: Any) -> Any:
        return tuple(part for part in parts if not part.name[-1].isdigit() or part.name[-1] in "12")

    robot = replace(robot, links=left(robot.links), joints=left(robot.joints), loops=left(robot.loops), experiment=None)
    known = analysis_of(robot)
    assert (known.fit, known.freedoms, len(known.unforced)) == ("too few", 6, 4)


@pytest.mark.filterwarnings("ignore:.*no motor inertia")
def test_a_rotor_without_inertia_behind_a_spring_is_refused_by_the_model_not_by_the_derivation() -> None:
    """Its accelerations have no value, as in a tree: that is no fault of the derivation."""
    file = copy.deepcopy(FOUR_BAR)
    file["joints"][0]["elasticity"] = {"stiffness": 100.0}
    value = _values(elastogen.load(file), ("forward_dynamics", "constraint_forces", "loop_forces", "inverse_dynamics"))
    q, qd, qdd = analysis_of(elastogen.load(file)).samples[0]
    assert np.isfinite(value("inverse_dynamics", q=q, qd=qd, qdd=qdd)).all()
