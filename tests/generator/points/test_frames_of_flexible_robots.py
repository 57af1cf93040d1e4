"""Chosen frames of flexible, sliding and telescopic robots against plain kinematics, with complex steps in time."""

from functools import cache

import numpy as np
import point_oracle as oracle
import pytest
from plain_programs import PlainPrograms
from test_points import planar, planar_chains, spatial, spatial_section, state
from test_telescopic_points import chains as telescope_chains
from test_telescopic_points import smooth_section, telescope

import elastogen
from elastogen.generator.functions.frames.motion import REFERENCES, in_reference

STEP = 1e-30


def spatial_frames(linear=False):
    """The beam's own frame, a point on it, the hand, and the tip, which is the hand's."""
    seat = [oracle.shift(0.1, 0.2, 0.3), oracle.turn((0, 0.6, 0.8), 0)]
    side = [*seat, *spatial_section(0.5, linear), oracle.shift(0, 0.02, -0.03), oracle.rpy(0.3, -0.2, 0.7)]
    hand = [*seat, *spatial_section(0.8, linear), oracle.shift(0.05, 0, 0.02), oracle.slide((0, 1, 0), 6)]
    return {"beam": seat, "side": side, "hand": hand, "tip": hand}


def planar_frames():
    node, collar, rod = planar_chains(0.5, 3)[1:]
    return {"node": node, "link2": collar, "tip": rod}


def telescope_frames():
    sections = [smooth_section(x, k, 3, False) for x, k in ((0.35, 1), (0.8, 3))]
    inner, end, mouth = telescope_chains(sections)
    return {"point2": inner, "tip": end, "mouth": mouth}


KINDS = {
    "spatial": (spatial, spatial_frames, 7, {0: 0.9}),
    "linear": (lambda: spatial("linear"), lambda: spatial_frames(linear=True), 7, {0: 0.9}),
    "sliding": (planar, planar_frames, 10, {9: 0.5}),
    "telescopic": (lambda: telescope("smooth", 3), telescope_frames, 8, {1: 0.6}),
}


@cache
def programs(kind, formulation=0, frame_assignment=0):
    make, frames, _, _ = KINDS[kind]
    return PlainPrograms(elastogen.load(make()), formulation, tuple(frames()), frame_assignment)


def twists(chain, q, qd):
    """By definition, complex where the state is; one row for each reference, in their order."""
    R, p = oracle.pose(chain, oracle.jets([q, qd], 1))
    axes, origin, v = oracle.coefficient(R, 0), oracle.coefficient(p, 0), oracle.coefficient(p, 1)
    omega = oracle.axial(oracle.coefficient(R, 1) @ np.linalg.inv(axes))
    return np.array([[*v, *omega], [*(axes.T @ v), *(axes.T @ omega)], [*(v + np.cross(origin, omega)), *omega]])


def jacobians(chain, q):
    return np.stack([twists(chain, q, unit) for unit in np.eye(len(q))], axis=-1)


CASES = [*((kind, 0, 0) for kind in KINDS), ("spatial", 1, 3), ("telescopic", 2, 1)]


@pytest.mark.parametrize(("kind", "formulation", "frame_assignment"), CASES)
def test_motion_in_three_references(kind, formulation, frame_assignment):
    _, frames, n, fixed = KINDS[kind]
    found, chains = programs(kind, formulation, frame_assignment), frames().values()
    q, qd, qdd = state(n, 41)
    for k, value in fixed.items():
        q[k] = value
    later = q + 1j * STEP * qd
    given = {"q": q, "qd": qd, "qdd": qdd}
    origins, rotations = found("frame_pose", q=q)
    poses = [oracle.pose(chain, oracle.jets([q], 0)) for chain in chains]
    np.testing.assert_allclose(rotations, [oracle.coefficient(R, 0).real for R, _ in poses], atol=1e-13)
    np.testing.assert_allclose(origins, [oracle.coefficient(p, 0).real for _, p in poses], atol=1e-13)
    J, Jd = ([jacobians(chain, at) for chain in chains] for at in (q, later))
    moving = [twists(chain, later, qd + 1j * STEP * qdd) for chain in chains]
    for k, reference in enumerate(REFERENCES):
        expected = {
            "frame_jacobian": [each[k].real for each in J],
            "frame_jacobian_rate": [each[k].imag / STEP for each in Jd],
            "frame_velocity": [each[k].real for each in moving],
            "frame_acceleration": [each[k].imag / STEP for each in moving],
        }
        for name, values in expected.items():
            result = found(in_reference(name, reference), **given)
            np.testing.assert_allclose(result, values, rtol=0, atol=1e-11 * np.abs(values).max(), err_msg=reference + name)


@pytest.mark.parametrize(("kind", "formulation", "frame_assignment"), [*CASES, ("spatial", 0, 7)])
def test_wrenches(kind, formulation, frame_assignment):
    """F is less by J^T w, with J of plain kinematics; forward dynamics under the same wrenches gives back qdd."""
    _, frames, n, fixed = KINDS[kind]
    found, chains = programs(kind, formulation, frame_assignment), frames().values()
    q, qd, qdd = state(n, 42)
    for k, value in fixed.items():
        q[k] = value
    w = np.random.default_rng(6).uniform(-1, 1, (len(chains), 6))
    given = {"q": q, "qd": qd, "qdd": qdd, "wrenches": w}
    Q = sum(jacobians(chain, q)[0].real.T @ row for chain, row in zip(chains, w, strict=True))
    np.testing.assert_allclose(found("frame_forces", **given), Q, rtol=0, atol=1e-12 * np.abs(Q).max())
    free = found("inverse_dynamics", **given)
    F = found("inverse_dynamics_with_wrenches", **given)
    np.testing.assert_allclose(F, free - Q, rtol=0, atol=1e-11 * np.abs(free).max())
    back = found("forward_dynamics_with_wrenches", **given, F=F)
    np.testing.assert_allclose(back, qdd, rtol=0, atol=1e-8)
