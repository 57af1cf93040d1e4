"""Methods of frames: one or several, batches, what is built when first called, wrenches, wrong arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.runtime.model.timing import time_functions

ARM: dict[str, Any] = {
    "elastogen": 1, "name": "held", "live": ["payload"],
    "links": [{"name": "hub", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]},
              {"name": "rod", "mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]}],
    "joints": [{"name": "hinge", "type": "revolute", "placement": {"xyz": [0.3, 0, 0]}}],
    "points": [{"name": "eye", "link": "rod", "xyz": [0.2, 0.1, 0], "rpy": [0.1, 0.2, 0.3]}],
}  # fmt: skip
OUTPUTS = ["frame_pose", "frame_jacobian", "frame_velocity", "frame_velocity_local", "frame_velocity_base", "inverse_dynamics",
           "inverse_dynamics_with_wrenches", "forward_dynamics_with_wrenches", "frame_forces", "integrate"]  # fmt: skip


@pytest.fixture(scope="module")
def free() -> elastogen.Model:
    """A free hub with a rod, its frames chosen at build."""
    robot = elastogen.load(ARM, base="floating")
    return elastogen.build_model(robot, frames=["eye", "rod", "hub"], outputs=OUTPUTS)


@pytest.fixture(scope="module")
def only_eye() -> elastogen.Model:
    """The rod on a fixed hub, with one frame."""
    return elastogen.build_model(ARM, frames=["eye"], outputs=["frame_pose", "frame_jacobian"])


def state(model: elastogen.Model, *batch: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(2)
    q = rng.normal(size=(*batch, model.nq))
    q[..., 3:7] /= np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True)
    return q, *rng.normal(size=(2, *batch, model.nv))


def test_one_and_several_frames(free: elastogen.Model) -> None:
    q, qd, _ = state(free, 4)
    J = free.frame_jacobian(["rod", "eye"], q)
    assert J.shape == (4, 2, 6, 7)
    np.testing.assert_array_equal(free.frame_jacobian("eye", q), J[:, 1])
    np.testing.assert_array_equal(free.frame_jacobian("rod", q[0]), J[0, 0])
    out = np.empty((4, 6, 7))
    assert free.frame_jacobian("eye", q.tolist(), out=out) is out
    np.testing.assert_array_equal(out, J[:, 1])
    position, rotation = free.frame_pose("hub", q)
    assert position.shape == (4, 3)
    assert rotation.shape == (4, 3, 3)
    np.testing.assert_allclose(position, q[:, :3], atol=1e-15)
    np.testing.assert_allclose(np.swapaxes(rotation, -1, -2) @ rotation, np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-12)
    velocity = free.frame_velocity("eye", q, qd)
    np.testing.assert_allclose(velocity, np.einsum("bij,bj->bi", J[:, 1], qd), atol=1e-13)
    for word in ("".join(["ali", "gned"]), np.str_("aligned")):  # equal text is the word, wherever it comes from
        np.testing.assert_array_equal(free.frame_velocity("eye", q, qd, reference=word), velocity)
    local = free.frame_velocity("hub", q, qd, reference="local")
    np.testing.assert_allclose(local, qd[:, :6], atol=1e-13)  # quasi-velocities of a floating joint are these
    base = free.frame_velocity("hub", q, qd, reference="base")
    v, omega = np.split(free.frame_velocity("hub", q, qd), 2, axis=-1)
    np.testing.assert_allclose(base, np.concatenate([v + np.cross(position, omega), omega], axis=-1), atol=1e-12)


def test_velocities_are_rates_of_poses(free: elastogen.Model) -> None:
    q, qd, _ = state(free)
    h = 1e-6
    ahead, behind = (free.frame_pose("eye", free.integrate(q, s * h * qd))[0] for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * h), free.frame_velocity("eye", q, qd)[:3], atol=1e-8)


def test_wrenches_in_both_dynamics(free: elastogen.Model) -> None:
    q, qd, qdd = state(free, 5)
    w = np.random.default_rng(3).normal(size=(5, 6))
    wrenches = {"hub": [0, 0, 1, 0, 0, 2], "eye": w}
    J = free.frame_jacobian(["hub", "eye"], q)
    Q = np.einsum("bij,i->bj", J[:, 0], wrenches["hub"]) + np.einsum("bij,bi->bj", J[:, 1], w)
    np.testing.assert_allclose(free.frame_forces(q, wrenches), Q, atol=1e-13)
    F = free.inverse_dynamics(q, qd, qdd, wrenches=wrenches)
    np.testing.assert_allclose(F, free.inverse_dynamics(q, qd, qdd) - Q, atol=1e-12)
    np.testing.assert_allclose(free.forward_dynamics(q, qd, F, wrenches=wrenches), qdd, atol=1e-10)
    np.testing.assert_array_equal(free.inverse_dynamics(q, qd, qdd, wrenches={}), free.inverse_dynamics(q, qd, qdd))
    heavy = free.inverse_dynamics(q, qd, qdd, wrenches=wrenches, parameters={"payload_mass": 2.0})
    expected = free.inverse_dynamics(q, qd, qdd, parameters={"payload_mass": 2.0}) - Q
    np.testing.assert_allclose(heavy, expected, atol=1e-12)


def test_other_frames_are_built_when_they_are_asked_for(puma560: elastogen.Model) -> None:
    q = np.linspace(-1, 1, 12).reshape(2, 6)
    np.testing.assert_allclose(puma560.frame_jacobian("tip", q), puma560.jacobian(q), atol=1e-14)
    link = puma560.frame_names[2]
    position, _ = puma560.frame_pose(link, q)
    np.testing.assert_allclose(position, puma560.forward_kinematics(q)[:, 2, :3, 3], atol=1e-14)


def test_a_subset_of_frames_is_not_built_again(puma560: elastogen.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    q = np.linspace(-1, 1, 6)
    both = puma560.frame_jacobian(["hand", "wrist"], q)
    monkeypatch.setattr(puma560, "_provider", None)
    np.testing.assert_array_equal(puma560.frame_jacobian(["wrist", "hand"], q), both[::-1])
    np.testing.assert_array_equal(puma560.frame_jacobian("wrist", q), both[1])
    with pytest.raises(elastogen.ModelError, match="built without frame_jacobian of trunk"):
        puma560.frame_jacobian("trunk", q)


@pytest.mark.parametrize("count", [None, 1, 3, 200])
def test_results_of_one_frame_into_arrays(only_eye: elastogen.Model, count) -> None:
    """Also where the function has no other frame, and writes them directly."""
    batch = () if count is None else (count,)
    q = np.random.default_rng(3).normal(size=(*batch, 1))
    J, (position, rotation) = only_eye.frame_jacobian("eye", q), only_eye.frame_pose("eye", q)
    assert (J.shape, position.shape, rotation.shape) == ((*batch, 6, 1), (*batch, 3), (*batch, 3, 3))
    np.testing.assert_array_equal(only_eye.frame_jacobian(["eye"], q)[..., 0, :, :], J)
    for strided in (False, True):
        out = [np.empty((*each.shape, 2))[..., 0] if strided else np.empty(each.shape) for each in (J, position, rotation)]
        assert only_eye.frame_jacobian("eye", q, out=out[0]) is out[0]
        pose = (out[1], out[2])
        assert only_eye.frame_pose("eye", q, out=pose) is pose
        for part, right in zip(out, (J, position, rotation), strict=True):
            np.testing.assert_array_equal(part, right)
    single = np.empty(J.shape, np.float32)
    np.testing.assert_array_equal(only_eye.frame_jacobian("eye", q, out=single), J.astype(np.float32))


def test_outputs_of_one_frame_that_do_not_fit(only_eye: elastogen.Model) -> None:
    q = np.zeros((3, 1))
    good, read_only = np.zeros((3, 3)), np.zeros((3, 3, 3))
    read_only.flags.writeable = False
    for out in (np.zeros((3, 1, 6, 1)), np.zeros((3, 6)), np.zeros(()), np.zeros((3, 6, 1), int), [[0.0]], (good,)):
        with pytest.raises(elastogen.ModelError, match=r"out= does not fit.*\(3, 6, 1\)"):
            only_eye.frame_jacobian("eye", q, out=out)
    for out in ((good, read_only), (good,), (good, good), (good, None), np.zeros((2, 3, 3)), good):
        with pytest.raises(elastogen.ModelError, match=r"out= does not fit.*\(3, 3\), \(3, 3, 3\)"):
            only_eye.frame_pose("eye", q, out=out)
        assert not good.any()
    with pytest.raises(elastogen.ModelError, match="argument 'q'"):
        only_eye.frame_jacobian("eye", q[:, :0], out=np.zeros((3, 6, 1)))


def test_functions_of_frames_are_timed(free: elastogen.Model) -> None:
    """As ``elastogen build --frames`` does; their methods take names in place of arrays."""
    timings = time_functions(free, seconds=1e-4)
    assert [timing.function for timing in timings] == list(free.functions)
    assert all(timing.python_seconds > 0 for timing in timings)


Z = np.zeros(2)
WRONG = {
    "no such frame": (lambda m, s: m.frame_jacobian("eey", s[0]), "Did you mean 'eye'"),
    "none": (lambda m, s: m.frame_jacobian([], s[0]), "one or more"),
    "twice": (lambda m, s: m.frame_jacobian(["eye", "eye"], s[0]), "each once"),
    "no name": (lambda m, s: m.frame_jacobian([3], s[0]), "expected a link, a point or 'tip'"),
    "no names": (lambda m, s: m.frame_jacobian(3, s[0]), "frames=3, expected the name of a frame, or several"),
    "no name that is hashed": (lambda m, s: m.frame_jacobian([["eye"]], s[0]), "expected a link, a point or 'tip'"),
    "not built": (lambda m, s: m.frame_jacobian("tip", s[0]), "frames= of elastogen.build_model"),
    "function not built": (lambda m, s: m.frame_jacobian_rate("eye", *s[:2]), "outputs= and frames="),
    "search not built": (lambda m, s: m.inverse_kinematics("eye", [0, 0, 0]), "outputs= and frames="),
    "reference": (lambda m, s: m.frame_velocity("eye", *s[:2], reference="world"), "expected 'aligned', 'local' or 'base'"),
    "failure": (lambda m, s: m.forward_dynamics(*s, wrenches={"eye": np.zeros(6)}, on_failure=Z), "'raise' or 'nan'"),
    "out": (lambda m, s: m.frame_jacobian("eye", s[0], out=np.empty((6, 6))), r"out= does not fit.*\(6, 7\)"),
    "shape": (lambda m, s: m.frame_jacobian("eye", s[0][:5]), "argument 'q'"),
    "wrenches": (lambda m, s: m.inverse_dynamics(*s, wrenches=np.zeros(6)), "a mapping from frames"),
    "wrench": (lambda m, s: m.inverse_dynamics(*s, wrenches={"eye": [1, 2]}), "force .N., then moment"),
    "words": (lambda m, s: m.inverse_dynamics(*s, wrenches={"eye": ["a"] * 6}), "force .N., then moment"),
    "wrench on nothing": (lambda m, s: m.forward_dynamics(*s, wrenches={"rdo": np.zeros(6)}), "Did you mean 'rod'"),
    "batches": (lambda m, s: m.frame_forces(s[0], {"eye": np.zeros((2, 6)), "hub": np.zeros((3, 6))}), "do not broadcast"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case: str, free: elastogen.Model) -> None:
    call, message = WRONG[case]
    with pytest.raises(elastogen.ModelError, match=message):
        call(free, state(free))
