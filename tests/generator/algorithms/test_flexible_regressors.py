"""Driving forces of flexible robots are linear in masses, stiffnesses and dampings: regressors and base parameters."""

import copy

import numpy as np
import pytest

import elastogen
from elastogen.generator.functions.derivation import derive_model

LINEAR = ("inverse_dynamics", "regressor", "inertial_parameters", "base_regressor", "base_parameters")
NAMES = ("q", "qd", "qdd")


def spatial(rotation="exponential"):
    """A flexible joint with a drive, a tapered beam that bends in y and z, a hub, a body on the tip, a rigid hand."""
    modes = [{"direction": d, "shape": "(x/L)**2"} for d in ("y", "z")]
    beam = {"type": "modes", "length": 0.8, "mass_per_length": "0.5 - 0.2*x", "EI_z": 0.17, "EI_y": "0.4 - 0.1*x",
            "rotation": rotation, "modes": modes, "tip": {"mass": 0.2, "com": [0.01, 0.02, 0]},
            "damping": {"ratio": 0.02}}  # fmt: skip
    return {
        "elastogen": 1, "name": "spatial",
        "links": [{"name": "base"}, {"name": "beam", "mass": 0.3, "com": [0.01, 0, 0.02], "inertia": [1e-3, 1e-3, 1e-3],
                                     "flexible": beam},
                  {"name": "hand", "mass": 1.0, "com": [0.1, 0.05, -0.02], "inertia": [0.01, 0.02, 0.025]}],
        "joints": [{"name": "turn", "type": "revolute", "axis": [0, 0.6, 0.8], "motor": {"inertia": 0.002, "gear_ratio": 5},
                    "elasticity": {"stiffness": 50, "damping": 0.1}, "friction": {"viscous": 0.1, "coulomb": 0.2}},
                   {"name": "wrist", "type": "revolute", "axis": [1, 0, 0]}],
    }  # fmt: skip


def steep():
    """A short beam that twists and bends: a deflection of 1 m would turn its tip by 6 rad, beyond the range of its series."""
    description = spatial()
    modes = [{"direction": "torsion", "shape": "x/L"}, *({"direction": "y", "shape": f"(x/L)**{k}"} for k in (2, 3))]
    inner = {"GJ": 16.0, "polar_inertia_per_length": 3e-3, "foreshortening": True, "mass_per_length": 0.6, "EI_y": 0.4}
    description["links"][1]["flexible"] |= {"length": 0.47, "modes": modes, **inner}
    return description


def planar(*links):
    return {
        "elastogen": 1,
        "name": "planar",
        "planar": {"links": list(links), "gravity": [0.3, -9.81], "payload": {"mass": 0.2}},
    }


BEAM = {"length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
ROD = {"length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
ROBOTS = {
    "modes": spatial(),
    "linear tips": spatial("linear"),
    "steep shapes": steep(),
    "elements, P_a": planar({"joint": "R", "damping": {"ratios": [0.01, 0.02]}, **BEAM}, {"joint": "Pa", "gamma": 0.4, **ROD}),
    "P_b smooth": planar({"joint": "R", **ROD}, {"joint": "Pb", "gamma": 0.4, **BEAM}),
    "P_b nodal": planar({"joint": "R", **ROD}, {"joint": "Pb", "gamma": 0.4, "slide": "nodal", **BEAM}),
}


def quiet(description):
    for link in description.get("links", ()):
        link["accept_unphysical_inertia"] = True
    return elastogen.load(description)


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
@pytest.mark.parametrize("kind", ROBOTS)
def test_forces_are_linear_in_the_parameters(kind):
    robot = quiet(copy.deepcopy(ROBOTS[kind]))
    found = {function.name: function for function in derive_model(robot, LINEAR).functions}
    rng = np.random.default_rng(61)
    n = len(robot.coordinates)
    slides = {joint.name for joint in robot.joints if joint.type.name in ("sliding", "telescopic")}
    for _ in range(3):
        state = dict(zip(NAMES, rng.uniform(-0.5, 0.5, (3, n)), strict=True))
        for k, name in enumerate(robot.coordinate_names):
            if name in slides:
                state["q"][k] = rng.uniform(0.1, 0.7)
        F = found["inverse_dynamics"].evaluate(state)["F"]
        everything = found["regressor"].evaluate(state)["Y"] @ _constant(found["inertial_parameters"], state)
        base = found["base_regressor"].evaluate(state)["Y_b"] @ _constant(found["base_parameters"], state)
        np.testing.assert_allclose(everything, F, rtol=0, atol=1e-12 * np.abs(F).max())
        np.testing.assert_allclose(base, F, rtol=0, atol=1e-10 * np.abs(F).max())
    assert found["base_regressor"].outputs[0].shape[1] < found["regressor"].outputs[0].shape[1]


def _constant(function, state):
    given = {argument.name: state[argument.name] for argument in function.inputs}
    (result,) = function.evaluate(given).values()
    return result


def test_what_the_parameters_are():
    """Ten each of hub, tip and hand; mass per length and stiffnesses at the clamp, damping; joint's spring; drive."""
    robot = quiet(copy.deepcopy(ROBOTS["modes"]))
    (function,) = derive_model(robot, ["inertial_parameters"]).functions
    values = function.evaluate({})["pi"]
    assert len(values) == 30 + 4 + 2 + 3
    np.testing.assert_allclose(values[[0, 10, 20]], [0.3, 0.2, 1.0], rtol=1e-15)
    np.testing.assert_allclose(values[30:], [0.5, 0.17, 0.4, 1.0, 50, 0.1, 0.05, 0.1, 0.2], rtol=1e-14)


@pytest.mark.parametrize(("key", "column"), [("EI_z", 31), ("mass_per_length", 30)])
def test_a_changed_beam_changes_one_parameter(key, column):
    """Of a uniform beam without damping: forces of another EI or mass per length from the same regressor."""
    description = spatial()
    beam = description["links"][1]["flexible"]
    beam |= {"mass_per_length": 0.5, "EI_y": 0.4}
    del beam["damping"]
    changed = copy.deepcopy(description)
    changed["links"][1]["flexible"][key] *= 1.5
    one, other = (quiet(given) for given in (description, changed))
    found = {f.name: f for f in derive_model(one, ["regressor", "inertial_parameters"]).functions}
    (judge,) = derive_model(other, ["inverse_dynamics"]).functions
    rng = np.random.default_rng(62)
    state = dict(zip(NAMES, rng.uniform(-0.5, 0.5, (3, len(one.coordinates))), strict=True))
    parameters = found["inertial_parameters"].evaluate({})["pi"]
    parameters[column] *= 1.5
    F = judge.evaluate(state)["F"]
    np.testing.assert_allclose(found["regressor"].evaluate(state)["Y"] @ parameters, F, rtol=0, atol=1e-12 * np.abs(F).max())
