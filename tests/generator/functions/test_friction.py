"""Friction of joints: its law as written in the description, on both sides of the dynamics, in C and in simulations."""

from __future__ import annotations

import re

import numpy as np
import pytest

import elastogen

LAW = {
    "viscous": 1.3, "coulomb": 0.8, "coulomb_velocity": 0.05, "offset": 0.21, "stribeck": -0.3, "stribeck_velocity": 0.4,
    "viscous_asymmetry": 0.4, "coulomb_asymmetry": -0.2, "load": 0.12, "load_width": 0.05,
}  # fmt: skip
ALL = ("inverse_dynamics", "forward_dynamics", "friction_forces", "load_friction_forces", "mass_matrix", "coriolis_vector",
       "gravity_vector", "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "regressor",
       "inertial_parameters", "kinetic_energy", "potential_energy")  # fmt: skip


def described(*laws, motor=0.3, **elastic):
    """A chain of joints about y, one law of friction each."""
    placement = [{"xyz": [0, 0, 0]}, {"xyz": [0.5, 0.1, 0]}, {"xyz": [0.4, 0, 0], "rpy": [0.4, 0, 0.2]}]
    joints = [
        {"name": f"j{k}", "type": "revolute", "parent": f"l{k}", "child": f"l{k + 1}", "axis": [0, 1, 0],
         "placement": placement[k], "motor": {"inertia": motor}, "friction": law, **elastic}
        for k, law in enumerate(laws)
    ]  # fmt: skip
    body = {
        "mass": 2.0,
        "com": [0.2, 0.05, 0.02],
        "inertia": {"xx": 0.02, "yy": 0.06, "zz": 0.07, "xy": 0.004, "xz": 0, "yz": 0},
    }
    links = [{"name": "l0"}, *({"name": f"l{k + 1}", **body} for k in range(len(laws)))]
    return {"elastogen": 1, "name": "rubbing", "gravity": [0, 0, -9.81], "links": links, "joints": joints}


@pytest.fixture(scope="module")
def model():
    return elastogen.build_model(described(LAW, {"coulomb": 2.0, "load": 0.3}, {"viscous": 0.4}), outputs=ALL)


@pytest.fixture(scope="module")
def states():
    rng = np.random.default_rng(1)
    return rng.uniform(-2, 2, (40, 3)), rng.uniform(-0.4, 0.4, (40, 3)), rng.uniform(-6, 6, (40, 3))


def dry(law, v):
    """The law of friction without load, written down once more."""
    law = {"viscous": 0, "coulomb": 0, "coulomb_velocity": 0.01, "offset": 0, "stribeck": 0, "stribeck_velocity": 0.1,
           "viscous_asymmetry": 0, "coulomb_asymmetry": 0, **law}  # fmt: skip
    s = np.tanh(v / law["coulomb_velocity"])
    sliding = law["coulomb"] + law["stribeck"] * np.exp(-((v / law["stribeck_velocity"]) ** 2))
    slopes = law["viscous"] + law["viscous_asymmetry"] * s
    return law["offset"] + slopes * v + sliding * s + law["coulomb_asymmetry"] * s**2


def test_the_forces_are_those_of_the_law(model, states):
    q, qd, qdd = states
    laws = (LAW, {"coulomb": 2.0, "load": 0.3}, {"viscous": 0.4})
    own = np.stack([dry(law, qd[:, k]) for k, law in enumerate(laws)], axis=1)
    np.testing.assert_allclose(model.friction_forces(q, qd), own, rtol=0, atol=1e-12)
    load = np.einsum("nij,nj->ni", model.mass_matrix(q), qdd) + model.coriolis_vector(q, qd) + model.gravity_vector(q)
    share = np.array([0.12, 0.3, 0.0]) * np.tanh(qd / [0.05, 0.01, 1.0])
    expected = load + own + share * np.hypot(load, [0.05, 0.01, 1.0])
    F = model.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(F, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.load_friction_forces(qd, F), expected - load - own, rtol=0, atol=1e-11)


def test_forward_dynamics_is_the_inverse(model, states):
    q, qd, qdd = states
    np.testing.assert_allclose(model.forward_dynamics(q, qd, model.inverse_dynamics(q, qd, qdd)), qdd, rtol=0, atol=1e-9)


def test_derivatives_are_those_of_differences(model, states):
    q, qd, qdd = (x[:5] for x in states)
    F, h = model.inverse_dynamics(q, qd, qdd), 1e-6
    for name, third in (("inverse_dynamics", qdd), ("forward_dynamics", F)):
        blocks = getattr(model, f"{name}_derivatives")(q, qd, third)
        for index, block in enumerate(blocks):
            for k in range(3):
                ends = []
                for sign in (1, -1):
                    given = [q.copy(), qd.copy(), third.copy()]
                    given[index][:, k] += sign * h
                    ends.append(getattr(model, name)(*given))
                slope = (ends[0] - ends[1]) / (2 * h)
                np.testing.assert_allclose(block[:, :, k], slope, rtol=2e-6, atol=2e-6 * np.abs(block).max())


def test_the_regressor_gives_what_does_not_depend_on_load(model, states):
    q, qd, qdd = states
    F = model.inverse_dynamics(q, qd, qdd)
    linear = model.regressor(q, qd, qdd) @ model.inertial_parameters()
    np.testing.assert_allclose(linear, F - model.load_friction_forces(qd, F), rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", ["tsit5", "generalized_alpha"])
def test_what_load_takes_is_counted(model, method):
    how = {"rtol": 1e-9, "atol": 1e-11} if method == "tsit5" else {"step": 1e-4}
    s = model.simulate([0.3, -0.5, 0.2], [1.0, -2.0, 1.5], t=0.6, method=method, **how)
    assert s.dissipated[-1] > 1.0
    np.testing.assert_allclose(s.balance, 0.0, atol=2e-4 if method != "tsit5" else 2e-6)


def test_elastic_joints_carry_the_load_on_the_drives_side():
    robot = described(LAW, {"load": 0.2}, elasticity={"stiffness": 900.0, "damping": 0.5})
    outputs = ("inverse_dynamics", "forward_dynamics", "elastic_inverse_dynamics")
    model = elastogen.build_model(robot, outputs=outputs)
    rng = np.random.default_rng(4)
    q, qd, qdd = (rng.uniform(-1, 1, (6, 4)) * [1, 0.01, 1, 0.01] for _ in range(3))
    F, acceleration = model.elastic_inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(F[:, 1::2], 0.0)
    np.testing.assert_allclose(model.forward_dynamics(q, qd, F), acceleration, rtol=1e-8, atol=1e-7)
    np.testing.assert_allclose(model.inverse_dynamics(q, qd, acceleration), F, rtol=0, atol=1e-8)


def test_a_second_derivation_agrees():
    report = elastogen.verify(described(LAW, {"coulomb": 2.0, "load": 0.3}))
    assert report.passed, report


def test_live_friction_is_an_input():
    robot = described(LAW) | {"live": ["joints.*.friction"]}
    model = elastogen.build_model(robot, outputs=("inverse_dynamics", "forward_dynamics"))
    state = [0.4], [0.2], [1.0]
    base = model.inverse_dynamics(*state)
    np.testing.assert_allclose(model.inverse_dynamics(*state, parameters={"j0_offset": 1.21}), base + 1.0, atol=1e-12)
    changed = {"j0_load": 0.5, "j0_stribeck": 1.0}
    F = model.inverse_dynamics(*state, parameters=changed)
    assert abs(F - base).max() > 0.5
    np.testing.assert_allclose(model.forward_dynamics([0.4], [0.2], F, parameters=changed), [1.0], atol=1e-11)


def test_the_closed_form_has_all_of_it(model, states):
    forms = elastogen.derive(described(LAW, {"coulomb": 2.0, "load": 0.3}, {"viscous": 0.4}), symbolic="none")
    q, qd, qdd = (x[0] for x in states)
    values = {
        **dict(zip(forms.q, q, strict=True)),
        **dict(zip(forms.qd, qd, strict=True)),
        **dict(zip(forms.qdd, qdd, strict=True)),
    }
    found = np.array(forms.inverse_dynamics.subs(values), dtype=float).ravel()
    np.testing.assert_allclose(found, model.inverse_dynamics(q, qd, qdd), rtol=1e-9)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"load": 1.0}, "friction.load: got 1, expected a share of the load"),
        ({"load": -0.1}, "friction.load: got -0.1, expected zero or more"),
        ({"load_width": 0.0, "load": 0.1}, "load_width: got 0, expected a force above zero"),
        ({"stribeck_velocity": -1.0}, "stribeck_velocity: got -1, expected a speed above zero"),
        ({"coulomb": 1.0, "stribeck": -1.1}, "stribeck: got -1.1, expected at least -coulomb"),
        ({"viscous_asymmetry": 0.1}, "viscous_asymmetry: got 0.1, expected at most viscous = 0"),
        ({"coulomb": 0.3, "coulomb_asymmetry": -0.4}, "coulomb_asymmetry: got -0.4, expected at most coulomb = 0.3"),
        ({"offset": float("nan")}, "offset"),
    ],
)
def test_friction_that_drives_is_refused(law, words):
    with pytest.raises(elastogen.RobotError, match=re.escape(words)):
        elastogen.load(described(law))


def test_a_joint_without_a_drive_holds_no_load():
    robot = described({"load": 0.1})
    robot["joints"][0]["driven"] = False
    with pytest.raises(elastogen.RobotError, match="0 for a joint without a drive"):
        elastogen.load(robot)


def test_second_derivatives_are_refused():
    with pytest.raises(elastogen.ElastogenError, match=r"only for robots without friction\.load"):
        elastogen.build_model(described({"load": 0.1}), outputs=["inverse_dynamics_second_order"])
