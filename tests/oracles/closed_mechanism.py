"""Closed mechanisms by plain linear algebra: chains of 4 x 4 matrices as polynomials of time, and Gauss' principle.

A joint's motion at velocities v is T(q) exp(X t) with the matrix X of its twist, so that positions are exact to t^2 as
T (1 + X t + X^2 t^2 / 2). The rows of loops are written anew here, straight from what their types mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.robot.robot import Robot

Array = NDArray[np.float64]


def skew(u: Array) -> Array:
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]], dtype=float)


def turn(axis: Array, angle: float) -> Array:
    K = skew(axis)
    R: Array = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return R


def transform(R: Array, p: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def twist(v: Array, omega: Array) -> Array:
    X = np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = skew(omega), v
    return X


class Series:
    """A matrix (or number) as a polynomial a + b t + c t^2."""

    def __init__(self, a: Any, b: Any = 0.0, c: Any = 0.0) -> None:
        self.a, self.b, self.c = (np.asarray(x, dtype=float) + np.zeros_like(np.asarray(a, dtype=float)) for x in (a, b, c))

    def __matmul__(self, other: Series) -> Series:
        x, y = self, other
        return Series(x.a @ y.a, x.a @ y.b + x.b @ y.a, x.a @ y.c + x.b @ y.b + x.c @ y.a)

    def __sub__(self, other: Series) -> Series:
        return Series(self.a - other.a, self.b - other.b, self.c - other.c)

    def __getitem__(self, key: Any) -> Series:
        return Series(self.a[key], self.b[key], self.c[key])


def moving(T: Array, X: Array) -> Series:
    return Series(T, T @ X, T @ X @ X / 2)


def _joint(joint: Any, q: Array, v: Array) -> Series:
    """The motion of a joint: screws one after the other, or a quaternion with velocities in its own axes."""
    if joint.type.name in ("floating", "spherical"):
        x, y, z, w = q[-4:]
        K = skew(np.array([x, y, z]))
        T = transform(np.eye(3) + 2 * w * K + 2 * K @ K, q[:3] if len(q) == 7 else np.zeros(3))
        return moving(T, twist(v[:3] if len(v) == 6 else np.zeros(3), v[-3:]))
    total = Series(np.eye(4))
    for screw, position, rate in zip(joint.type.screws(joint), q, v, strict=True):
        axis = np.array([float(c) for c in screw.axis])
        slide = axis * float(screw.advance)
        R = turn(axis, position) if screw.turns else np.eye(3)
        total = total @ moving(transform(R, slide * position), twist(slide * rate, axis * rate if screw.turns else 0 * axis))
    return total


def link_poses(robot: Robot, q: Array, v: Array) -> dict[str, Series]:
    """Poses of all links along the motion."""
    found = {robot.links[0].name: Series(np.eye(4))}
    found["world"] = found[robot.links[0].name]
    at_q, at_v = 0, 0
    for joint in robot.joints:
        nq, nv = len(joint.type.coordinates), len(joint.type.velocities)
        before, after = (Series(np.array(T, dtype=float)) for T in (joint.before, joint.after))
        moved = _joint(joint, q[at_q : at_q + nq], v[at_v : at_v + nv]) if joint.type.moves else Series(np.eye(4))
        found[joint.child] = found[joint.parent] @ before @ moved @ after
        at_q, at_v = at_q + nq, at_v + nv
    return found


def residuals(robot: Robot, q: Array, v: Array) -> Series:
    """What must vanish, along the motion: more rows than a type has do no harm."""
    links, rows = link_poses(robot, q, v), []
    for loop in robot.loops:
        if loop.type == "gear":
            index = {name: k for k, name in enumerate(robot.coordinate_names)}
            rate = {name: k for k, name in enumerate(robot.velocity_names)}
            value = sum(float(c) * q[index[n]] for n, c in loop.coefficients.items()) - float(loop.constant)
            rows.append(Series(value, sum(float(c) * v[rate[n]] for n, c in loop.coefficients.items())))
            continue
        A, B = (links[end.link] @ Series(np.array(end.pose, dtype=float)) for end in (loop.a, loop.b))
        inverse = Series(*(x.T for x in (A.a[:3, :3], A.b[:3, :3], A.c[:3, :3])))
        R = inverse @ B[:3, :3]  # b's axes in a's
        d = inverse @ (B[:3, 3] - A[:3, 3])  # from a to b, in a's axes
        axis = np.array([float(c) for c in loop.axis])
        plane = np.linalg.svd(axis[None])[2][1:]
        if loop.type in ("spherical", "revolute", "universal", "fixed"):
            rows += [d[k] for k in range(3)]
        if loop.type in ("cylindrical", "prismatic"):
            rows += [Series(u) @ d for u in plane]
        if loop.type in ("revolute", "cylindrical"):
            rows += [Series(u) @ R @ Series(axis) for u in plane]
        if loop.type in ("prismatic", "fixed"):
            rows += [R[i, j] for i, j in ((0, 1), (0, 2), (1, 2))]
        if loop.type == "universal":
            rows.append(Series(axis) @ R @ Series(np.array([float(c) for c in loop.axis2])))
        if loop.type == "distance":
            rows.append(d @ d - Series(float(loop.length) ** 2))
    return Series([r.a for r in rows], [r.b for r in rows], [r.c for r in rows])


def jacobian(robot: Robot, q: Array) -> Array:
    """Rows of the residuals by the velocities."""
    return np.array([residuals(robot, q, v).b for v in np.eye(len(robot.velocities))]).T


def gauss(J: Array, bias: Array, M: Array, forces: Array) -> Array:
    """The accelerations that keep J qdd + bias = 0 and are nearest, in the metric of M, to those without loops."""
    _, sizes, V = np.linalg.svd(J)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    N = V[rank:].T
    one = np.linalg.lstsq(J, -bias, rcond=1e-9)[0]
    assert np.abs(J @ one + bias).max() < 1e-7 * (1 + np.abs(bias).max())
    found: Array = one + N @ np.linalg.solve(N.T @ M @ N, N.T @ (forces - M @ one))
    return found


def null_space(J: Array) -> Array:
    """Velocities that keep the loops closed, in columns."""
    _, sizes, V = np.linalg.svd(J)
    kept: Array = V[int((sizes > 1e-9 * sizes[0]).sum()) :].T
    return kept


# ---- random mechanisms


def _body(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "mass": float(rng.uniform(0.5, 2)),
        "com": rng.uniform(-0.2, 0.2, 3).tolist(),
        "inertia": rng.uniform(0.02, 0.03, 3).tolist(),
    }


def _frame(T: Array) -> dict[str, Any]:
    return {"matrix": T.tolist()}


def _placed(rng: np.random.Generator, planar: bool) -> Array:
    p = rng.uniform(-0.5, 0.5, 3)
    if planar:
        return transform(turn(np.array([0, 0, 1.0]), rng.uniform(-3, 3)), np.array([p[0], p[1], 0.0]))
    axis = rng.normal(size=3)
    return transform(turn(axis / np.linalg.norm(axis), rng.uniform(-3, 3)), p)


def random_mechanism(
    seed: int, joints: int, loops: list[str], *, planar: bool = False, base: str = "fixed", kinds: tuple[str, ...] = ()
) -> tuple[dict[str, Any], Any]:
    """A random tree with loops that are closed at the configuration returned with it."""
    import elastogen

    rng = np.random.default_rng(seed)
    file: dict[str, Any] = {
        "elastogen": 1,
        "name": "mechanism",
        "base": base,
        "links": [{"name": "l0", **_body(rng)}],
        "joints": [],
    }
    for k in range(1, joints + 1):
        kind = (kinds or (("revolute", "revolute", "prismatic") if planar else ("revolute", "prismatic", "universal")))[
            int(rng.integers(len(kinds or (0, 1, 2))))
        ]
        axis = [0, 0, 1] if planar and kind == "revolute" else [1, 0, 0] if planar else rng.normal(size=3).tolist()
        joint: dict[str, Any] = {"name": f"j{k}", "type": kind, "parent": f"l{int(rng.integers(max(0, k - 3), k))}"}
        joint |= {"child": f"l{k}", "placement": _frame(_placed(rng, planar)), "driven": bool(rng.random() < 0.4)}
        if kind not in ("spherical", "floating"):
            joint["axis"] = axis
        if kind == "universal":
            joint["axis2"] = np.cross(axis, rng.normal(size=3)).tolist()
        file["joints"].append(joint)
        file["links"].append({"name": f"l{k}", **_body(rng)})
    tree = elastogen.load(file)
    q = np.concatenate([_random_q(joint, rng) for joint in tree.joints])
    poses = link_poses(tree, q, np.zeros(len(tree.velocities)))
    file["loops"] = []
    ends = [joint["child"] for joint in file["joints"]]
    for kind in loops:
        if kind == "gear":
            names = [n for n in tree.coordinate_names if n in tree.velocity_names][-3:]
            coefficients = {name: float(rng.uniform(0.5, 2)) for name in names}
            total = sum(c * q[tree.coordinate_names.index(n)] for n, c in coefficients.items())
            file["loops"].append({"type": kind, "coefficients": coefficients, "constant": float(total)})
            continue
        a, b = _two_links(tree, ends, rng)
        at_a = _placed(rng, planar)
        free = np.eye(4)  # what the loop's own motion may be
        axis = np.array([0.0, 0.0, 1.0]) if planar else rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        if kind in ("revolute", "cylindrical"):
            free = transform(turn(axis, rng.uniform(-3, 3)), np.zeros(3))
        if kind in ("cylindrical", "prismatic"):
            free = free @ transform(np.eye(3), axis * rng.uniform(-0.3, 0.3))
        if kind in ("spherical", "distance", "universal"):
            free = _placed(rng, planar)
            free[:3, 3] = free[:3, 3] if kind == "distance" else 0
        at_b = np.linalg.inv(poses[b].a) @ poses[a].a @ at_a @ free
        loop = {"type": kind, "a": {"link": a, **_frame(at_a)}, "b": {"link": b, **_frame(at_b)}}
        if kind in ("revolute", "cylindrical", "prismatic", "universal"):
            loop["axis"] = axis.tolist()
        if kind == "universal":
            other = np.cross(axis, rng.normal(size=3))
            loop["axis2"] = (free[:3, :3].T @ other / np.linalg.norm(other)).tolist()
        if kind == "distance":
            loop["length"] = float(np.linalg.norm(free[:3, 3]))
        file["loops"].append(loop)
    return file, q


def _random_q(joint: Any, rng: np.random.Generator) -> Array:
    if joint.type.name in ("floating", "spherical"):
        quaternion = rng.normal(size=4)
        place = rng.uniform(-1, 1, len(joint.type.coordinates) - 4)
        return np.array([*place, *(quaternion / np.linalg.norm(quaternion))])
    return np.array(rng.uniform(-1.5, 1.5, len(joint.type.coordinates)))


def _two_links(tree: Any, ends: list[str], rng: np.random.Generator) -> tuple[str, str]:
    """Two links with several joints between them, one of them maybe the base."""
    for _ in range(100):
        a, b = rng.choice([*ends[len(ends) // 3 :], "l0"], 2, replace=False)
        ways = []
        for link in (a, b):
            way, by_child = [str(link)], {joint.child: joint.parent for joint in tree.joints}
            while way[-1] in by_child:
                way.append(by_child[way[-1]])
            ways.append(set(way))
        if len(ways[0] ^ ways[1]) >= 3:
            return str(a), str(b)
    return str(ends[-1]), "l0"
