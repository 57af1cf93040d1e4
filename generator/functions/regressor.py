"""Inverse dynamics as a matrix times the inertial parameters, and the parameters that can be identified.

Per moving joint, in the frame of its link: m, m x, m y, m z [kg, kg m] and L_xx, L_xy, L_xz, L_yy, L_yz, L_zz about the
frame's origin [kg m^2], bodies on fixed joints and the payload included. After these come, for joints with a drive, the
reflected motor inertia, the viscous and the Coulomb friction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastogen.generator.algorithms.newton_euler import inverse_dynamics
from elastogen.generator.functions.variants import Variant
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.program import Argument, Program
from elastogen.generator.spatial.inertia import Array, Inertia
from elastogen.generator.spatial.vectors import Mat, Symmetric

PER_BODY = 10
DEPENDENT = 1e-9  # a column within this of the span of others is a combination of them
ROUNDING = 1e-12  # a column this small beside the largest is a zero with rounding errors


def _carried(mechanism: Mechanism, index: int) -> LinkFrame:
    """The user's frame of the link that a joint moves: the first one that hangs on its frame."""
    return next(link for link in mechanism.link_frames if link.frame == index)


def _inertia_of_parameters(mechanism: Mechanism, index: int, pi: list[Value]) -> Inertia:
    """The ten parameters of a link as inertia in the joint's frame."""
    m, S = pi[0], pi[1:4]
    xx, xy, xz, yy, yz, zz = pi[4:]
    half = (xx + yy + zz) * 0.5
    P = Symmetric(half - xx, -xy, -xz, half - yy, -yz, half - zz)
    link = _carried(mechanism, index)
    turned = Inertia(m, link.rotation.outward(S), link.rotation.outward_symmetric(P))
    return turned.shifted(link.position)


def parameters_of(variant: Variant) -> list[Value]:
    """The inertial parameters of the robot as it is, live parameters included."""
    values: list[Value] = []
    for index, frame in enumerate(variant.mechanism.frames):
        link = _carried(variant.mechanism, index)
        body = frame.inertia.shifted([-component for component in link.position])
        half_turned = [link.rotation.inward(row) for row in body.P.full]
        columns = [link.rotation.inward(list(column)) for column in zip(*half_turned, strict=True)]
        P = Symmetric.of([list(row) for row in zip(*columns, strict=True)])
        values += [body.m, *link.rotation.inward(body.S)]
        values += [P.yy + P.zz, -P.xy, -P.xz, P.xx + P.zz, -P.yz, P.xx + P.yy]
    for drive in variant.drives:
        values += [value for value in (drive.inertia, drive.viscous, drive.coulomb) if not value.is_zero]
    return values


def regressor(variant: Variant) -> Mat:
    """Y(q, qd, qdd) with one row per coordinate: F = Y times the parameters."""
    n, graph = variant.size, variant.graph
    unknowns = [graph.input(f"inertial[{k}]") for k in range(PER_BODY * n)]
    frames = tuple(
        replace(frame, inertia=_inertia_of_parameters(variant.mechanism, k, unknowns[PER_BODY * k : PER_BODY * (k + 1)]))
        for k, frame in enumerate(variant.mechanism.frames)
    )
    mechanism = replace(variant.mechanism, frames=frames)
    q, qd, qdd = variant.input("q"), variant.input("qd"), variant.input("qdd")
    forces = inverse_dynamics(mechanism, q, qd, qdd, mechanism.gravity, "tensor", variant.merge)
    Y = jacobian(graph, forces, unknowns)
    for index, drive in enumerate(variant.drives):
        rate = qd[index]
        columns = [] if drive.inertia.is_zero else [qdd[index]]
        columns += [] if drive.viscous.is_zero else [rate]
        columns += [] if drive.coulomb.is_zero else [graph.tanh(rate / drive.coulomb_velocity)]
        for column in columns:
            for row in range(n):
                Y[row].append(column if row == index else graph.value(0))
    return Y


@dataclass(frozen=True)
class BaseSet:
    """Columns of the regressor that are independent, and each base parameter as a combination of all parameters."""

    columns: tuple[int, ...]
    combination: Array  # (base parameters, parameters)


def base_set(variant: Variant, Y: Mat, nominal: dict[str, float]) -> BaseSet:
    """Find the base parameters from the regressor at random states (Gautier 1991).

    Where the regressor depends on live lengths or angles, combinations would change with them: then only columns
    that are always zero are dropped.
    """
    graph, n = variant.graph, variant.size
    refs = [value.ref for row in Y for value in row]
    width = len(Y[0])
    inputs = [Argument(name, (n,), "", "") for name in ("q", "qd", "qdd")]
    program = Program(graph, inputs, [(Argument("Y", (n, width), "", ""), refs)])
    rng = np.random.default_rng(20020523)
    states = {argument.name: rng.uniform(-2.0, 2.0, (3 * width // n + 10, n)) for argument in inputs}
    harmless = _gravity_labels(graph, variant)
    varied = {name: rng.uniform(-10, 10) if name in harmless else value for name, value in nominal.items()}
    sample = program.evaluate(states, varied)["Y"].reshape(-1, width)
    if any(label in nominal and label not in harmless for label in program.used_inputs()):
        kept = [k for k in range(width) if not all(row[k].is_zero for row in Y)]
        return BaseSet(tuple(kept), np.eye(width)[kept])
    size = np.abs(sample).max(axis=0)
    alive = [k for k in range(width) if size[k] > ROUNDING * size.max()]
    chosen: list[int] = []
    rows: list[Array] = []
    basis = np.zeros((sample.shape[0], 0))
    for k in alive:
        column = sample[:, k] / size[k]
        residue = column - basis @ (basis.T @ column)
        residue -= basis @ (basis.T @ residue)
        if np.linalg.norm(residue) > DEPENDENT * np.linalg.norm(column):
            basis = np.column_stack([basis, residue / np.linalg.norm(residue)])
            chosen.append(k)
            rows.append(np.eye(width)[k])
        else:
            weights = np.linalg.lstsq(sample[:, chosen] / size[chosen], column, rcond=None)[0]
            for row, weight in zip(rows, weights * size[k] / size[chosen], strict=True):
                row[k] = 0.0 if abs(weight) < DEPENDENT else weight
    return BaseSet(tuple(chosen), np.array(rows))


def _gravity_labels(graph: Graph, variant: Variant) -> set[str]:
    """Live parameters that may take any value without changing what can be identified."""
    found = set()
    scales = [drive.coulomb_velocity for drive in variant.drives]
    for value in (*variant.mechanism.gravity, *scales):
        if graph.op[value.ref >> 1] is Op.INPUT:
            found.add(graph.label[value.ref >> 1])
    return found


def combined(variant: Variant, found: BaseSet) -> list[Value]:
    """Values of the base parameters."""
    parameters = parameters_of(variant)
    result = []
    for row in found.combination:
        total = variant.graph.value(0)
        for weight, value in zip(row, parameters, strict=True):
            total = total + value * float(weight)
        result.append(total)
    return result
