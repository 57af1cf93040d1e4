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
STEPS = 60  # of Newton, at most
LONGEST = 0.5  # largest change of a coordinate in one of them [rad or m]
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
        self.reach = _reach(robot)

    def at(self, q: Array) -> tuple[Array, Array]:
        """Residuals and Jacobian at a configuration, or at several."""
        found = self._closure.evaluate({"q": q}, self.parameters)
        return found["e"], found["J"]

    def motion(self, q: Array, generator: np.random.Generator) -> tuple[Array, Array]:
        """Random velocities and accelerations that keep the loops closed, at a closed configuration."""
        J = self.at(q)[1]
        _, sizes, V = np.linalg.svd(J)
        N = V[int((sizes > 1e-7 * sizes[0]).sum()) :].T
        v, a = (N @ generator.normal(size=N.shape[1]) for _ in range(2))
        bias = self._bias.evaluate({"q": q, "v": v}, self.parameters)["bias"]
        return v, a + np.linalg.lstsq(J, -bias, rcond=1e-7)[0]

    def moved(self, q: Array, v: Array) -> Array:
        """Configurations displaced by v, quaternions of unit length."""
        result: Array = q + self._rates.evaluate({"q": q, "v": v}, self.parameters)["rates"]
        for start in self.robot.quaternions:
            part = result[..., start : start + 4]
            result[..., start : start + 4] = part / np.linalg.norm(part, axis=-1, keepdims=True)
        return result

    def close(self, q: Array, rank: float = 1e-9, steps: int = STEPS) -> tuple[Array, Array]:
        """Newton from several configurations to the nearest closed ones, and the largest residuals there [m or 1].

        Singular values below ``rank``, relative to the largest, are left out.
        """
        e, J = self.at(q)
        for _ in range(steps):
            busy = np.flatnonzero(np.abs(e).max(axis=1, initial=0.0) > CLOSED * 1e-3)
            if not len(busy):
                break
            pseudo = np.linalg.pinv(J[busy] * self.weights, rcond=rank)
            step = -self.weights * np.einsum("bij,bj->bi", pseudo, e[busy])
            longest = np.abs(step).max(axis=1, keepdims=True, initial=0.0)
            step *= np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))
            before, waiting = (e[busy] ** 2).sum(axis=1), np.ones(len(busy), dtype=bool)
            for _ in range(8):
                part = busy[waiting]
                moved = self.moved(q[part], step[waiting])
                found, tangent = self.at(moved)
                better = (found**2).sum(axis=1) < before[waiting]
                q[part[better]], e[part[better]], J[part[better]] = moved[better], found[better], tangent[better]
                waiting[np.flatnonzero(waiting)[better]] = False
                if not waiting.any():
                    break
                step *= 0.5
            if waiting.all():
                break
        return q, np.abs(e).max(axis=1, initial=0.0)

    def random(self, generator: np.random.Generator) -> Array:
        """A random configuration within the limits of the joints, links undeformed."""
        q, place = np.array(neutral(self.robot), dtype=float), 0
        for joint in self.robot.joints:
            for coordinate in joint.type.coordinates:
                far = math.pi if coordinate.unit == "rad" else self.reach
                low = -far if joint.limits.lower is None else max(joint.limits.lower, -2 * far)
                high = far if joint.limits.upper is None else min(joint.limits.upper, 2 * far)
                q[place] = generator.uniform(low, high)
                place += 1
            flexible = self.robot.link(joint.child).flexible
            place += (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        for start in self.robot.quaternions:
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
