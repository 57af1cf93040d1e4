"""The equations of motion from 4 x 4 transformations alone, as the papers write them (000 (61)-(67), (97)-(112) as corrected).

Nothing here needs rotations to be orthogonal, so that the linear tip E + {delta x} of 000 (66), which shears whatever is
attached to it, is treated exactly. T_i0 and its time derivatives follow from the product rule; with the inertia forces
W = int (acceleration) (r;1)^T dm of a body, the generalized force of a coordinate is the scalar product of W with
dT/dq. Energies of any order p have the same form (002 (19), 000 (49)): E = 1/2 Tr(T^(p+1) J T^(p+1)^T).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from elastogen.generator.algorithms.newton_euler import place
from elastogen.generator.bodies.elastic_body import DeformedBody, TimeDerivatives
from elastogen.generator.mechanism.mechanism import Frame, Mechanism
from elastogen.generator.program.differentiate import directional, seed, time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial import dense_matrices as dense
from elastogen.generator.spatial.vectors import Mat, product


def _rates(mechanism: Mechanism, matrix: Mat, motion: TimeDerivatives, order: int) -> list[Mat]:
    """Return the matrix and its time derivatives up to an order."""
    width = len(matrix[0])
    chain = mechanism.in_time(motion)
    values, result = [value for row in matrix for value in row], [matrix]
    for _ in range(order):
        values = time_derivative(mechanism.graph, values, chain)
        result.append([values[start : start + width] for start in range(0, len(values), width)])
    return result


@dataclass(frozen=True)
class AffineBody:
    """What moves with one frame: transformation with rates, rigid inertia, and the flexible body if there is one."""

    frame: Frame
    T: list[Mat]  # T_i0 (4 x 4) and its time derivatives
    J: Mat  # 4 x 4 pseudo-inertia of the rigid bodies
    deformed: DeformedBody | None

    def axes(self, order: int) -> list[Mat]:
        """Return the rotation part of T and its rates up to an order."""
        return [[row[:3] for row in T[:3]] for T in self.T[: order + 1]]


def local_transforms(mechanism: Mechanism, q: Sequence[Value]) -> list[Mat]:
    """Return the transformation of every frame relative to its parent, 4 x 4."""
    zero, one = mechanism.graph.value(0), mechanism.graph.value(1)
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    result = []
    for placed in place(mechanism, q):
        rows = placed.rotation.after(unit)
        bottom = [zero, zero, zero, one]
        result.append([*([*row, p] for row, p in zip(rows, placed.position, strict=True)), bottom])
    return result


def bodies(mechanism: Mechanism, motion: TimeDerivatives, order: int) -> list[AffineBody]:
    """Return all frames with their transformations and rates up to an order, by Leibniz' rule."""
    graph, q = mechanism.graph, motion[0]
    found: list[AffineBody] = []
    for frame, A in zip(mechanism.frames, local_transforms(mechanism, q), strict=True):
        with graph.section(f"{frame.label}: transformation and its rates"):
            rates = _rates(mechanism, A, motion, order)
            if frame.parent >= 0:
                parent = found[frame.parent].T
                T = []
                for k in range(order + 1):
                    total = product(parent[0], rates[k])
                    for i in range(1, k + 1):
                        total = dense.added(total, dense.scaled(product(parent[i], rates[k - i]), float(comb(k, i))))
                    T.append(total)
            else:
                T = rates
            deformed = None if frame.elastic is None else frame.elastic.moved(q)
            found.append(AffineBody(frame, T, frame.inertia.pseudo, deformed))
    return found


def energy(mechanism: Mechanism, motion: TimeDerivatives, p: int) -> Value:
    """E^(p) = 1/2 int |r^(p+1)|^2 dm; p = 0 is the kinetic energy, p >= 1 the acceleration energies (trace form)."""
    graph = mechanism.graph
    total = graph.value(0)
    for body in bodies(mechanism, motion, p + 1):
        with graph.section(f"{body.frame.label}: energy of order {p}"):
            X = body.T[p + 1][:3]
            total = total + dense.inner(graph, product(X, body.J), X) * 0.5
            if body.deformed is not None:
                origin = [row[3] for row in X]
                total = total + body.deformed.acceleration_energy(motion, body.axes(p + 1), origin)
    return total


def inverse_dynamics(mechanism: Mechanism, motion: TimeDerivatives, gravity: Sequence[Value]) -> list[Value]:
    """M qdd + C qd + G: d'Alembert's principle with W = int (acceleration - g) (r;1)^T dm, summed from the tips inward."""
    graph, q = mechanism.graph, motion[0]
    found = bodies(mechanism, motion[:3], 2)
    tau = [graph.value(0)] * mechanism.size
    wrenches: list[Mat] = []
    for body in found:
        with graph.section(f"{body.frame.label}: inertia forces"):
            X = [[*row[:3], row[3] - g] for row, g in zip(body.T[2][:3], gravity, strict=True)]
            W = product(X, body.J)
            if body.frame.elastic is not None and body.deformed is not None:
                own, rows = body.deformed.inertia_forces(motion[:3], body.axes(2), X)
                for coordinate, value in zip(body.frame.elastic.coordinates, rows, strict=True):
                    tau[coordinate] = tau[coordinate] + value
                W = dense.added(W, own)
            wrenches.append(W)
    local = local_transforms(mechanism, q)
    for index in reversed(range(len(found))):
        frame = mechanism.frames[index]
        with graph.section(f"{frame.label}: generalized forces"):
            parent = found[frame.parent].T[0][:3] if frame.parent >= 0 else None
            for coordinate in frame.touched:
                slope = partial(graph, local[index], q[coordinate])
                moved = slope[:3] if parent is None else product(parent, slope)
                tau[coordinate] = tau[coordinate] + dense.inner(graph, moved, wrenches[index])
            if frame.parent >= 0:
                carried = product(wrenches[index], dense.transposed(local[index]))
                wrenches[frame.parent] = dense.added(wrenches[frame.parent], carried)
    return tau


def link_transform_rates(mechanism: Mechanism, motion: TimeDerivatives, order: int) -> list[Mat]:
    """Return the time derivative of that order of T_i0 for every frame of the user, the tip last."""
    graph = mechanism.graph
    zero, one = graph.value(0), graph.value(1)
    found = bodies(mechanism, motion, order)
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    result = []
    for link in mechanism.link_frames:
        rows = [[*row, p] for row, p in zip(link.rotation.after(unit), link.position, strict=True)]
        pose = [*rows, [zero, zero, zero, one]]
        if link.frame >= 0:
            result.append(product(found[link.frame].T[order], pose))
        else:
            result.append([[zero] * 4 for _ in range(4)])
    return result


def partial(graph: Graph, matrix: Mat, x: Value) -> Mat:
    """Differentiate a matrix entrywise by one coordinate."""
    width = len(matrix[0])
    values = directional(graph, [value for row in matrix for value in row], seed(x, graph.one))
    return [values[start : start + width] for start in range(0, len(values), width)]
