"""The built-in mechanisms: they load without a warning, close, fit their drives, and agree with Gauss' principle."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, residuals
from plain_programs import PlainPrograms

import elastogen
from elastogen.build.pages.home import drives, home
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.loops.analysis import analysis_of

FREEDOMS = {"four_bar": 1, "five_bar": 2, "delta": 3, "six_leg_platform": 6, "slider_crank": 5}
OPERATIONS = {  # forward and inverse dynamics: of the closed mechanism, and of its tree; the aim is a ratio of 2 and 1.5
    "five_bar": ((165, 96), (82, 74)),
    "delta": ((560, 307), (277, 229)),
    "six_leg_platform": ((2037, 674), (1142, 604)),
}


@pytest.mark.parametrize("name", FREEDOMS)
def test_built_in_mechanisms(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = elastogen.load(name)
    known = analysis_of(robot)
    assert (known.freedoms, known.fit) == (FREEDOMS[name], "exactly")
    if name == "slider_crank":  # its rod is flexible: no chain of rigid links
        return
    names = ("forward_dynamics", "inverse_dynamics", "mass_matrix")
    closed = {f.name: f.program for f in derive_model(robot, names).functions}
    tree = {f.name: f.program for f in derive_model(replace(robot, loops=()), names[:2]).functions}
    for q, qd, _ in known.samples[:8:4]:
        J, F = jacobian(robot, q), np.random.default_rng(1).normal(size=len(qd))
        forces = F - _value(tree["inverse_dynamics"], q=q, qd=qd, qdd=0 * qd)
        expected = gauss(J, 2 * residuals(robot, q, qd).c, _value(closed["mass_matrix"], q=q), forces)
        size = np.abs(expected).max()
        np.testing.assert_allclose(_value(closed["forward_dynamics"], q=q, qd=qd, F=F), expected, rtol=1e-9, atol=1e-9 * size)
        drives = _value(closed["inverse_dynamics"], q=q, qd=qd, qdd=expected)
        again = _value(closed["forward_dynamics"], q=q, qd=qd, F=drives)
        np.testing.assert_allclose(again, expected, rtol=1e-8, atol=1e-9 * size)
    if name in OPERATIONS:
        counted = tuple((closed[function].count.total, tree[function].count.total) for function in names[:2])
        assert counted == OPERATIONS[name]


def test_plain_programs_of_tests_keep_loops_closed() -> None:
    """Programs that tests compare with are those of the mechanism, and not of its tree."""
    robot = elastogen.load("four_bar")
    plain, (q, qd, _), F = PlainPrograms(robot), analysis_of(robot).samples[0], np.array([0.4, 0.0, 0.0])
    tree = PlainPrograms(replace(robot, loops=()))
    forces = F - tree("inverse_dynamics", q=q, qd=qd, qdd=0 * qd)
    expected = gauss(jacobian(robot, q), 2 * residuals(robot, q, qd).c, plain("mass_matrix", q=q), forces)
    np.testing.assert_allclose(plain("forward_dynamics", q=q, qd=qd, F=F), expected, rtol=1e-9)


def _value(program: Any, **state: Any) -> Any:
    (answer,) = program.evaluate(state).values()
    return answer


def test_pages_start_closed_and_hold_drives_only() -> None:
    robot = elastogen.load("five_bar")  # open where no joint has moved
    start = home(robot, cast(elastogen.Model, robot))  # names of coordinates are all it asks for
    assert np.abs(residuals(robot, start, np.zeros(4)).a).max() < 1e-10
    assert drives(robot) == {0: 0, 2: 2}


def test_documents_leave_out_what_solves_equations() -> None:
    text = elastogen.derive("five_bar").latex()
    assert "Mass matrix" in text
    assert "driving forces" not in text


def test_an_arm_beside_a_five_bar_moves_too() -> None:
    """Legs are not the whole robot there: d'Alembert's principle along all velocities that keep the loop closed."""
    robot = elastogen.load("five_bar")
    base, arm = robot.links[0].name, elastogen.load("two_link")
    joint = replace(arm.joints[0], name="beside", parent=base, child="arm")
    both = replace(
        robot, links=(*robot.links, replace(arm.links[1], name="arm")), joints=(*robot.joints, joint), experiment=None
    )
    both = replace(both, parameters={**arm.parameters, **robot.parameters})
    outputs = ["forward_dynamics", "inertia_forces", "gravity_vector", "friction_forces", "loop_jacobian", "loop_bias"]
    model: Any = elastogen.build_model(both, outputs=[*outputs, "loop_residual"], cflags="-O0")
    q = np.asarray(model.close_loops(np.append(np.full(model.nq - 1, 0.4), 0.3)))
    J = model.loop_jacobian(q)
    free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, 1e-8) :].T
    qd, F = free @ np.linspace(0.3, 0.7, free.shape[1]), np.linspace(-1, 1, model.nv)
    qdd = model.forward_dynamics(q, qd, F)
    left = model.inertia_forces(q, qd, qdd) + model.gravity_vector(q) + model.friction_forces(q, qd) - F
    np.testing.assert_allclose(free.T @ left, 0, atol=1e-11)
    np.testing.assert_allclose(J @ qdd + model.loop_bias(q, qd), 0, atol=1e-11)
