"""The equations of motion from 4 x 4 transformations alone, as the seeds write them (000 (61)-(67), (97)-(112) as corrected).

Nothing here needs rotations to be orthogonal, so that the linear tip E + {delta x} of 000 (66), which shears whatever is
attached to it, is treated exactly. T_i0 and its time derivatives follow from the product rule; with the inertia forces
W = int (acceleration) (r;1)^T dm of a body, the generalized force of a coordinate is the scalar product of W with
dT/dq. Energies of any order p have the same form (002 (19), 000 (49)): E = 1/2 Tr(T^(p+1) J T^(p+1)^T).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb

from elastogen.generator.differentiate import directional, seed, time_derivative
from elastogen.generator.elastic_body import DeformedBody
from elastogen.generator.graph import Graph, Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.mechanism import Frame, Mechanism
from elastogen.generator.newton_euler import place
from elastogen.generator.vectors import Mat

Motion = Sequence[Sequence[Value]]  # q, qd, qdd, ... as far as needed


def _product(graph: Graph, a: Mat, b: Mat) -> Mat:
    """Matrix product of any sizes."""
    columns = list(zip(*b, strict=True))
    result = []
    for row in a:
        line = []
        for column in columns:
            total = graph.value(0)
            for x, y in zip(row, column, strict=True):
                total = total + x * y
            line.append(total)
        result.append(line)
    return result


def _transposed(a: Mat) -> Mat:
    return [list(column) for column in zip(*a, strict=True)]


def _sum(a: Mat, b: Mat) -> Mat:
    return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def _scaled(a: Mat, factor: Value | float) -> Mat:
    return [[x * factor for x in row] for row in a]


def _inner(graph: Graph, a: Mat, b: Mat) -> Value:
    """Sum of the products of corresponding entries: Tr(a b^T)."""
    total = graph.value(0)
    for r, s in zip(a, b, strict=True):
        for x, y in zip(r, s, strict=True):
            total = total + x * y
    return total


def _rates(graph: Graph, matrix: Mat, motion: Motion, order: int) -> list[Mat]:
    """The matrix and its time derivatives up to an order."""
    width = len(matrix[0])
    chain = list(pairwise(motion))
    values, result = [value for row in matrix for value in row], [matrix]
    for _ in range(order):
        values = time_derivative(graph, values, chain)
        result.append([values[start : start + width] for start in range(0, len(values), width)])
    return result


@dataclass(frozen=True)
class Body:
    """What moves with one frame: transformation and its rates, rigid inertia, and the flexible body if there is one."""

    frame: Frame
    T: list[Mat]  # T_i0 (4 x 4) and its time derivatives
    J: Mat  # 4 x 4 pseudo-inertia of the rigid bodies
    deformed: DeformedBody | None
    c: list[list[Value]]  # coefficients of the shape fields and their time derivatives


def _pseudo(inertia: Inertia) -> Mat:
    P, S = inertia.P.full, inertia.S
    return [[*P[0], S[0]], [*P[1], S[1]], [*P[2], S[2]], [*S, inertia.m]]


def local_transforms(mechanism: Mechanism, q: Sequence[Value]) -> list[Mat]:
    """The transformation of every frame against its parent, 4 x 4."""
    zero, one = mechanism.graph.value(0), mechanism.graph.value(1)
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    result = []
    for placed in place(mechanism, q):
        rows = placed.rotation.after(unit)
        bottom = [zero, zero, zero, one]
        result.append([*([*row, p] for row, p in zip(rows, placed.position, strict=True)), bottom])
    return result


def bodies(mechanism: Mechanism, motion: Motion, order: int) -> list[Body]:
    """All frames with their transformations and rates up to an order, by Leibniz' rule."""
    graph, q = mechanism.graph, motion[0]
    found: list[Body] = []
    for frame, A in zip(mechanism.frames, local_transforms(mechanism, q), strict=True):
        graph.section = f"{frame.label}: transformation and its rates"
        rates = _rates(graph, A, motion, order)
        if frame.parent >= 0:
            parent = found[frame.parent].T
            T = []
            for k in range(order + 1):
                total = _product(graph, parent[0], rates[k])
                for i in range(1, k + 1):
                    total = _sum(total, _scaled(_product(graph, parent[i], rates[k - i]), float(comb(k, i))))
                T.append(total)
        else:
            T = rates
        deformed, c = None, []
        if frame.elastic is not None:
            deformed = frame.elastic.deformed([q[k] for k in frame.elastic.coordinates])
            c = [row[0] for row in _rates(graph, [deformed.c], motion, order)] if deformed.c else []
        found.append(Body(frame, T, _pseudo(frame.inertia), deformed, c))
    return found


def _field_motion(graph: Graph, body: Body, n: int, order: int) -> Mat:
    """Z_n with d^order/dt^order (R c_n) = Z_n: how the shape field n moves, 3 x 3."""
    zero = graph.value(0)
    Z = [[zero] * 3 for _ in range(3)]
    for i in range(order + 1):
        R = [row[:3] for row in body.T[i][:3]]
        Z = _sum(Z, _scaled(R, body.c[order - i][n] * float(comb(order, i))))
    return Z


def energy(mechanism: Mechanism, motion: Motion, p: int) -> Value:
    """E^(p) = 1/2 int |r^(p+1)|^2 dm; p = 0 is the kinetic energy, p >= 1 the acceleration energies (trace form)."""
    graph = mechanism.graph
    total = graph.value(0)
    for body in bodies(mechanism, motion, p + 1):
        graph.section = f"{body.frame.label}: energy of order {p}"
        X = body.T[p + 1][:3]
        total = total + _inner(graph, _product(graph, X, body.J), X) * 0.5
        if body.deformed is None:
            continue
        data = body.deformed.body
        total = total + _inner(graph, _product(graph, X, _pseudo(data.rigid)), X) * 0.5
        Z = [_field_motion(graph, body, n, p + 1) for n in range(len(data.monomials))]
        for n, Zn in enumerate(Z):
            cross = _transposed([[*row, data.D[n][k]] for k, row in enumerate(data.B[n])])  # int (r;1) b_n^T dm
            total = total + _inner(graph, _product(graph, X, cross), Zn)
            for m, Zm in enumerate(Z):
                total = total + _inner(graph, _product(graph, Zn, data.G[n][m]), Zm) * 0.5
    return total


def inverse_dynamics(mechanism: Mechanism, motion: Motion, gravity: Sequence[Value]) -> list[Value]:
    """M qdd + C qd + G: d'Alembert's principle with W = int (acceleration - g) (r;1)^T dm, summed from the tips inward."""
    graph, q = mechanism.graph, motion[0]
    found = bodies(mechanism, motion[:3], 2)
    tau = [graph.value(0)] * mechanism.size
    wrenches: list[Mat] = []
    for body in found:
        graph.section = f"{body.frame.label}: inertia forces"
        X = [[*row[:3], row[3] - g] for row, g in zip(body.T[2][:3], gravity, strict=True)]
        W = _product(graph, X, body.J)
        if body.deformed is not None:
            data = body.deformed.body
            R = [row[:3] for row in body.T[0][:3]]
            Z = [_field_motion(graph, body, n, 2) for n in range(len(data.monomials))]
            spread = [_transposed([[*row, data.D[n][k]] for k, row in enumerate(data.B[n])]) for n in range(len(Z))]
            # int acc (r;1)^T dm, and int acc b_n^T dm, for acc = X (r;1) + sum_m Z_m b_m
            straight = _product(graph, X, _pseudo(data.rigid))
            by_field = []
            for n in range(len(Z)):
                straight = _sum(straight, _product(graph, Z[n], _transposed(spread[n])))
                field = _product(graph, X, spread[n])
                for m in range(len(Z)):
                    field = _sum(field, _product(graph, Z[m], data.G[m][n]))
                by_field.append(field)
            rows = body.deformed.to_coordinates([_inner(graph, R, field) for field in by_field])
            for coordinate, value in zip(data.coordinates, rows, strict=True):
                tau[coordinate] = tau[coordinate] + value
            zero = graph.value(0)
            for c, field in zip(body.c[0], by_field, strict=True):
                straight = _sum(straight, _scaled([[*row, zero] for row in field], c))
            W = _sum(W, straight)
        wrenches.append(W)
    local = local_transforms(mechanism, q)
    for index in reversed(range(len(found))):
        frame = mechanism.frames[index]
        graph.section = f"{frame.label}: generalized forces"
        parent = found[frame.parent].T[0][:3] if frame.parent >= 0 else None
        for coordinate in frame.touched:
            slope = partial(graph, local[index], q[coordinate])
            moved = slope[:3] if parent is None else _product(graph, parent, slope)
            tau[coordinate] = tau[coordinate] + _inner(graph, moved, wrenches[index])
        if frame.parent >= 0:
            carried = _product(graph, wrenches[index], _transposed(local[index]))
            wrenches[frame.parent] = _sum(wrenches[frame.parent], carried)
    return tau


def link_transform_rates(mechanism: Mechanism, motion: Motion, order: int) -> list[Mat]:
    """The time derivative of that order of T_i0 for every frame of the user, the tip last."""
    graph = mechanism.graph
    zero, one = graph.value(0), graph.value(1)
    found = bodies(mechanism, motion, order)
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    result = []
    for link in mechanism.link_frames:
        rows = [[*row, p] for row, p in zip(link.rotation.after(unit), link.position, strict=True)]
        pose = [*rows, [zero, zero, zero, one]]
        if link.frame >= 0:
            result.append(_product(graph, found[link.frame].T[order], pose))
        else:
            result.append([[zero] * 4 for _ in range(4)])
    return result


def partial(graph: Graph, matrix: Mat, x: Value) -> Mat:
    """Entrywise derivative of a matrix by one coordinate."""
    width = len(matrix[0])
    values = directional(graph, [value for row in matrix for value in row], seed(x, graph.one))
    return [values[start : start + width] for start in range(0, len(values), width)]
