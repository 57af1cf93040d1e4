"""Expected values of functions of points and chosen frames, from the motion of the description's poses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elastogen.generator.reference.closed_loops import Closed
from elastogen.generator.reference.evaluated import Evaluated
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found, coefficient, in_axes, spin, tree_forces
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.named_frames import Frames
from elastogen.generator.reference.quantities import Array, Quantities, Sized

Named = Callable[[Quantities], "list[str]"]


def points(of: Quantities) -> list[str]:
    """Names of the robot's points."""
    return [point.name for point in of.of.robot.points]


def chosen(of: Quantities) -> list[str]:
    """Names of the chosen frames."""
    return list(of.frames)


def _poses(of: Quantities, evaluated: Evaluated, names: Sequence[str]) -> list[MatrixSeries]:
    frames = Frames(of.of, evaluated)
    own = {point.name: point for point in of.of.robot.points}
    if list(names) == points(of):
        return [frames.point(own[name]) for name in names]
    return [frames.pose(name) for name in names]


def _stacked(poses: Sequence[MatrixSeries], power: int, shape: tuple[int, ...]) -> Array:
    """(*shape, frames, 4, 4)."""
    return np.stack([coefficient(pose, power, shape) for pose in poses], axis=len(shape))


def _one(found: Array, expected: Array) -> list[Difference]:
    return [(found.reshape(expected.shape), expected, max(1.0, float(np.abs(expected).max(initial=0.0))))]


def _vector(S: Array) -> Array:
    return np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], axis=-1) / 2


def _from_base(twists: Array, T: Array) -> Array:
    """Velocity of the frame at the base's origin: v - omega x p."""
    return np.concatenate([twists[..., :3] - np.cross(twists[..., 3:], T[..., :3, 3]), twists[..., 3:]], axis=-1)


def _jacobians(of: Quantities, names: Sequence[str]) -> tuple[Array, Array]:
    """(states, frames, 6, n) in base axes, and the poses (states, frames, 4, 4)."""
    shape = (len(of.at("q")), of.n)
    poses = _poses(of, of.unit, names)
    T, dT = (_stacked(poses, power, shape) for power in (0, 1))
    rows = np.concatenate([dT[..., :3, 3], spin(dT[..., :3, :3], T[..., :3, :3])], axis=-1)
    return np.moveaxis(rows, 1, -1), T[:, 0]


def _jacobian_rates(of: Quantities, names: Sequence[str]) -> Array:
    shape = (len(of.at("q")), of.n)
    rows = []
    for pose in _poses(of, of.unit_rates, names):
        R, dR = (coefficient(pose, power, shape)[..., :3, :3] for power in (0, 1))
        slopes = MatrixSeries(pose.slopes if pose.slopes is not None else [np.zeros((4, 4))])
        U, dU = (coefficient(slopes, power, shape) for power in (0, 1))
        back = np.linalg.inv(R)
        S = dU[..., :3, :3] @ back - U[..., :3, :3] @ back @ dR @ back
        rows.append(np.concatenate([dU[..., :3, 3], _vector(S)], axis=-1))
    return np.moveaxis(np.stack(rows, axis=1), 2, -1) if rows else np.zeros((shape[0], 0, 6, of.n))


def _motion(of: Quantities, names: Sequence[str], order: int) -> tuple[Array, Array]:
    """Derivative ``order`` of the twists (states, frames, 6), order 0 the twists, and the poses."""
    evaluated = of.along(*("q", "qd", "qdd", "q3")[: order + 2])
    shape, poses = (len(of.at("q")),), _poses(of, evaluated, names)
    T = [_stacked(poses, power, shape) * float(np.prod(np.arange(1, power + 1))) for power in range(order + 2)]
    R = [each[..., :3, :3] for each in T]
    B: list[Array] = [np.linalg.inv(R[0]).astype(np.float64)]  # derivatives of R^-1
    S = [R[1] @ B[0]]  # of dR/dt R^-1
    for k in range(1, order + 1):
        B.append(-B[0] @ _leibniz(R, B, k))
        S.append(sum((_choose(k, i) * R[1 + i] @ B[k - i] for i in range(k + 1)), np.zeros(())))
    return np.concatenate([T[order + 1][..., :3, 3], _vector(S[order])], axis=-1), T[0]


def _choose(n: int, k: int) -> float:
    found = 1.0
    for i in range(k):
        found = found * (n - i) / (i + 1)
    return found


def _leibniz(R: list[Array], B: list[Array], k: int) -> Array:
    """Derivative k of R B without the term of B's own derivative k."""
    return sum((_choose(k, i) * R[i] @ B[k - i] for i in range(1, k + 1)), np.zeros(()))


def positions(of: Quantities, found: Found) -> list[Difference]:
    """Of all points."""
    poses = _poses(of, of.moving, points(of))
    return _one(found[0], _stacked(poses, 0, (len(of.at("q")),))[..., :3, 3])


def poses_of(of: Quantities, found: Found) -> list[Difference]:
    """Of all chosen frames: positions, rotations."""
    T = _stacked(_poses(of, of.moving, chosen(of)), 0, (len(of.at("q")),))
    return [*_one(found[0], T[..., :3, 3]), *_one(found[1], T[..., :3, :3])]


def ground_motion(of: Quantities, found: Found) -> list[Difference]:
    """Of the points of the ground, along its normal."""
    ground = of.of.robot.ground
    assert ground is not None
    twists, T = _motion(of, [name for name, _ in ground.points], 0)
    normal, radii = np.array(ground.normal), np.array([radius for _, radius in ground.points])
    return [*_one(found[0], T[..., :3, 3] @ normal - ground.height - radii), *_one(found[1], twists[..., :3] @ normal)]


def poses_and_jacobians(of: Quantities, found: Found) -> list[Difference]:
    """Both."""
    return [*poses_of(of, found), *jacobians(chosen)(of, found[2:])]


def _referred(J: Array, T: Array, reference: str) -> Array:
    """Rows (..., 6, n) of frames in another reference."""
    if reference == "_local":
        return in_axes(T[..., :3, :3], J)
    if reference == "_base":
        return np.moveaxis(_from_base(np.moveaxis(J, -1, -2), T[..., None, :, :]), -1, -2)
    return J


def jacobians(names: Named, reference: str = "") -> Expectation:
    """Twists of unit velocities."""
    return lambda of, found: _one(found[0], _referred(*_jacobians(of, names(of)), reference))


def jacobian_rates(names: Named, reference: str = "") -> Expectation:
    """d/dt of the Jacobian in its reference: the axes, or the base's origin, may move with the frame."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        own = names(of)
        rates, (J, T) = _jacobian_rates(of, own), _jacobians(of, own)
        twist = _motion(of, own, 0)[0]
        if reference == "_local":  # R^T (dJ/dt - omega x J)
            turned = np.stack(
                [np.cross(twist[..., None, 3:], np.moveaxis(J[..., k : k + 3, :], -1, -2)) for k in (0, 3)], axis=-2
            )
            turned = np.moveaxis(turned.reshape(*turned.shape[:-2], 6), -1, -2)
            return _one(found[0], in_axes(T[..., :3, :3], rates - turned))
        if reference == "_base":  # v - omega x p
            rows, p, dp = (np.moveaxis(x, -1, -2) for x in (rates, T[..., None, :3, 3:], twist[..., None, :3, None]))
            own_rows = np.moveaxis(J, -1, -2)
            p, dp = T[..., None, :3, 3], twist[..., None, :3]
            linear = rows[..., :3] - np.cross(rows[..., 3:], p) - np.cross(own_rows[..., 3:], dp)
            return _one(found[0], np.moveaxis(np.concatenate([linear, rows[..., 3:]], axis=-1), -1, -2))
        return _one(found[0], rates)

    return check


def motions(names: Named, order: int, reference: str = "") -> Expectation:
    """Twists (order 0) or their derivatives, in a reference."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        twist, T = _motion(of, names(of), 0)
        rate = twist if order == 0 else _motion(of, names(of), order)[0]
        if order == 0:
            return _one(found[0], _referred(twist[..., None], T, reference)[..., 0])
        if reference == "_local":
            R = np.swapaxes(T[..., :3, :3], -1, -2)
            parts = [R @ (rate[..., k : k + 3] - np.cross(twist[..., 3:], twist[..., k : k + 3]))[..., None] for k in (0, 3)]
            return _one(found[0], np.concatenate(parts, axis=-2)[..., 0])
        if reference == "_base":
            linear = rate[..., :3] - np.cross(rate[..., 3:], T[..., :3, 3]) - np.cross(twist[..., 3:], twist[..., :3])
            return _one(found[0], np.concatenate([linear, rate[..., 3:]], axis=-1))
        return _one(found[0], rate)

    return check


def frame_jacobians(of: Quantities, names: Sequence[str]) -> Array:
    """Twists of unit velocities (states, frames, 6, n), in base axes."""
    return _jacobians(of, names)[0]


def frame_motion(of: Quantities, names: Sequence[str], order: int) -> Array:
    """Twists (order 0) or their derivatives (states, frames, 6), in base axes."""
    return _motion(of, names, order)[0]


def forces(names: Named) -> Expectation:
    """sum J^T w."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        expected = generalized(of, names(of))
        return [(found[0], expected.value, expected.size)]

    return check


def generalized(of: Quantities, names: Sequence[str]) -> Sized:
    """Generalized forces of the wrenches."""
    J, w = _jacobians(of, names)[0], of.states["wrenches"]
    value, size = (np.einsum("sfrk,sfr->sk", a, b) for a, b in ((J, w), (np.abs(J), np.abs(w))))
    return Sized(value * of.free, size + 1e-300)


def _less(of: Quantities, qdd: Array) -> Sized:
    """Forces of a tree minus those of the wrenches."""
    own, load = tree_forces(of, qdd), generalized(of, chosen(of))
    return Sized(own.value - load.value, own.size + load.size)


def inverse_with_wrenches(of: Quantities, found: Found) -> list[Difference]:
    """All forces minus those of the wrenches."""
    tree = _less(of, of.at("qdd"))
    expected = of.loaded(Closed(of).drive_forces(tree) if of.of.robot.loops else tree)
    return [(found[0], expected.value, expected.size)]


def forward_with_wrenches(of: Quantities, found: Found) -> list[Difference]:
    """The forces of the accelerations equal the given ones."""
    tree, force, some = _less(of, found[0]), of.at("F"), ~of.singular
    if of.of.robot.loops:
        return Closed(of).judged(found[0], of.unloaded(force), tree)
    expected = of.loaded(tree)
    return [(expected.value[some], force[some], (expected.size + np.abs(force))[some])]


def accelerometers(of: Quantities, found: Found) -> list[Difference]:
    """R^T (a - g); not for sliding joints, whose clamped coordinates move in the compared states."""
    if of.of.elements or not of.free.all():
        return []
    a, T = _motion(of, points(of), 1)
    R = np.swapaxes(T[..., :3, :3], -1, -2)
    return _one(found[0], (R @ (a[..., :3] - of.of.gravity)[..., None])[..., 0])


def gyroscopes(of: Quantities, found: Found) -> list[Difference]:
    """R^T omega."""
    twist, T = _motion(of, points(of), 0)
    return _one(found[0], (np.swapaxes(T[..., :3, :3], -1, -2) @ twist[..., 3:, None])[..., 0])


def strains(of: Quantities, found: Found) -> list[Difference]:
    """Of all gauges."""
    frames, count = Frames(of.of, of.moving), len(of.at("q"))
    gauges = [frames.strain(point).data[..., 0, 0] for point in of.of.robot.points if point.strain is not None]
    return _sized([np.broadcast_to(x, (count,)) for x in gauges], found[0])


def curvatures(of: Quantities, found: Found) -> list[Difference]:
    """Of all points on beams, in y and in z."""
    frames, count, robot = Frames(of.of, of.moving), len(of.at("q")), of.of.robot
    rows = []
    for point in robot.points:
        body = robot.link(point.link).flexible if point.link else None
        if body is not None and body.beam is not None:
            rows += [np.broadcast_to(x.data[..., 0, 0], (count,)) for x in frames.bending(point)[:2]]
    return _sized(rows, found[0])


def stresses(of: Quantities, found: Found) -> list[Difference]:
    """Of all points on solids."""
    sigma = _stress_tensors(of)
    size = max(1e-300, float(np.abs(sigma).max()))
    expected = np.stack([sigma[..., a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))], axis=-1)
    return [(found[0].reshape(expected.shape), expected, size)]


def von_mises(of: Quantities, found: Found) -> list[Difference]:
    """sqrt(3/2) of the norm of the deviator."""
    sigma = _stress_tensors(of)
    deviator = sigma - np.trace(sigma, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
    expected = np.sqrt(1.5 * (deviator**2).sum(axis=(-1, -2)))
    return [(found[0].reshape(expected.shape), expected, max(1e-300, float(np.abs(sigma).max())))]


def _stress_tensors(of: Quantities) -> Array:
    """(states, points, 3, 3) of points on solids whose material is known."""
    frames, count, robot = Frames(of.of, of.moving), len(of.at("q")), of.of.robot
    rows = []
    for point in robot.points:
        body = robot.link(point.link).flexible if point.link else None
        if body is not None and body.solid is not None and "E" in body.solid.report:
            rows.append(np.broadcast_to(frames.stress(point), (count, 3, 3)))
    return np.stack(rows, axis=1)


def _sized(rows: list[Array], found: Array) -> list[Difference]:
    expected = np.stack(rows, axis=-1)
    return [(found.reshape(expected.shape), expected, max(1e-300, float(np.abs(expected).max())))]


_REFERENCES = ("", "_local", "_base")
FRAMES: dict[str, Expectation] = {
    "point_positions": positions,
    "point_velocities": motions(points, 0),
    "point_accelerations": motions(points, 1),
    "point_jerks": motions(points, 2),
    "point_jacobians": jacobians(points),
    "point_jacobian_rates": jacobian_rates(points),
    "point_forces": forces(points),
    "point_strains": strains,
    "point_curvatures": curvatures,
    "point_stresses": stresses,
    "von_mises": von_mises,
    "accelerometers": accelerometers,
    "gyroscopes": gyroscopes,
    "frame_pose": poses_of,
    "frame_pose_and_jacobian": poses_and_jacobians,
    **{f"frame_jacobian{r}": jacobians(chosen, r) for r in _REFERENCES},
    **{f"frame_jacobian_rate{r}": jacobian_rates(chosen, r) for r in _REFERENCES},
    **{f"frame_velocity{r}": motions(chosen, 0, r) for r in _REFERENCES},
    **{f"frame_acceleration{r}": motions(chosen, 1, r) for r in _REFERENCES},
    "frame_forces": forces(chosen),
    "ground_motion": ground_motion,
    "inverse_dynamics_with_wrenches": inverse_with_wrenches,
    "forward_dynamics_with_wrenches": forward_with_wrenches,
}
"""By the names of the catalogue."""
