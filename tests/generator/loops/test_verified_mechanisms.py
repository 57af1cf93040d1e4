"""Mechanisms in the rest of the tool: judged by multipliers, compared with Pinocchio, refused where they would be wrong."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from test_loop_descriptions import COLLECTION, FOUR_BAR

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE, derive_model
from elastogen.generator.loops.analysis import analysis_of
from elastogen.verification import compiled, hygiene, identities, second_derivation
from elastogen.verification.states import random_states
from elastogen.verification.verify import SEED


def test_second_derivation_with_multipliers() -> None:
    robot = elastogen.load(FOUR_BAR)
    names = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector")
    functions = {function.name: function for function in derive_model(robot, names).functions}
    states = random_states(robot, 2, 1)
    found = {finding.subject: finding.verdict for finding in second_derivation.check(robot, functions, states, {})}
    assert found["inverse_dynamics"] == "passed"
    assert set(found.values()) == {"passed"}


def test_a_mechanism_without_drives_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no inverse dynamics; accelerations are those of multipliers. Its C is that of others."""
    for module, name in ((compiled, "check"), (hygiene, "check"), (identities, "_energy")):
        monkeypatch.setattr(module, name, lambda *_: iter(()))
    file = copy.deepcopy(FOUR_BAR)
    for joint in file["joints"]:
        joint["driven"] = False
    found = elastogen.verify(file, states=1, outputs=("forward_dynamics",))
    verdicts = {(finding.check, finding.subject): finding.verdict for finding in found.findings}
    assert found.passed
    assert verdicts["second derivation", "forward_dynamics"] == "passed"
    assert verdicts["second derivation", "inverse_dynamics"] == "skipped"


def test_accelerations_that_are_wrong_are_told() -> None:
    robot = elastogen.load(FOUR_BAR)
    (function,) = (f for f in derive_model(robot, ("forward_dynamics",)).functions if f.name == "forward_dynamics")
    heavier = copy.deepcopy(FOUR_BAR)
    heavier["links"][2]["mass"] *= 1 + 1e-9
    states = random_states(robot, 1, 1)
    (finding,) = second_derivation.check(elastogen.load(heavier), {"forward_dynamics": function}, states, {})
    assert finding.verdict == "failed"


def test_a_loop_along_a_beam_is_not_covered_and_says_so() -> None:
    file = copy.deepcopy(FOUR_BAR)
    file["links"][2] = {
        "name": "coupler", "flexible": {"type": "elements", "length": 0.8, "mass_per_length": 1, "EI": 10, "elements": 2},
    }  # fmt: skip
    file["loops"][0]["a"] = {"link": "coupler", "x": 0.7}
    robot = elastogen.load(file)
    functions = {f.name: f for f in derive_model(robot, ("forward_dynamics",)).functions if f.name == "forward_dynamics"}
    (finding,) = second_derivation.check(robot, functions, random_states(robot, 1, 1), {})
    assert (finding.verdict, finding.measured) == (
        "skipped",
        "a loop that ends along a beam is not covered by the second derivation",
    )


def test_identity_of_inverse_and_forward_dynamics_where_a_leg_is_nearly_stretched() -> None:
    """Accelerations of 35 rad/s^2 that velocities cause, and those of forces, leave 1.8: rounding is that of the 35."""
    robot = elastogen.load("delta")
    wanted = tuple(name for name in identities.NEEDED if CATALOGUE[name].applies(robot))
    functions = {function.name: function for function in derive_model(robot, wanted).functions}
    states = random_states(robot, 3, SEED, functions.values())
    for k in range(3):
        state = {name: values[k] for name, values in states.items()}
        assert dict(identities.at_state(robot, functions, state, {}))["forward(inverse) = identity"] < identities.LIMIT


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
