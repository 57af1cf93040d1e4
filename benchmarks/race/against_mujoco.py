"""An MJCF file in this project and in MuJoCo itself: mass matrix, inverse dynamics and the tip's Jacobian at random states.

MuJoCo holds joints that follow others by soft constraints. Here they have no coordinates; so with q_full = f(q) and E = df/dq
MuJoCo's forces become E^T F and its mass matrix E^T M E. Of robots with loops M, C qd, G and the Jacobian of the
tree are compared, and accelerations at rest, where MuJoCo's own constraints are closed, by Gauss' principle with MuJoCo's M
and rows of constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.race.comparison import Comparison, State, loaded, measure
from elastogen.generator.robot.robot import Robot

Array = NDArray[Any]
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "jacobian")
OF_THE_TREE = ("inertia_forces", "mass_matrix", "gravity_vector", "jacobian")  # of robots with loops
DEPENDENT = 1e-6  # of the largest singular value: rows of constraints that follow from others
CLOSED = 1e-11  # gaps of a mechanism whose numbers fit together
NEWTON = 40  # steps to a closed configuration


def compare(path: Path, states: int = 20, model: Any = None) -> Comparison:
    """Compare one MJCF file at so many random states."""
    import mujoco

    found = Comparison(path.stem, "as it is")
    try:
        model = mujoco.MjModel.from_xml_path(str(path)) if model is None else model
    except Exception as problem:  # whatever its reader raises
        found.result = f"MuJoCo cannot read it: {str(problem).splitlines()[0].replace(str(path.parent), '')[:60]}"
        return found
    robot = loaded(path, found)
    if robot is None:
        return found
    pair = Pair(robot, model)
    rng = np.random.default_rng(1)
    names = OF_THE_TREE if robot.loops else FUNCTIONS
    measure(found, robot, names, (pair.random_state(rng) for _ in range(states)), pair.expected)
    if robot.loops:
        closed = Closed(pair)
        measure(found, robot, ("forward_dynamics",), (closed.state(rng) for _ in range(states)), closed.expected)
        if closed.open > CLOSED:
            found.result = f"equal, but for accelerations: its loops close to {closed.open:.0e} and no better"
    return found


@dataclass(frozen=True)
class _Follower:
    """Position of a joint as a polynomial of another one's (or -1: a constant), numbers of MuJoCo's dofs."""

    own: int
    leader: int
    coefficients: Array
    references: tuple[float, float]


class Pair:
    """A robot, and MuJoCo's model of the same file."""

    def __init__(self, robot: Robot, model: Any) -> None:
        import mujoco

        self.robot, self.model, self.mujoco, self.data = robot, model, mujoco, mujoco.MjData(model)
        self.followers = self._followers()
        own = {follower.own for follower in self.followers}
        self.free = [dof for dof in range(model.nv) if dof not in own]
        if len(self.free) != len(robot.velocities):
            raise RuntimeError(f"{robot.name}: {len(robot.velocities)} velocities, {len(self.free)} in MuJoCo")

    def _followers(self) -> list[_Follower]:
        m, found = self.model, []
        for i in range(m.neq):
            if m.eq_active0[i] and int(m.eq_type[i]) == int(self.mujoco.mjtEq.mjEQ_JOINT):
                first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
                joint = next((one for one in self.robot.joints if one.name == m.joint(first).name), None)
                if joint is not None and joint.coupling is None:  # a row of a loop: the joint follows another one already
                    continue
                places = [float(m.qpos0[m.jnt_qposadr[j]]) if j >= 0 else 0.0 for j in (first, second)]
                leader = int(m.jnt_dofadr[second]) if second >= 0 else -1
                coefficients = np.array(m.eq_data[i][:5])
                found.append(_Follower(int(m.jnt_dofadr[first]), leader, coefficients, (places[0], places[1])))
        return found

    def random_state(self, rng: np.random.Generator) -> dict[str, Array]:
        """Positions within the limits, quaternions of length 1, velocities and accelerations up to 1; in our coordinates."""
        m, parts = self.model, []
        for joint in self._own_joints():
            kind = int(m.jnt_type[joint])
            if kind in (0, 1):  # free, ball
                turn = rng.normal(size=4)
                parts.append(np.concatenate([rng.uniform(-1, 1, 3 if kind == 0 else 0), turn / np.linalg.norm(turn)]))
            else:
                low, high = m.jnt_range[joint] if m.jnt_limited[joint] else (-1.0, 1.0)
                parts.append(rng.uniform(low, high, 1))
        v, a = rng.uniform(-1, 1, (2, len(self.free)))
        return {"q": np.concatenate(parts), "qd": v, "qdd": a}

    def home(self) -> Array:
        """The configuration of the file, in our coordinates."""
        m, parts = self.model, []
        for joint in self._own_joints():
            start, size = int(m.jnt_qposadr[joint]), {0: 7, 1: 4}.get(int(m.jnt_type[joint]), 1)
            values = np.array(m.qpos0[start : start + size])
            parts.append(values if size == 1 else np.concatenate([values[:-4], np.roll(values[-4:], -1)]))
        return np.concatenate(parts)

    @property
    def plain_positions(self) -> list[bool]:
        """Which of our coordinates are those of hinges and slides."""
        sizes = [{0: 7, 1: 4}.get(int(self.model.jnt_type[joint]), 1) for joint in self._own_joints()]
        return [size == 1 for size in sizes for _ in range(size)]

    def _own_joints(self) -> list[int]:
        own = {follower.own for follower in self.followers}
        return [joint for joint in range(self.model.njnt) if int(self.model.jnt_dofadr[joint]) not in own]

    def expected(self, state: State) -> dict[str, Array]:
        """What MuJoCo computes, in our coordinates."""
        m, d, mujoco = self.model, self.data, self.mujoco
        q, v, a = state["q"], state["qd"], state["qdd"]
        T, drift = self._set(q, v)
        mujoco.mj_forward(m, d)
        d.qacc[:] = T @ a + drift
        F = np.zeros(m.nv)
        mujoco.mj_rne(m, d, 1, F)  # without armature
        M = self._mass()
        F += (M - self._mass_of_bodies()) @ d.qacc
        jacobian = np.zeros((6, m.nv))
        tip = next(i for i in range(m.nbody) if (m.body(i).name or f"body{i}") == self.robot.tip)
        mujoco.mj_jacBody(m, d, jacobian[:3], jacobian[3:], tip)
        found = {"inverse_dynamics": T.T @ F, "mass_matrix": T.T @ M @ T, "jacobian": jacobian @ T}
        d.qvel[:], d.qacc[:], weights = 0.0, 0.0, np.zeros(m.nv)
        mujoco.mj_fwdVelocity(m, d)
        mujoco.mj_rne(m, d, 0, weights)
        return {**found, "gravity_vector": T.T @ weights, "inertia_forces": T.T @ (F - weights)}

    def _mass(self) -> Array:
        M = np.zeros((self.model.nv, self.model.nv))
        for k, column in enumerate(np.eye(self.model.nv)):
            self.mujoco.mj_mulM(self.model, self.data, M[k], column)
        return M

    def _mass_of_bodies(self) -> Array:
        """M without armature: accelerations of one each, no gravity, no velocities."""
        m, d = self.model, self.mujoco.MjData(self.model)
        d.qpos[:] = self.data.qpos
        columns, nothing = [], np.zeros(m.nv)
        self.mujoco.mj_fwdPosition(m, d)
        self.mujoco.mj_fwdVelocity(m, d)
        self.mujoco.mj_rne(m, d, 0, nothing)
        for column in np.eye(m.nv):
            d.qacc[:], F = column, np.zeros(m.nv)
            self.mujoco.mj_rne(m, d, 1, F)
            columns.append(F - nothing)
        return np.array(columns).T

    def _set(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Set positions and velocities; return T of qvel = T v, and what of the accelerations is left without dv/dt."""
        m, d = self.model, self.data
        T, drift = np.zeros((m.nv, len(self.free))), np.zeros(m.nv)
        for column, dof in enumerate(self.free):
            T[dof, column] = 1.0
        place, column = 0, {dof: k for k, dof in enumerate(self.free)}
        own = {follower.own for follower in self.followers}
        for joint in range(m.njnt):
            start, at, kind = int(m.jnt_qposadr[joint]), int(m.jnt_dofadr[joint]), int(m.jnt_type[joint])
            if at in own:
                continue
            size = {0: 7, 1: 4}.get(kind, 1)
            values = q[place : place + size]
            place += size
            if kind in (0, 1):  # w x y z there, x y z w here; a free joint's linear velocity is in the world there
                values = np.concatenate([values[:-4], np.roll(values[-4:], 1)])
            d.qpos[start : start + size] = values
            if kind == 0:
                R = np.zeros(9)
                self.mujoco.mju_quat2Mat(R, values[3:])
                k = column[at]
                T[at : at + 3, k : k + 3] = R.reshape(3, 3)
                drift[at : at + 3] = R.reshape(3, 3) @ np.cross(v[k + 3 : k + 6], v[k : k + 3])
        for follower in _ordered(self.followers):
            self._follow(follower, T, drift, v)
        d.qvel[:] = T @ v
        return T, drift

    def _follow(self, follower: _Follower, T: Array, drift: Array, v: Array) -> None:
        m, d = self.model, self.data
        y0, x0 = follower.references
        joint = int(m.dof_jntid[follower.own])
        polynomial = np.polynomial.Polynomial(follower.coefficients)
        if follower.leader < 0:
            d.qpos[m.jnt_qposadr[joint]] = y0 + follower.coefficients[0]
            return
        x = d.qpos[m.jnt_qposadr[m.dof_jntid[follower.leader]]] - x0
        d.qpos[m.jnt_qposadr[joint]] = y0 + polynomial(x)
        slope, bend = polynomial.deriv()(x), polynomial.deriv(2)(x)
        T[follower.own] = slope * T[follower.leader]
        drift[follower.own] = slope * drift[follower.leader] + bend * float(T[follower.leader] @ v) ** 2


class Closed:
    """States of rest in which MuJoCo's own constraints are closed, and the accelerations that forces give there."""

    def __init__(self, pair: Pair) -> None:
        self.pair, m = pair, pair.model
        m.opt.jacobian = int(pair.mujoco.mjtJacobian.mjJAC_DENSE)
        own = {follower.own for follower in pair.followers}
        joint = int(pair.mujoco.mjtEq.mjEQ_JOINT)
        self.rows = {i for i in range(m.neq) if m.eq_active0[i]
                     and not (int(m.eq_type[i]) == joint and int(m.jnt_dofadr[m.eq_obj1id[i]]) in own)}  # fmt: skip
        self.driven = np.array([velocity.driven for velocity in pair.robot.velocities], dtype=float)
        kinds = [int(m.jnt_type[m.dof_jntid[dof]]) for dof in pair.free]
        self.plain = np.array([kind not in (0, 1) for kind in kinds])  # coordinates that are no part of a pose
        self.open = 0.0  # the largest gap that was left

    def constraints(self, q: Array) -> tuple[Array, Array, Array]:
        """Residuals and rows over our velocities, and T of MuJoCo's velocities, at rest."""
        pair, d = self.pair, self.pair.data
        T, _ = pair._set(q, np.zeros(len(pair.free)))
        pair.mujoco.mj_forward(pair.model, d)
        equality = int(pair.mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        chosen = [k for k in range(d.nefc) if d.efc_type[k] == equality and int(d.efc_id[k]) in self.rows]
        J = np.array(d.efc_J).reshape(d.nefc, pair.model.nv)[chosen]
        return np.array(d.efc_pos)[chosen], J @ T, T

    def state(self, rng: np.random.Generator) -> dict[str, Array]:
        """Newton from near the file's own configuration."""
        pair, velocities = self.pair, self.pair.robot.velocities
        q = pair.home()
        places = np.flatnonzero(pair.plain_positions)
        q[places] += 0.05 * rng.normal(size=len(places))
        for _ in range(NEWTON):
            e, G, _ = self.constraints(q)
            step = np.linalg.lstsq(G[:, self.plain], -e, rcond=DEPENDENT)[0]
            q[places] += step * min(1.0, 0.3 / max(float(np.abs(step).max()), 1e-12))
        self.open = max(self.open, float(np.abs(self.constraints(q)[0]).max()))
        zero = np.zeros(len(velocities))
        return {"q": q, "qd": zero, "qdd": zero, "F": self.driven * rng.uniform(-1, 1, len(velocities))}

    def expected(self, state: State) -> dict[str, Array]:
        """qdd: N y with N^T M N y = N^T (F - G), N the motions that keep the constraints closed."""
        tree = self.pair.expected(state)
        _, G, _ = self.constraints(state["q"])
        _, sizes, V = np.linalg.svd(G)
        N = V[int((sizes > DEPENDENT * sizes[0]).sum()) :].T
        forces = N.T @ (state["F"] - tree["gravity_vector"])
        return {"forward_dynamics": N @ np.linalg.solve(N.T @ tree["mass_matrix"] @ N, forces)}


def _ordered(followers: Sequence[_Follower]) -> list[_Follower]:
    """Those that lead others first."""
    left, found, open_ = list(followers), [], {follower.own for follower in followers}
    while left:
        ready = [follower for follower in left if follower.leader not in open_]
        if not ready:
            raise RuntimeError("joints that follow each other in a circle")
        found += ready
        open_ -= {follower.own for follower in ready}
        left = [follower for follower in left if follower not in ready]
    return found
