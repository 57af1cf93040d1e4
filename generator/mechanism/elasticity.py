"""Springs and dampers of flexible links and joints, beside the bodies: K, D, and their products with few operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastogen.generator.beams.natural_frequencies import numeric
from elastogen.generator.bodies.modal_dampers import ModalDampers, add_modal_forces, modal_dampers
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import Indicators
from elastogen.generator.spatial.vectors import Mat

SAME = 1e-9  # parts that differ by less from a damping matrix, relative to its diagonal, are that matrix


@dataclass(frozen=True)
class Elasticity:
    """Stiffness K and damping D over all coordinates; viscous friction of the joints is part of D.

    D = B K + sum_i sign_i v_i v_i^T + R, with B the diagonal matrix of ``internal``. Where a link's damping has no such parts
    (FlexibleBody.damping_parts), all of it is in R; D itself has the entries as described.
    """

    K: Mat
    D: Mat
    internal: list[Value]  # internal friction beta [s], one number for a link
    modal: ModalDampers  # sign_i and v_i
    rest: Mat

    def springs(self, q: Sequence[Value]) -> list[Value]:
        """K q."""
        return _product(self.K, q)

    def led(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """q + B qd: the springs' forces there contain those of internal friction, K q + B K qd."""
        return [x + beta * rate for x, beta, rate in zip(q, self.internal, qd, strict=False)]

    def internal_friction(self, qd: Sequence[Value]) -> list[Value]:
        """B K qd."""
        return _product([[beta * k for k in row] for beta, row in zip(self.internal, self.K, strict=True)], qd)

    def other_dampers(self, start: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """D qd without internal friction, beside forces to start with."""
        forces = _product(self.rest, qd, start)
        add_modal_forces(forces, self.modal, qd)
        return forces


def elasticity(lower: Lowering, robot: Robot, inside: Indicators) -> Elasticity:
    """Blocks of the flexible links and joints on the diagonal of K and D."""
    zero, n = lower.graph.value(0), len(robot.velocities)
    K, D, rest = ([[zero] * n for _ in range(n)] for _ in range(3))
    found = Elasticity(K, D, [zero] * n, [], rest)
    start = 0
    for joint in robot.joints:
        for _ in joint.type.velocities:
            D[start][start] = rest[start][start] = lower.value(joint.actuation.viscous)
            start += 1
        if joint.elasticity is not None:
            K[start][start] = lower.value(joint.elasticity.stiffness)
            D[start][start] = rest[start][start] = lower.value(joint.elasticity.damping)
            start += 1
        body = robot.link(joint.child).flexible
        if body is not None:
            for r in range(len(body.coordinates)):
                for c in range(len(body.coordinates)):
                    K[start + r][start + c] = zero if body.clamp_moves else lower.value(body.stiffness[r][c])
                    D[start + r][start + c] = lower.value(body.damping[r][c])
                    for k, held in enumerate(body.telescope.clamped_damping if body.telescope is not None else (), 1):
                        D[start + r][start + c] = D[start + r][start + c] + inside.of(joint.name)[k] * lower.value(held[r][c])
            _divide(found, lower, robot, body, range(start, start + len(body.coordinates)))
            start += len(body.coordinates)
    return found


def _divide(found: Elasticity, lower: Lowering, robot: Robot, body: FlexibleBody, own: range) -> None:
    """Write the parts of a body's damping.

    They are those of K at the nominal parameters: a K that changes with live ones is not theirs, nor is one that other
    parameters have been given since.
    """
    parts = body.damping_parts
    remaining = [[found.D[i][j] for j in own] for i in own]
    if parts is not None:
        friction = parts.internal * numeric(body.stiffness, robot.parameters)
        total = friction + sum(sign * np.outer(vector, vector) for sign, vector in parts.modal)
        given = numeric(body.damping, robot.parameters)
        if np.all(np.abs(total - given) <= SAME * np.sqrt(np.outer(np.diag(given), np.diag(given)))):
            constant = all(found.K[i][j].constant is not None for i in own for j in own)
            for k in own:
                found.internal[k] = lower.graph.value(parts.internal if constant else 0)
            found.modal.extend(modal_dampers(lower.graph, parts.modal, own))
            remaining = [[lower.graph.value(0 if constant else float(entry)) for entry in row] for row in friction]
    for i, row in zip(own, remaining, strict=True):
        found.rest[i][own.start : own.stop] = row


def _product(matrix: Mat, values: Sequence[Value], start: Sequence[Value] | None = None) -> list[Value]:
    """Matrix times values, added to what is there to start with."""
    result = []
    for k, row in enumerate(matrix):
        total = row[k].graph.value(0) if start is None else start[k]
        for entry, value in zip(row, values, strict=False):
            if not entry.is_zero:
                total = total + entry * value
        result.append(total)
    return result
