"""Mechanisms in the rest of the tool: judged by multipliers, compared with Pinocchio, refused where they would be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from test_loop_descriptions import COLLECTION, FOUR_BAR

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.loops.analysis import analysis_of
from elastogen.verification import second_derivation
from elastogen.verification.states import random_states


def test_second_derivation_with_multipliers() -> None:
    robot = elastogen.load(FOUR_BAR)
    names = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector")
    functions = {function.name: function for function in derive_model(robot, names).functions}
    states = random_states(robot, 2, 1)
    found = {finding.subject: finding.verdict for finding in second_derivation.check(robot, functions, states, {})}
    assert found["inverse_dynamics"] == "passed"
    assert set(found.values()) == {"passed"}


@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
def test_against_pinocchio() -> None:
    """A leg with a rod between spherical joints, six rows of full rank."""
    pin = pytest.importorskip("pinocchio")
    folder = COLLECTION / "talos_like"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    robot = elastogen.load(folder / "robot.urdf", loops=folder / "robot.yaml", name="leg")
    program, *_ = (function.program for function in derive_model(robot, ("forward_dynamics",)).functions)
    model = pin.buildModelFromUrdf(str(folder / "robot.urdf"))
    (loop,), data = robot.loops, model.createData()
    ends = [model.frames[model.getFrameId(end.link)] for end in (loop.a, loop.b)]
    contact = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_6D, model, ends[0].parentJoint, ends[0].placement, ends[1].parentJoint, ends[1].placement
    )
    contacts = pin.StdVec_RigidConstraintModel()
    contacts.append(contact)
    kept = pin.StdVec_RigidConstraintData()
    kept.append(contact.createData())
    pin.initConstraintDynamics(model, data, contacts, kept)
    order = robot.pinocchio_order
    for q, qd, _ in analysis_of(robot).samples[:12:4]:
        F = np.random.default_rng(2).normal(size=len(qd))
        settings = pin.ProximalSettings(1e-14, 1e-14, 1e-8, 200)
        theirs = pin.constraintDynamics(model, data, order.q(q), order.v(qd), order.v(F), contacts, kept, settings)
        ours = order.v(program.evaluate({"q": q, "qd": qd, "F": F})["qdd"])
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6 * np.abs(theirs).max())
