"""Robots on a floating base: URDFs against Pinocchio, names, and what is refused."""

from __future__ import annotations

import importlib.metadata
import subprocess
import warnings
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.joints.quaternions import even_series
from elastogen.generator.program.graph import Graph

SOLO12 = "solo_description/robots/solo12.urdf"
ARM: dict[str, Any] = {
    "elastogen": 1,
    "name": "arm",
    "links": [
        {"name": "hub", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]},
        {"name": "rod", "mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]},
    ],
    "joints": [{"name": "hinge", "type": "revolute"}],
}


def urdf(path: str) -> Path:
    try:
        package = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return Path(str(package.locate_file(f"cmeel.prefix/share/example-robot-data/robots/{path}")))


def test_a_quadruped_against_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    path = urdf(SOLO12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load(path, base="floating")
    functions = {f.name: f for f in derive_model(robot, ("inverse_dynamics", "mass_matrix", "gravity_vector")).functions}
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    joints = [model.joints[model.getJointId(joint.name)] for joint in robot.moving_joints[1:]]
    in_q, in_v = ([*range(size), *(getattr(joint, key) for joint in joints)] for size, key in ((7, "idx_q"), (6, "idx_v")))
    rng = np.random.default_rng(3)
    for _ in range(20):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-2, 2, model.nv))
        v, a = rng.normal(size=(2, model.nv))
        state = {"q": q[in_q], "qd": v[in_v], "qdd": a[in_v]}
        expected = pin.rnea(model, data, q, v, a)[in_v]
        found = functions["inverse_dynamics"].evaluate(state)["F"]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
        M = np.triu(pin.crba(model, data, q))
        M = (M + np.triu(M, 1).T)[np.ix_(in_v, in_v)]
        np.testing.assert_allclose(functions["mass_matrix"].evaluate(state)["M"], M, rtol=1e-10, atol=1e-12)
        weight = pin.computeGeneralizedGravity(model, data, q)[in_v]
        np.testing.assert_allclose(functions["gravity_vector"].evaluate(state)["G"], weight, rtol=1e-10, atol=1e-10)
    count = functions["inverse_dynamics"].program.count
    assert (count.mul, count.add) <= (620, 570)


def test_the_base_by_keyword_and_by_file() -> None:
    names = ("base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw", "hinge")
    for robot in (elastogen.load(ARM, base="floating"), elastogen.load({**ARM, "base": "floating"})):
        assert robot.coordinate_names == names
        assert robot.velocity_names == ("base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz", "hinge")
        assert [link.name for link in robot.links] == ["world", "hub", "rod"]
    assert elastogen.load({**ARM, "base": "floating"}, base="fixed").coordinate_names == ("hinge",)
    assert not elastogen.load(ARM).has_quasi_velocities


def test_names_that_the_robot_has_itself_are_not_taken() -> None:
    robot = elastogen.load({**renamed(hinge="base", hub="world"), "base": "floating"})
    assert [link.name for link in robot.links] == ["inertial_frame", "world", "rod"]
    assert robot.velocity_names[0] == "floating_base.vx"
    assert robot.velocity_names[-1] == "base"


def test_drives() -> None:
    """A free base has none unless it is asked for; any joint may be without."""
    driven = {
        "floating": (False,) * 6 + (True,), "driven": (True,) * 7,
    }  # fmt: skip
    for base, expected in driven.items():
        assert tuple(velocity.driven for velocity in elastogen.load(ARM, base=base).velocities) == expected
    passive = elastogen.load({**ARM, "joints": [{"name": "hinge", "type": "revolute", "driven": False}]})
    assert not passive.velocities[0].driven
    by_hand = [{"name": "free", "type": "floating", "driven": True}]
    assert all(velocity.driven for velocity in elastogen.load({**ARM, "joints": by_hand}).velocities)
    with pytest.raises(elastogen.RobotError, match="no driven for a joint without a coordinate"):
        elastogen.load({**ARM, "joints": [*ARM["joints"], {"name": "weld", "type": "fixed", "driven": True}]})


def test_forces_of_driven_joints_with_a_free_base() -> None:
    """Given the accelerations of the driven joints, no force on the base: forward dynamics gives them back."""
    robot = elastogen.load(ARM, base="floating")
    made = {f.name: f for f in derive_model(robot, ("elastic_inverse_dynamics", "forward_dynamics")).functions}
    rng = np.random.default_rng(2)
    state = {"q": np.array([0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5, 0.4]), "qd": rng.normal(size=7)}
    found = made["elastic_inverse_dynamics"].evaluate({**state, "qdd": np.array([9.0] * 6 + [0.7])})
    assert not found["F"][:6].any()
    moved = made["forward_dynamics"].evaluate({**state, "F": found["F"]})["qdd"]
    np.testing.assert_allclose(moved, found["acceleration"], rtol=1e-11, atol=1e-11)
    assert abs(moved[6] - 0.7) < 1e-11


def renamed(**names: str) -> dict[str, Any]:
    text = repr(ARM)
    for old, new in names.items():
        text = text.replace(f"'{old}'", f"'{new}'")
    made: dict[str, Any] = eval(text)
    return made


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ({**ARM, "base": "flying"}, "fixed"),
        ({**renamed(rod="world", hub="inertial_frame"), "base": "floating"}, "no link called inertial_frame"),
        ({**ARM, "joints": [{"name": "ball", "type": "spherical", "axis": [0, 0, 1]}]}, "no axis for a spherical joint"),
        ({**ARM, "joints": [{"name": "ball", "type": "spherical", "motor": {"inertia": 1}}]}, "no motor"),
        ({**ARM, "joints": [{"name": "u", "type": "universal"}]}, "axis2 of a universal joint"),
        ({**ARM, "joints": [{"name": "u", "type": "universal", "axis2": [0, 0, 2]}]}, "not parallel"),
        ({**ARM, "joints": [{"name": "h", "type": "helical"}]}, "pitch of a helical joint"),
        ({**ARM, "joints": [{"name": "p", "type": "planar", "limits": {"lower": 0}}]}, "no limits"),
        ({**ARM, "joints": [{"name": "c", "type": "cylindrical", "elasticity": {"stiffness": 1}}]}, "no elasticity"),
    ],
)
def test_wrong_descriptions(file: dict[str, Any], says: str) -> None:
    with pytest.raises(elastogen.RobotError, match=says):
        elastogen.load(file)


@pytest.mark.parametrize("outputs", ["simulation", ["forward_dynamics", "inverse_dynamics", "configuration_rate", "integrate"]])
def test_emitted_c_without_a_warning(tmp_path: Path, outputs: Any) -> None:
    written = elastogen.generate(elastogen.load(ARM, base="floating"), tmp_path, outputs=outputs, precision="float")
    sources = [str(path) for path in written.files if path.suffix == ".c"]
    assert any("simulate" in source for source in sources)
    assert "Quaternions x, y, z, w begin at 3. Their length must be 1" in (tmp_path / "arm.h").read_text()
    subprocess.run([COMPILERS[0], *WARNINGS, "-fsyntax-only", "-I.", *sources], cwd=tmp_path, check=True)


def test_floating_and_sliding_joints_do_not_go_together() -> None:
    beam = {"type": "elements", "length": 1.0, "mass_per_length": 1.0, "EI": 10.0, "elements": 2}
    links = [{"name": "hub", "mass": 2.0}, {"name": "rod", "flexible": beam}, {"name": "cart", "mass": 1.0}]
    joints = [*ARM["joints"], {"name": "slide", "type": "sliding", "gamma": 0}]
    file = {**ARM, "links": links, "joints": joints}
    assert elastogen.load(file).coordinate_names[0] == "hinge"
    with pytest.raises(elastogen.RobotError, match="floating or spherical"):
        elastogen.load(file, base="floating")


def test_what_needs_time_derivatives_of_coordinates_is_refused() -> None:
    robot = elastogen.load(ARM, base="floating")
    with pytest.raises(elastogen.OutputError, match="not for floating"):
        derive_model(robot, ("exponential_jacobian",))
    with pytest.raises(elastogen.OutputError, match="quasi-velocities"):
        derive_model(elastogen.load(ARM), ("integrate",))


def test_a_base_without_inertia_about_the_hinge_fails_by_its_status() -> None:
    """The hub is a point on the hinge: hub and rod rotate about it as one, M is singular in every state."""
    hub = {"name": "hub", "mass": 1.0, "com": [0, 0, 0.2]}
    rod = {"name": "rod", "mass": 1.0, "com": [0.5, 0, 0]}
    robot = elastogen.load({**ARM, "base": "floating", "links": [hub, rod]})
    functions = {f.name: f for f in derive_model(robot, ("forward_dynamics", "mass_matrix")).functions}
    q = np.array([0.1, -0.2, 0.3, 0, 0, 0, 1, 0.7])
    assert np.linalg.matrix_rank(functions["mass_matrix"].evaluate({"q": q})["M"]) < 7
    program = functions["forward_dynamics"].program
    assert functions["forward_dynamics"].can_fail
    assert 0.0 in [program.graph.constant_of(pivot) for pivot in program.pivots]


@pytest.mark.parametrize("angle", [1e-8, 0.3, 2.0, 6.0])
def test_series_of_sine_and_cosine(angle: float) -> None:
    with mpmath.workdps(60):
        t = mpmath.sqrt(mpmath.mpf(angle**2))
        expected = [mpmath.sin(t) / t, (1 - mpmath.cos(t)) / t**2, (t - mpmath.sin(t)) / t**3]
    found = [even_series(Graph().value(angle**2), first).constant for first in (1, 2, 3)]
    np.testing.assert_allclose(found, [float(x) for x in expected], rtol=1e-13, atol=1e-14)
