"""Beams along polygons and curves: against their differential equations, integrated from the clamp to the tip (shooting)."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import expm

import elastogen
from elastogen.generator.beams.natural_frequencies import natural_frequencies, numeric
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import RobotError, RobotWarning
from elastogen.generator.robot.robot import Body

SECTION = {
    "EA": 2e7, "GA_y": 4e6, "GA_z": 3e6, "GJ": 6000.0, "EI_y": 9000.0, "EI_z": 5000.0,
    "tension_centre": [0.01, -0.02], "shear_centre": [-0.03, 0.01], "mass_centre": [0.02, 0.015],
    "mass_per_length": 12.0, "inertia_y_per_length": 0.03, "inertia_z_per_length": 0.02,
}  # fmt: skip
MATRIX = {  # bending and twist, stretch and shear coupled, as in a blade of fibres
    "stiffness": (np.diag([2e7, 4e6, 3e6, 6000.0, 9000.0, 5000.0]) + np.diag([9e5, 0, 0, 1500.0, 0], 1)
                  + np.diag([9e5, 0, 0, 1500.0, 0], -1)).tolist(),
    "mass_per_length": 12.0, "inertia_y_per_length": 0.03, "inertia_z_per_length": 0.02,
}  # fmt: skip
POINTS = np.array([[0.0, 0, 0], [0.3, 0.05, 0], [0.6, 0.3, 0.1], [0.7, 0.5, 0.4]])
ACROSS = np.array([0.2, -0.1, 1.0])


def robot(section=SECTION, axis=POINTS, **more):
    given = {
        "type": "frame", "axis": np.asarray(axis).tolist(), "section": section, "modes": 3, "elements": 4,
        "across": ACROSS.tolist(), **more,
    }  # fmt: skip
    links = [{"name": "base"}, {"name": "beam", "flexible": given}]
    joints = [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 1, 0]}]
    return elastogen.load({"elastogen": 1, "name": "bent", "links": links, "joints": joints})


def by_hand(section):
    """C by the energy of strains at the centres, unit strain after unit strain."""
    if "stiffness" in section:
        return np.array(section["stiffness"])
    (yt, zt), (ys, zs) = section["tension_centre"], section["shear_centre"]

    def parts(e):
        return [e[0] + zt * e[4] - yt * e[5], e[1] - zs * e[3], e[2] + ys * e[3], e[3], e[4], e[5]]

    D = np.array([section[key] for key in ("EA", "GA_y", "GA_z", "GJ", "EI_y", "EI_z")])
    columns = np.array([parts(e) for e in np.eye(6)])
    return columns @ np.diag(D) @ columns.T


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def at_tip(omega, section, smooth, tip):
    """Zero at a frequency: u' = theta x t + gamma, theta' = kappa, n' = -w^2 p, m' = -t x n - w^2 l along the axis."""
    C = np.linalg.inv(by_hand(section))
    mu, offset = section["mass_per_length"], [0, *section.get("mass_centre", (0, 0))]
    jy, jz = section["inertia_y_per_length"], section["inertia_z_per_length"]
    chords = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(POINTS, axis=0), axis=1))])
    spline = CubicSpline(chords, POINTS, bc_type="natural")

    def system(slope):
        speed = np.linalg.norm(slope)
        ex = slope / speed
        ey = np.cross(ACROSS, ex) / np.linalg.norm(np.cross(ACROSS, ex))
        R = np.stack([ex, ey, np.cross(ex, ey)], axis=1)
        both, d = np.kron(np.eye(2), R), R @ offset
        A = np.zeros((12, 12))
        A[:6, 6:] = both @ C @ both.T
        A[:3, 3:6] = -cross(ex)
        A[9:, 6:9] = -cross(ex)
        A[6:9, :3], A[6:9, 3:6] = -(omega**2) * mu * np.eye(3), omega**2 * mu * cross(d)
        A[9:, :3] = -(omega**2) * mu * cross(d)
        A[9:, 3:6] = -(omega**2) * (R @ np.diag([jy + jz, jy, jz]) @ R.T - mu * cross(d) @ cross(d))
        return speed * A

    y = np.vstack([np.zeros((6, 6)), np.diag([1e4] * 3 + [1e3] * 3)])
    for k, (start, end) in enumerate(pairwise(chords)):
        if not smooth:
            y = expm(system(POINTS[k + 1] - POINTS[k])) @ y
            continue
        found = solve_ivp(lambda s, v: (system(spline(s, 1)) @ v.reshape(12, 6)).ravel(), (start, end), y.ravel(),
                          method="DOP853", rtol=1e-11, atol=1e-13)  # fmt: skip
        y = found.y[:, -1].reshape(12, 6)
    return np.linalg.det(np.vstack([(y[6:9] - omega**2 * tip * y[:3]) / 1e4, y[9:] / 1e3]))


@pytest.mark.parametrize(
    ("section", "smooth", "tip"), [(SECTION, False, 0.0), (SECTION, True, 4.0), (MATRIX, True, 0.0)],
    ids=["polygon with offsets", "curve with a tip mass", "curve with a full matrix"],
)  # fmt: skip
def test_frequencies_are_those_of_shooting(section, smooth, tip):
    body = robot(section, smooth=smooth, tip={"mass": tip}).link("beam").flexible
    found = natural_frequencies(body, Body(tip))
    for frequency in found[: 1 if smooth else 3]:
        ends = [at_tip(frequency * (1 + apart), section, smooth, tip) for apart in (-1e-8, 1e-8)]
        assert ends[0] * ends[1] < 0  # the frequency is in between
        assert min(map(abs, ends)) > 1e-3 * max(map(abs, ends))
    assert max(body.reduction.errors) < 1e-8


def test_a_straight_frame_is_the_beam_that_shears():
    plain = {key: value for key, value in SECTION.items() if not key.endswith("centre")}
    frame = robot(plain, [[0, 0, 0], [0.6, 0, 0]], across=[0, 0, 1], modes=2).link("beam").flexible
    beam = {key: value for key, value in plain.items() if key not in ("EA", "GJ")}
    given = {"type": "modes", "length": 0.6, "shear": True, "rotary_inertia": True, **beam}
    given["modes"] = [{"direction": d, "eigenfunction": 1} for d in ("y", "z")]
    links = [{"name": "base"}, {"name": "beam", "flexible": given}]
    joints = [{"name": "hub", "type": "revolute", "child": "beam"}]
    other = elastogen.load({"elastogen": 1, "name": "straight", "links": links, "joints": joints}).link("beam").flexible
    np.testing.assert_allclose(natural_frequencies(frame), natural_frequencies(other), rtol=1e-9)
    for key in ("mass", "first_moments", "second_moments"):
        a, b = (np.array(getattr(body, key), dtype=float) for body in (frame, other))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    by_tip = [
        numeric(one.field_integrals, {}) / np.linalg.norm(numeric(one.tip_displacements, {}), axis=1)[:, None]
        for one in (frame, other)
    ]
    np.testing.assert_allclose(*(np.abs(each) for each in by_tip), atol=1e-9)


def test_joints_on_a_frame_move_with_its_points():
    """A branched robot: mass and frames of the undeformed polygon, and a derivation that passes its check."""
    links = [
        {"name": "base"},
        {"name": "beam"},
        {"name": "hook", "mass": 1.0},
        {"name": "hand", "mass": 2.0, "com": [0.1, 0, 0]},
    ]
    links[1]["flexible"] = {
        "type": "frame", "axis": [[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0]], "section": SECTION, "modes": 2,
        "interfaces": {"swivel": {"point": 2}},
    }  # fmt: skip
    joints = [
        {"name": "hub", "type": "revolute", "child": "beam"},
        {"name": "swivel", "type": "revolute", "parent": "beam", "child": "hook"},
        {"name": "wrist", "type": "revolute", "parent": "beam", "child": "hand"},
    ]
    arm = elastogen.load({"elastogen": 1, "name": "branch", "links": links, "joints": joints})
    body = arm.link("beam").flexible
    swivel, tip = body.interface("swivel"), body.interface("tip")
    np.testing.assert_allclose(swivel.pose, [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(tip.pose, [[0, -1, 0, 0.5], [1, 0, 0, 0.4], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)
    assert body.mass == pytest.approx(12 * 0.9, rel=1e-12)
    c = 12 * np.array([0.5**2 / 2 + 0.5 * 0.4 - 0.4 * 0.02, 0.5 * 0.02 + 0.4**2 / 2, 0.9 * 0.015])
    np.testing.assert_allclose(np.array(body.first_moments, dtype=float), c, rtol=1e-12)
    derive_model(arm, ("inverse_dynamics", "mass_matrix", "forward_kinematics"))


@pytest.mark.parametrize(
    ("changes", "where", "expected"),
    [
        ({"axis": [[0, 0, 0]]}, "axis", "at least 2"),
        ({"axis": [[0, 0, 0], [0, 0, 0]]}, "axis", "away from the one before"),
        ({"across": [1, 0, 0], "axis": [[0, 0, 0], [1, 0, 0]]}, "across", "nowhere along the axis"),
        ({"elements": 30}, "elements", "at most 60"),
        ({"interfaces": {"hook": {"point": 9}}}, "interfaces.hook.point", "2 to 4"),
        ({"section": {**SECTION, "EA": 0}}, "section.EA", "above zero"),
        ({"section": {**SECTION, "mass_per_length": -1}}, "section.mass_per_length", "above zero"),
        ({"section": {**SECTION, "inertia_y_per_length": -1}}, "section.inertia_y_per_length", "zero or more"),
        ({"section": {"mass_per_length": 1, "EA": 1}}, "section", "GA_y"),
        ({"section": {**SECTION, "stiffness": MATRIX["stiffness"]}}, "stiffness", "either stiffness"),
        ({"section": {**MATRIX, "stiffness": [[1.0]]}}, "stiffness", "six rows"),
        ({"section": {**MATRIX, "stiffness": (-np.eye(6)).tolist()}}, "stiffness", "positive definite"),
        ({"tip": {"mass": -1}}, "tip.mass", "zero"),
    ],
)
def test_what_cannot_be_is_refused(changes, where, expected):
    with pytest.raises(RobotError) as caught:
        robot(**changes)
    assert where in str(caught.value)
    assert expected in str(caught.value)


def test_a_coarse_mesh_is_reported():
    with pytest.warns(RobotWarning, match="kept frequencies within 1 %"):
        robot(axis=[[0, 0, 0], [0.9, 0, 0]], elements=1, modes=20)
