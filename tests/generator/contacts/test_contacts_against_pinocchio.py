"""A quadruped on its feet: accelerations, impacts and forces of contact against dense systems of Pinocchio's matrices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from robots_for_tests import example_urdf

import elastogen

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
CONTACTS = [*FEET[:3], {"frame": FEET[3], "rows": 6}]
MASKS = ((1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 0, 1), (0, 0, 0, 0))


class Quadruped:
    """Pinocchio's solo12, and the same robot with contacts here."""

    def __init__(self) -> None:
        path = example_urdf("solo12")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elastogen.RobotWarning)
            self.robot = elastogen.load(path, base="floating")
        self.order = self.robot.pinocchio_order
        self.model: Any = elastogen.build_model(
            self.robot,
            contacts=CONTACTS,
            outputs=["contact_dynamics", "contact_impulse", "contact_inverse_dynamics"],
            cflags="-O0",
        )
        self.pin = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        self.data = self.pin.createData()
        rng = np.random.default_rng(4)
        self.q = np.array([pin.integrate(self.pin, pin.neutral(self.pin), rng.uniform(-1, 1, self.pin.nv)) for _ in MASKS])
        self.v, self.a, self.F = rng.uniform(-1.5, 1.5, (3, len(MASKS), self.pin.nv))

    def rows(self, k: int) -> tuple[Any, ...]:
        """M, bias, and of every contact its rows, of state k, in the order of velocities here."""
        q, v = self.q[k], self.v[k]
        M = pin.crba(self.pin, self.data, q).copy()
        M = np.triu(M) + np.triu(M, 1).T
        bias = pin.nonLinearEffects(self.pin, self.data, q, v).copy()
        pin.forwardKinematics(self.pin, self.data, q, v, 0 * v)
        pin.computeJointJacobians(self.pin, self.data, q)
        pin.updateFramePlacements(self.pin, self.data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        found = []
        for name, count in zip(FEET, (3, 3, 3, 6), strict=True):
            frame = self.pin.getFrameId(name)
            J = pin.getFrameJacobian(self.pin, self.data, frame, aligned)[:count]
            drift = pin.getFrameClassicalAcceleration(self.pin, self.data, frame, aligned).vector[:count]
            found.append((J.copy(), drift.copy()))
        return M, bias, found


@pytest.fixture(scope="module")
def dog() -> Quadruped:
    return Quadruped()


def here(dog: Quadruped, values: Any) -> Any:
    return dog.order.v(values)


def there(dog: Quadruped, values: Any) -> Any:
    """A vector of velocities here in Pinocchio's order."""
    places = dog.order.v(np.arange(dog.pin.nv))
    found = np.empty_like(values)
    found[..., np.asarray(places, dtype=int)] = values
    return found


def forces_of(found: np.ndarray) -> list[np.ndarray]:
    return [found[0, :3], found[1, :3], found[2, :3], found[3]]


def test_accelerations_and_forces_while_contacts_hold(dog: Quadruped) -> None:
    q = np.array([dog.order.q(each) for each in dog.q])
    v, F = (np.array([dog.order.v(each) for each in values]) for values in (dog.v, dog.F))
    qdd, forces = dog.model.contact_dynamics(q, v, F, MASKS)
    for k, mask in enumerate(MASKS):
        M, bias, rows = dog.rows(k)
        held = [rows[c] for c in range(4) if mask[c]]
        J = np.vstack([J for J, _ in held]) if held else np.zeros((0, dog.pin.nv))
        drift = np.concatenate([d for _, d in held]) if held else np.zeros(0)
        kkt = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
        expected = np.linalg.solve(kkt, np.concatenate([dog.F[k] - bias, -drift]))
        size = np.abs(expected).max()
        np.testing.assert_allclose(there(dog, qdd[k]), expected[: dog.pin.nv], rtol=0, atol=1e-9 * size)
        active = [f for c, f in enumerate(forces_of(forces[k])) if mask[c]]
        np.testing.assert_allclose(np.concatenate([*active, np.zeros(0)]), expected[dog.pin.nv :], rtol=0, atol=1e-9 * size)
        assert all(not f.any() for c, f in enumerate(forces_of(forces[k])) if not mask[c])
        assert not forces[k, :3, 3:].any()


def test_impacts(dog: Quadruped) -> None:
    q = np.array([dog.order.q(each) for each in dog.q])
    v = np.array([dog.order.v(each) for each in dog.v])
    restitution = np.array([0.0, 0.3, 1.0, 0.5])
    after, impulses = dog.model.contact_impulse(q, v, MASKS, restitution)
    for k, mask in enumerate(MASKS):
        M, _, rows = dog.rows(k)
        moved = there(dog, after[k])
        push = np.zeros(dog.pin.nv)
        for c, (J, _) in enumerate(rows):
            push += J.T @ forces_of(impulses[k])[c]
            if mask[c]:
                wanted = np.zeros(len(J))
                wanted[2] = -restitution[c] * (J @ dog.v[k])[2]
                np.testing.assert_allclose(J @ moved, wanted, rtol=0, atol=1e-9)
        np.testing.assert_allclose(M @ (moved - dog.v[k]), push, rtol=0, atol=1e-9 * max(1.0, np.abs(push).max()))


def test_least_forces_of_a_motion(dog: Quadruped) -> None:
    masks = ((1, 1, 1, 1), (1, 0, 0, 1), (1, 1, 1, 0), (0, 0, 0, 1), (0, 1, 0, 1))
    q = np.array([dog.order.q(each) for each in dog.q])
    v, a = (np.array([dog.order.v(each) for each in values]) for values in (dog.v, dog.a))
    F, forces = dog.model.contact_inverse_dynamics(q, v, a, masks)
    for k, mask in enumerate(masks):
        M, bias, rows = dog.rows(k)
        tree = M @ dog.a[k] + bias
        J = np.vstack([J for c, (J, _) in enumerate(rows) if mask[c]])
        expected = np.linalg.lstsq(J[:, :6].T, tree[:6], rcond=None)[0]  # the least of all that carry the base
        found = np.concatenate([f for c, f in enumerate(forces_of(forces[k])) if mask[c]])
        size = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * size)
        np.testing.assert_allclose(there(dog, F[k]), np.r_[np.zeros(6), (tree - J.T @ expected)[6:]], rtol=0, atol=1e-8 * size)


def test_contacts_that_cannot_carry_a_motion_are_named(dog: Quadruped) -> None:
    q, v, a = dog.order.q(dog.q[0]), dog.order.v(dog.v[0]), dog.order.v(dog.a[0])
    with pytest.raises(elastogen.ModelError, match="active contacts cannot carry the base"):
        dog.model.contact_inverse_dynamics(q, v, a, [1, 0, 0, 0])
