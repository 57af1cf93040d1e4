"""Forward dynamics of a chain as a user of the tool would write them: ABA for CasADi's SX, Newton-Euler for jnp and torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.race.robots import Subject

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """A joint about z-axes of any direction, and the link behind it, from the text that all peers read."""

    parent: int
    axis: Array
    rotation: Array  # of the joint in its parent
    position: Array
    mass: float
    centre: Array
    inertia: Array  # about the centre


def links_of(subject: Subject) -> tuple[Array, list[Link]]:
    """Gravity, and the links of a robot with revolute joints."""
    first, *lines = subject.peer_text.splitlines()
    found = []
    for _, parent, kind, *words in map(str.split, lines):
        if kind != "R":
            raise ValueError(f"{subject.name}: a joint of kind {kind}, expected R")
        axis, rotation, position, mass, centre, inertia = np.split(np.array(words, float), [3, 12, 15, 16, 19])
        tensor = inertia[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
        link = Link(int(parent), axis, rotation.reshape(3, 3), position, float(mass[0]), centre, tensor)
        found.append(link)
    return np.array(first.split()[1:], float), found


def _cross(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def sx_forward_dynamics(casadi: Any, subject: Subject) -> Any:
    """Featherstone's articulated bodies, table 7.1, as a ``casadi.Function`` of SX."""
    gravity, links = links_of(subject)
    n = len(links)
    q, qd, F = (casadi.SX.sym(name, n) for name in ("q", "qd", "F"))

    def skew(v: Any) -> Any:
        return casadi.skew(v)

    def motion(v: Any) -> Any:
        return casadi.blockcat([[skew(v[:3]), casadi.SX(3, 3)], [skew(v[3:]), skew(v[:3])]])

    X, S, v, c, inertia, bias = [], [], [], [], [], []
    for k, link in enumerate(links):
        turn = (
            np.eye(3) + casadi.sin(q[k]) * _cross(link.axis) + (1 - casadi.cos(q[k])) * (_cross(link.axis) @ _cross(link.axis))
        )
        E = casadi.sparsify((casadi.SX(link.rotation) @ turn).T)
        X.append(casadi.blockcat([[E, casadi.SX(3, 3)], [-E @ casadi.sparsify(casadi.SX(_cross(link.position))), E]]))
        S.append(casadi.sparsify(casadi.SX(np.concatenate([link.axis, np.zeros(3)]))))
        joint = S[k] * qd[k]
        v.append(joint if link.parent < 0 else X[k] @ v[link.parent] + joint)
        c.append(motion(v[k]) @ joint)
        C = _cross(link.centre)
        whole = np.block([[link.inertia - link.mass * C @ C, link.mass * C], [-link.mass * C, link.mass * np.eye(3)]])
        inertia.append(casadi.sparsify(casadi.SX(whole)))
        bias.append(-motion(v[k]).T @ (inertia[k] @ v[k]))
    U, d, u = [None] * n, [None] * n, [None] * n
    for k in reversed(range(n)):
        U[k] = inertia[k] @ S[k]
        d[k], u[k] = S[k].T @ U[k], F[k] - S[k].T @ bias[k]
        if (parent := links[k].parent) >= 0:
            left = inertia[k] - U[k] @ U[k].T / d[k]
            inertia[parent] = inertia[parent] + X[k].T @ left @ X[k]
            bias[parent] = bias[parent] + X[k].T @ (bias[k] + left @ c[k] + U[k] * (u[k] / d[k]))
    a, qdd = [], []
    base = casadi.SX(np.concatenate([np.zeros(3), -gravity]))
    for k, link in enumerate(links):
        moved = X[k] @ (base if link.parent < 0 else a[link.parent]) + c[k]
        qdd.append((u[k] - U[k].T @ moved) / d[k])
        a.append(moved + S[k] * qdd[k])
    return casadi.Function("textbook", [q, qd, F], [casadi.vertcat(*qdd)], ["q", "qd", "F"], ["qdd"])


def array_forward_dynamics(tools: Any, cross: Any, subject: Subject, constant: Any) -> Any:
    """Newton and Euler's recursion for unit accelerations and for none, all states at once, then M qdd = F - bias.

    ``tools`` is jax.numpy or torch, ``cross`` its product of the last axes, ``constant`` makes an array of numpy's.
    """
    gravity, links = links_of(subject)
    n = len(links)
    turns = [(constant(_cross(k.axis)), constant(_cross(k.axis) @ _cross(k.axis)), constant(k.rotation)) for k in links]
    axes, positions, centres = ([constant(getattr(k, name)) for k in links] for name in ("axis", "position", "centre"))
    inertias, eye = [constant(k.inertia) for k in links], constant(np.eye(3))
    accelerations, falls = constant(np.vstack([np.eye(n), np.zeros(n)])), constant(np.vstack([np.zeros((n, 3)), -gravity]))
    moves = constant(np.concatenate([np.zeros(n), [1.0]])[:, None])

    def forward(q: Any, qd: Any, F: Any) -> Any:
        rates, w, dw, dv, R, f, m = moves * qd[:, None, :], [], [], [], [], [], []
        for k, link in enumerate(links):
            K, KK, placed = turns[k]
            angle = q[:, k, None, None]
            R.append(placed @ (eye + tools.sin(angle) * K + (1 - tools.cos(angle)) * KK))
            first = link.parent < 0
            back = R[k]  # rows times R: into the link's frame
            w_before = 0 * rates[..., :1] * axes[k] if first else w[link.parent]
            dw_before = w_before * 0 if first else dw[link.parent]
            dv_before = falls + 0 * w_before if first else dv[link.parent]
            arm = positions[k] + 0 * w_before
            moved = dv_before + cross(dw_before, arm) + cross(w_before, cross(w_before, arm))
            turned, joint = w_before @ back, rates[..., k, None] * axes[k]
            w.append(turned + joint)
            dw.append(dw_before @ back + accelerations[:, k, None] * axes[k] + cross(turned, joint))
            dv.append(moved @ back)
            centre = centres[k] + 0 * w[k]
            force = link.mass * (dv[k] + cross(dw[k], centre) + cross(w[k], cross(w[k], centre)))
            f.append(force)
            m.append(dw[k] @ inertias[k] + cross(w[k], w[k] @ inertias[k]) + cross(centre, force))
        torques = [None] * n
        for k in reversed(range(n)):
            torques[k] = m[k] @ axes[k]
            if (parent := links[k].parent) >= 0:
                out, back = tools.swapaxes(R[k], -1, -2), positions[k]
                force = f[k] @ out
                f[parent] = f[parent] + force
                m[parent] = m[parent] + m[k] @ out + cross(back + 0 * force, force)
        rows = tools.stack(torques, -1)  # (states, n + 1, n)
        M, bias = rows[:, :n], rows[:, n]
        return tools.linalg.solve(M, (F - bias)[..., None])[..., 0]

    return forward


def states(count: int, n: int) -> Sequence[Array]:
    """q, qd, F."""
    rng = np.random.default_rng(0)
    return list(rng.uniform(-1, 1, (3, count, n)))
