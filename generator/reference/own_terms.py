"""The user's own terms of the equations of motion, evaluated as written: V, dV/dq, dR/dqd - Q."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy

from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.interpret import interpret
from elastogen.generator.program.numbers.jets import Jet, arithmetic
from elastogen.generator.reference.description import Description
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.named_frames import Frames
from elastogen.generator.robot.own.terms import Meaning, Symbols, Term

Array = npt.NDArray[np.float64]


class OwnTerms:
    """The terms at states (q, qd)."""

    def __init__(self, description: Description, q: Array, qd: Array) -> None:
        self.of, self.q, self.qd = description, q, qd
        self.terms = description.robot.terms

    @cached_property
    def _meanings(self) -> dict[sympy.Symbol, Meaning]:
        return Symbols(self.of.robot).meanings

    @cached_property
    def _used(self) -> list[sympy.Symbol]:
        return sorted({s for term in self.terms for s in term.free_symbols if s in self._meanings}, key=str)

    @cached_property
    def _lowering(self) -> ExpressionLowering:
        graph = self.of.graph
        values = {p.symbol: graph.value(p.value) for p in self.of.robot.parameters.values()}
        return ExpressionLowering(graph, values | {s: graph.input(s.name) for s in self._used})

    def _sum(self, expressions: list[sympy.Expr], by: str) -> tuple[Array, Array]:
        """Sum of expressions, and its derivatives along all velocities, or by them."""
        n = self.of.nv
        steps = np.broadcast_to(np.eye(n), (len(self.q), n, n))
        motion = [self.q[:, None, :], self.qd[:, None, :]]
        series = self.of.series(motion, [steps] if by == "q" else [np.zeros_like(steps), steps])
        frames = Frames(self.of, self.of.evaluated(series, bodies=False))
        environment, zero = {}, np.zeros((len(self.q), n))
        for s in self._used:
            meaning = self._meanings[s]
            if meaning.kind == "q":
                data = series[self.of.robot.coordinate_names.index(meaning.of)].data[..., :1]
            elif meaning.kind == "qd":
                k = self.of.robot.velocity_names.index(meaning.of)
                data = np.stack([zero + self.qd[:, k, None], steps[..., k] if by == "qd" else zero], axis=-1)[..., None]
            elif meaning.kind == "angular_velocity":
                data = self._spin(frames.pose(meaning.of), meaning.index, n)
            else:
                row, column = divmod(meaning.index, 3) if meaning.kind == "rotation" else (meaning.index, 3)
                pose, power = frames.pose(meaning.of), int(meaning.kind == "velocity")
                value = pose.values[power] if power < pose.width else np.zeros((4, 4))
                slope = pose.slopes[power] if pose.slopes is not None and power < pose.width else np.zeros((4, 4))
                data = np.stack([zero + value[..., row, column], zero + slope[..., row, column]], axis=-1)[..., None]
            environment[s.name] = Jet(data)
        total: Array = np.zeros((len(self.q), n, 2, 1))
        for expression in expressions:
            lowered = self._lowering(expression)
            found = interpret(self.of.graph, self.of.graph.cone([lowered.ref]), environment, arithmetic(1)).read(lowered.ref)
            total = total + found.data
        return total[:, 0, 0, 0], total[..., 1, 0]

    def _spin(self, pose: MatrixSeries, axis: int, n: int) -> Array:
        """An angular velocity with its derivatives: {omega x} = dR/dt R^T."""
        zero = np.zeros((len(self.q), n, 3, 3))
        parts = [pose.values, pose.slopes if pose.slopes is not None else np.zeros_like(pose.values)]
        R, dR = (zero + part[0][..., :3, :3] for part in parts)
        rate, d_rate = (zero + (part[1][..., :3, :3] if pose.width > 1 else 0.0) for part in parts)
        first, second = (axis + 2) % 3, (axis + 1) % 3
        value = (rate[..., first, :] * R[..., second, :]).sum(axis=-1)
        slope = (d_rate[..., first, :] * R[..., second, :] + rate[..., first, :] * dR[..., second, :]).sum(axis=-1)
        found: Array = np.stack([value, slope], axis=-1)[..., None]
        return found

    @cached_property
    def potential(self) -> tuple[Array, Array]:
        """V and dV/dq."""
        return self._sum([term.potential for term in self.terms], "q")

    @cached_property
    def other_forces(self) -> Array:
        """dR/dqd - Q."""
        result = np.array(self._sum([term.dissipation for term in self.terms], "qd")[1])
        for term in self.terms:
            for name, force in term.forces.items():
                result[:, self.of.robot.velocity_names.index(name)] -= self._sum([force], "qd")[0]
            result -= self._at_frames(term)
        return result

    def _at_frames(self, term: Term) -> Array:
        n = self.of.nv
        total = np.zeros((len(self.q), n))
        steps = np.broadcast_to(np.eye(n), (len(self.q), n, n))
        for name, components in term.frame_forces.items():
            evaluated = self.of.evaluated(self.of.series([self.q[:, None, :], steps]), bodies=False)
            pose = Frames(self.of, evaluated).pose(name)
            force = np.stack([self._sum([component], "qd")[0] for component in components], axis=-1)
            if pose.width > 1:
                rate = pose.values[1] + np.zeros((len(self.q), n, 4, 4))
                total += np.einsum("skc,sc->sk", rate[..., :3, 3], force[..., :3])
                if len(components) > 3:  # by the angular velocities of unit velocities
                    turning = rate[..., :3, :3] @ np.swapaxes(
                        pose.values[0][..., :3, :3] + np.zeros((len(self.q), n, 3, 3)), -1, -2
                    )
                    spins = np.stack([turning[..., 2, 1], turning[..., 0, 2], turning[..., 1, 0]], axis=-1)
                    total += np.einsum("skc,sc->sk", spins, force[..., 3:])
        return total
