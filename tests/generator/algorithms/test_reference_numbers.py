"""Published and independently computed numbers, in tests/data; each file says where its numbers come from."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from robots_for_tests import DATA, Programs, pose, puma560_from_table, quietly_loaded, relative_error

from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Body, Joint, Link, Robot

PUMA = json.loads((DATA / "puma560.json").read_text())
CHAIN = json.loads((DATA / "rigid_chain.json").read_text())
TRTRR = json.loads((DATA / "trtrr.json").read_text())


# ---- PUMA 560

PUMA_FUNCTIONS = {
    "tau": "inverse_dynamics",
    "gravity": "gravity_vector",
    "coriolis_vector": "coriolis_vector",
    "M": "mass_matrix",
}


@cache
def puma(source: str) -> Programs:
    robot = quietly_loaded("puma560") if source == "built-in" else puma560_from_table(PUMA, source)
    return Programs(robot, list(PUMA_FUNCTIONS.values()))


@pytest.mark.parametrize("source", ["built-in", "standard_dh", "modified_dh"])
@pytest.mark.parametrize("quantity", PUMA_FUNCTIONS)
def test_puma560(quantity: str, source: str) -> None:
    samples = PUMA["reference_samples"]["samples"]
    assert len(samples) >= 3
    for sample in samples:
        state = {"q": sample["q"], "qd": sample["dq"], "qdd": sample["ddq"]}
        assert relative_error(puma(source)(PUMA_FUNCTIONS[quantity], **state), sample[quantity]) < 1e-12


# ---- a chain of three rigid links in space


@cache
def chain() -> Programs:
    """Placements go from the previous link's tip; its own tip is the last link's."""
    links, joints, parent, tip = [Link("base")], [], "base", np.zeros(3)
    for number, part in enumerate(CHAIN["chain"], start=1):
        body, placement = part["link"], np.array(part["placement"])
        links.append(
            Link(f"link{number}", Body(body["mass"], tuple(body["com"]), tuple(map(tuple, body["inertia_about_com"]))))
        )
        before = pose(placement[:3, :3], placement[:3, 3] + tip)
        joints.append(Joint(f"joint{number}", kinds.KINDS[part["joint"]], parent, f"link{number}", tuple(part["axis"]), before))
        parent, tip = f"link{number}", np.array(body["tip"])
    robot = Robot("chain", tuple(links), tuple(joints), tuple(CHAIN["gravity"]), parent, pose(np.eye(3), tip))
    return Programs(robot, "default")


CHAIN_QUANTITIES = {
    "tip_transform": "forward_kinematics",
    "tip_jacobian": "jacobian",
    "mass_matrix": "mass_matrix",
    "coriolis_vector": "coriolis_vector",
    "gravity_vector": "gravity_vector",
    "kinetic_energy": "kinetic_energy",
}


@pytest.mark.parametrize("index", range(len(CHAIN["states"])))
def test_rigid_chain(index: int) -> None:
    state = CHAIN["states"][index]
    motion = dict(zip(("q", "qd", "qdd"), state["derivatives"], strict=False))
    for quantity, function in CHAIN_QUANTITIES.items():
        actual = chain()(function, **motion)
        actual = actual[-1] if quantity == "tip_transform" else actual
        assert relative_error(actual, state[quantity]) < 1e-10, quantity
    forces = state["inertia_force_rate"]["0"]
    assert relative_error(chain()("inertia_forces", **motion), forces) < 1e-10
    full = np.array(forces) + np.array(state["gravity_vector"])
    assert relative_error(chain()("inverse_dynamics", **motion), full) < 1e-10
    assert relative_error(chain()("forward_dynamics", F=full, **motion), motion["qdd"]) < 1e-10


def test_rigid_chain_covers_every_rigid_field() -> None:
    """Acceleration energies and rates of the inertia forces beyond order 0 are functions of higher derivatives."""
    higher = {"derivatives", "acceleration_energy", "inertia_force_rate"}
    for state in CHAIN["states"]:
        assert set(state) == set(CHAIN_QUANTITIES) | higher


# ---- TRTRR


@cache
def trtrr() -> Programs:
    names = ["forward_kinematics", "frame_velocities", "frame_velocities_local", "frame_accelerations",
             "frame_accelerations_local"]  # fmt: skip
    return Programs(quietly_loaded("trtrr"), names)


@pytest.mark.parametrize("index", range(len(TRTRR["states"])))
def test_trtrr(index: int) -> None:
    """Velocities and accelerations of the tip (frame 6), in the axes of frames 0 and 6."""
    state = TRTRR["states"][index]
    lengths = {f"l{number}": length for number, length in enumerate(state["l"], start=1)}

    def tip(function: str) -> Any:
        return trtrr()(function, lengths, q=state["q"], qd=state["qd"], qdd=state["qdd"])[-1]

    assert relative_error(tip("forward_kinematics"), state["T60"]) < 1e-12
    for axes, suffix in (("frame0", ""), ("frame6", "_local")):
        velocity, acceleration = tip(f"frame_velocities{suffix}"), tip(f"frame_accelerations{suffix}")
        for name, actual in (
            ("v", velocity[:3]), ("omega", velocity[3:]), ("a_kin", acceleration[:3]), ("epsilon", acceleration[3:])
        ):  # fmt: skip
            assert relative_error(actual, state[axes][name]) < 1e-12, (axes, name)
    rotation = np.array(state["T60"])[:3, :3]
    lift = np.array(state["frame0"]["a"]) - state["frame0"]["a_kin"]  # the reference's a rests on an accelerated base
    np.testing.assert_allclose(lift, [0, 0, state["g"]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.array(state["frame6"]["a"]) - state["frame6"]["a_kin"], rotation.T @ lift, atol=1e-12)
