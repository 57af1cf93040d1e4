"""Residuals and Jacobians of loops as numbers, and the search for configurations in which all loops are closed."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.loops.rows import LoopRows
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.program import Program
from elastogen.generator.program.substitute import extract
from elastogen.generator.robot.neutral import neutral
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.argument import Argument

Array: TypeAlias = "NDArray[np.float64]"
STEPS = 100  # of least squares, at most
LONGEST = 0.5  # largest change of a coordinate in one of them [rad or m]
EASED, HEAVIEST = 0.25, 1e8  # what damping is multiplied by after a good step, and where it is given up
CLOSED = 1e-12  # residual of what counts as closed, relative to the size of the robot
STIFF = 1e-4  # elastic coordinates move by this square root of a weight: joints close loops, links bend only where they must


class LoopNumbers:
    """The rows of a robot's loops as functions of numbers."""

    def __init__(self, robot: Robot, mechanism: Mechanism) -> None:
        self.robot, self.size = robot, mechanism.size
        self.parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
        graph, nq, nv = mechanism.graph, len(mechanism.order), mechanism.size
        with graph.apart():
            q = [graph.input(f"q[{index}]") for index in mechanism.order]
            rows = LoopRows(robot, mechanism, merge=False)
            e, J = rows.residuals(q), rows.rows(q, of_residuals=True)
            v = [graph.input(f"v[{k}]") for k in range(nv)]
            rates = mechanism.in_robot_order(mechanism.rates(q, v))
            values = [*e, *(value for row in J for value in row), *rates, *rows.bias(q, v)]
            small, refs = extract(graph, [value.ref for value in values])
        inputs = (Argument("q", (nq,), "", ""), Argument("v", (nv,), "", ""))
        cuts = (len(e), len(e) * (1 + nv))
        outputs = (
            (Argument("e", (len(e),), "", ""), refs[: cuts[0]]),
            (Argument("J", (len(e), nv), "", ""), refs[cuts[0] : cuts[1]]),
        )
        self._closure = Program(small, inputs[:1], outputs)
        self._rates = Program(small, inputs, ((Argument("rates", (nq,), "", ""), refs[cuts[1] : cuts[1] + nq]),))
        self._bias = Program(small, inputs, ((Argument("bias", (len(e),), "", ""), refs[cuts[1] + nq :]),))
        elastic = [velocity.elastic for velocity in robot.velocities]
        self.weights = np.where(elastic, STIFF, 1.0)
        self.reach, self.quaternions = _reach(robot), robot.quaternions
        self.start: Array = np.array(neutral(robot), dtype=float)

    def at(self, q: Array) -> tuple[Array, Array]:
        """Residuals and Jacobian at a configuration, or at several."""
        found = self._closure.evaluate({"q": q}, self.parameters)
        return found["e"], found["J"]

    def motions(self, q: Array, generator: np.random.Generator) -> tuple[Array, Array]:
        """Random velocities and accelerations that keep the loops closed, one for each of several closed configurations."""
        J = self.at(q)[1]
        _, sizes, V = np.linalg.svd(J)
        v, a = np.empty((2, len(q), self.size))
        for k, (own, rows) in enumerate(zip(sizes, V, strict=True)):
            N = rows[int((own > 1e-7 * own[0]).sum()) :].T
            v[k], a[k] = (N @ generator.normal(size=N.shape[1]) for _ in range(2))
        bias = self._bias.evaluate({"q": q, "v": v}, self.parameters)["bias"]
        return v, a - np.einsum("bij,bj->bi", np.linalg.pinv(J, rcond=1e-7), bias)

    def moved(self, q: Array, v: Array) -> Array:
        """Configurations displaced by v, quaternions of unit length."""
        result: Array = q + self._rates.evaluate({"q": q, "v": v}, self.parameters)["rates"]
        for start in self.quaternions:
            part = result[..., start : start + 4]
            result[..., start : start + 4] = part / np.linalg.norm(part, axis=-1, keepdims=True)
        return result

    def close(self, q: Array, rank: float = 1e-9, steps: int = STEPS) -> tuple[Array, Array]:
        """Least squares from several configurations to closed ones, and the largest residuals there [m or 1].

        The damping of Levenberg and Marquardt falls with the residual, so that steps are those of Newton in the end. It keeps
        them short where rows are redundant at closed configurations only. Singular values below ``rank``, relative to the
        largest, are left out.
        """
        e, J = self.at(q)
        damping, stuck = np.ones(len(q)), np.zeros(len(q), dtype=bool)
        for _ in range(steps):
            busy = np.flatnonzero(~stuck & (np.abs(e).max(axis=1, initial=0.0) > CLOSED * 1e-3))
            if not len(busy):
                break
            before = (e[busy] ** 2).sum(axis=1)
            U, sizes, V = np.linalg.svd(J[busy] * self.weights, full_matrices=False)
            damped = sizes**2 + (damping[busy] * np.minimum(before, 1.0))[:, None]
            parts = np.where(
                sizes > rank * sizes.max(axis=1, keepdims=True, initial=0.0), sizes / np.maximum(damped, 1e-300), 0.0
            )
            step = -self.weights * np.einsum("bkj,bk->bj", V, parts * np.einsum("bik,bi->bk", U, e[busy]))
            step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True, initial=0.0), 1e-300))
            moved = self.moved(q[busy], step)
            found, tangent = self.at(moved)
            better = (found**2).sum(axis=1) < before
            part = busy[better]
            q[part], e[part], J[part] = moved[better], found[better], tangent[better]
            damping[busy] *= np.where(better, EASED, 1.0 / EASED)
            stuck[busy] = ~better & ((damping[busy] > HEAVIEST) | (before < CLOSED**2))
        return q, np.abs(e).max(axis=1, initial=0.0)

    def random(self, generator: np.random.Generator) -> Array:
        """A random configuration within the limits of the joints, links undeformed."""
        q: Array = self.start.copy()
        place = 0
        for joint in self.robot.joints:
            for coordinate in joint.type.coordinates:
                far = math.pi if coordinate.unit == "rad" else self.reach
                low = -far if joint.limits.lower is None else max(joint.limits.lower, -2 * far)
                high = far if joint.limits.upper is None else min(joint.limits.upper, 2 * far)
                q[place] = generator.uniform(low, high)
                place += 1
            flexible = self.robot.link(joint.child).flexible
            place += (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        for start in self.quaternions:
            quaternion = generator.normal(size=4)
            q[start : start + 4] = quaternion / np.linalg.norm(quaternion)
        return q


def _reach(robot: Robot) -> float:
    """About how far joints that slide may go: the largest distance between joints of the robot [m]."""
    from elastogen.generator.robot.expressions import nominal

    lengths = [
        math.hypot(*(nominal(pose[r][3], robot.parameters) for r in range(3)))
        for pose in (*(joint.before for joint in robot.joints), *(end.pose for loop in robot.loops for end in (loop.a, loop.b)))
    ]
    return max([*lengths, 0.1])
