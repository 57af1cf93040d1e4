"""Inverse dynamics as a matrix times inertial parameters, and the combinations of these that can be identified.

In this order: per frame that carries rigid bodies (a link's frame, and the tip of a flexible link) m, m x, m y, m z [kg, kg m]
and L_xx, L_xy, L_xz, L_yy, L_yz, L_zz about the frame's origin [kg m^2], bodies on fixed joints and the payload included; per
flexible link its mass per length, its stiffness in every direction and its damping (:class:`FlexibleLink`); per flexible joint
its stiffness and damping; per coordinate with a drive the reflected motor inertia, viscous and Coulomb friction, offset,
Stribeck friction, and the asymmetries of viscous and Coulomb friction. Of damping and drives only those that the robot has.
Friction that grows with load is not a linear function of these parameters: the regressor gives the forces without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from elastogen.generator.beams.integrals import DIRECTIONS, ShapedBeam
from elastogen.generator.beams.piecewise import to_scalar
from elastogen.generator.beams.slopes import link_slopes
from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.functions.loops.closing import Closing
from elastogen.generator.functions.variants import Variant
from elastogen.generator.mechanism.drives import Drive
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.program import Program
from elastogen.generator.robot.robot import Scalar
from elastogen.generator.sliding.elements_inside import INDICATORS, indicated, indicators_at, selectors
from elastogen.generator.spatial.inertia import Array, Inertia
from elastogen.generator.spatial.vectors import Mat, Rotation, Symmetric
from elastogen.runtime.interface.argument import Argument

PER_BODY = 10
DEPENDENT = 1e-9  # relative distance from the span of other columns below which a column depends on them
EXACT_SERIES = 2.0  # [rad] up to which the rotation of a tip by its series is exact
ROUNDING = 1e-12  # relative to the largest column: a smaller one is rounding


# ---- rigid bodies


def carriers(mechanism: Mechanism) -> list[tuple[int, LinkFrame]]:
    """The frames that carry rigid bodies, each with the user's frame for its parameters: the first one there, or itself."""
    zero, found = mechanism.graph.value(0), []
    for index, frame in enumerate(mechanism.frames):
        link = next((link for link in mechanism.link_frames[:-1] if link.frame == index), None)
        if link is None and frame.parent >= 0 and mechanism.frames[frame.parent].elastic is not None:
            link = LinkFrame(frame.label, index, Rotation(()), [zero] * 3)  # the tip of a flexible link
        if link is not None:
            found.append((index, link))
    return found


def _inertia_of_parameters(link: LinkFrame, pi: list[Value]) -> Inertia:
    """The ten parameters of a link as inertia in the frame that carries it."""
    m, S = pi[0], pi[1:4]
    xx, xy, xz, yy, yz, zz = pi[4:]
    half = (xx + yy + zz) * 0.5
    P = Symmetric(half - xx, -xy, -xz, half - yy, -yz, half - zz)
    rotated = Inertia(m, link.rotation.outward(S), link.rotation.outward_symmetric(P))
    return rotated.shifted(link.position)


def _parameters_of_body(link: LinkFrame, inertia: Inertia) -> list[Value]:
    body = inertia.shifted([-component for component in link.position])
    half_rotated = [link.rotation.inward(row) for row in body.P.full]
    columns = [link.rotation.inward(list(column)) for column in zip(*half_rotated, strict=True)]
    P = Symmetric.of([list(row) for row in zip(*columns, strict=True)])
    values = [body.m, *link.rotation.inward(body.S)]
    return [*values, P.yy + P.zz, -P.xy, -P.xz, P.xx + P.zz, -P.yz, P.xx + P.yy]


# ---- flexible links


@dataclass(frozen=True)
class FlexibleLink:
    """The parameters in which a flexible link's equations are linear.

    A beam has its mass per length and its stiffnesses EI_z, EI_y, GJ, EA at the clamp, whose variation along it is given; a
    body of integrals has its mass, and 1 for its stiffness. Inertias of sections scale with the mass per length; damping has 1.
    """

    index: int  # of its frame
    elastic: ElasticBody
    mass: Value
    stiffness: list[tuple[Value, tuple[int, ...]]]  # and the coordinates that it belongs to
    damped: bool


def flexible_links(variant: Variant) -> list[FlexibleLink]:
    """In the order of the frames."""
    robot, found = variant.robot, []
    lower = Lowering(variant.graph, robot)
    bodies = {joint.child: robot.link(joint.child).flexible for joint in robot.joints}
    for index, frame in enumerate(variant.mechanism.frames):
        body = bodies.get(frame.label)
        if frame.elastic is None or body is None:
            continue
        own = frame.elastic.coordinates[-len(body.coordinates) :]  # without the joint's
        mass, stiffness = lower.value(body.mass), [(variant.graph.value(1), own)]
        if body.beam is not None:
            mass = lower.value(to_scalar(body.beam.beam.mass_per_length.start))
        if body.beam is not None and not body.beam.beam.shear:  # a beam that shears is not linear in one stiffness
            stiffness = [
                (lower.value(value), tuple(own[j] for j, mode in enumerate(body.beam.modes) if mode.direction == direction))
                for direction, value in _stiffnesses(body.beam)
            ]
        D = variant.elasticity.D
        damped = any(not D[i][j].is_zero for i in own for j in own) or bool(body.telescope and body.telescope.damping)
        found.append(FlexibleLink(index, frame.elastic, mass, stiffness, damped))
    return found


def _stiffnesses(given: ShapedBeam) -> list[tuple[str, Scalar]]:
    used = {mode.direction for mode in given.modes}
    return [(d, to_scalar(given.beam.stiffness[d].start)) for d in DIRECTIONS if d in used]


def _flexible_columns(variant: Variant, link: FlexibleLink) -> list[list[Value]]:
    """Columns of stiffnesses and damping; that of the mass comes with the rigid bodies."""
    q, qd = variant.input("q"), variant.input("qd")
    zeros, columns = variant.zeros(), []
    own = {k for _, group in link.stiffness for k in group}
    for value, group in link.stiffness:
        forces = list(zeros)
        for i in group:
            for j in group:
                forces[i] = forces[i] + variant.elasticity.K[i][j] * q[j]
        link.elastic.add_forces(forces, link.elastic.elastic_forces(link.elastic.own(q)))
        columns.append([force / value for force in variant.free(forces)])
    if link.damped:
        rates = [rate if k in own else zero for k, (rate, zero) in enumerate(zip(qd, zeros, strict=True))]
        others = variant.elasticity.other_dampers(zeros, rates)
        forces = [x + y for x, y in zip(others, variant.elasticity.internal_friction(rates), strict=True)]
        link.elastic.add_forces(forces, link.elastic.damping_forces(link.elastic.own(q), link.elastic.own(qd)))
        columns.append(variant.free(forces))
    return columns


# ---- all together


def parameters_of(variant: Variant) -> list[Value]:
    """The robot's own values of the parameters, live ones included."""
    values: list[Value] = []
    for index, link in carriers(variant.mechanism):
        values += _parameters_of_body(link, variant.mechanism.frames[index].inertia)
    for flexible in flexible_links(variant):
        values += [flexible.mass, *(value for value, _ in flexible.stiffness)]
        values += [variant.graph.value(1)] if flexible.damped else []
    for k in _deflections(variant):
        values += [value for value in (variant.elasticity.K[k][k], variant.elasticity.D[k][k]) if not value.is_zero]
    for k, drive in enumerate(variant.drives):
        values += [value for value, _ in _drive_columns(drive, variant.input("qd")[k], variant.input("qdd")[k])]
    return values


def _deflections(variant: Variant) -> list[int]:
    """Coordinates of flexible joints."""
    names = variant.robot.velocity_names
    return [names.index(f"{joint.name}.deflection") for joint in variant.robot.joints if joint.elasticity is not None]


def regressor(variant: Variant) -> Mat:
    """Y(q, qd, qdd) with one row per coordinate: F = Y times the parameters."""
    graph, carried, flexible = variant.graph, carriers(variant.mechanism), flexible_links(variant)
    unknowns = [graph.input(f"inertial[{k}]") for k in range(PER_BODY * len(carried))]
    factors = [graph.input(f"mass_factor[{k}]") for k in range(len(flexible))]
    frames = [replace(frame, inertia=Inertia.zero(graph)) for frame in variant.mechanism.frames]
    for k, (index, link) in enumerate(carried):
        inertia = _inertia_of_parameters(link, unknowns[PER_BODY * k : PER_BODY * (k + 1)])
        frames[index] = replace(frames[index], inertia=inertia)
    for factor, body in zip(factors, flexible, strict=True):
        frames[body.index] = replace(frames[body.index], elastic=body.elastic.with_mass_factor(factor))
    linear = replace(variant, mechanism=replace(variant.mechanism, frames=tuple(frames)))
    q, qd, qdd = variant.input("q"), variant.input("qd"), variant.input("qdd")
    forces = linear.forces(q, qd, qdd, variant.mechanism.gravity)
    columns = [list(column) for column in zip(*jacobian(graph, forces, [*unknowns, *factors]), strict=True)]
    by_mass = columns[len(unknowns) :]
    columns = columns[: len(unknowns)]
    for mass_column, body in zip(by_mass, flexible, strict=True):
        columns += [[force / body.mass for force in mass_column], *_flexible_columns(variant, body)]
    for k in _deflections(variant):
        columns += [_single(variant, k, q[k])] if not variant.elasticity.K[k][k].is_zero else []
        columns += [_single(variant, k, qd[k])] if not variant.elasticity.D[k][k].is_zero else []
    for k, drive in enumerate(variant.drives):
        columns += [_single(variant, k, column) for _, column in _drive_columns(drive, qd[k], qdd[k])]
    if variant.robot.loops:  # each column is a force on the tree, and the drives' share of it
        closing = Closing(variant)
        columns = [closing.drive_forces(column)[0] for column in columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _drive_columns(drive: Drive, rate: Value, acceleration: Value) -> list[tuple[Value, Value]]:
    """The parameters of a drive, each with its factor in the drive's row."""
    graph = rate.graph
    columns: tuple[tuple[Value, Callable[[], Value]], ...] = (
        (drive.inertia, lambda: acceleration),
        (drive.viscous, lambda: rate),
        (drive.coulomb, lambda: drive.sign(rate)),
        (drive.offset, lambda: graph.value(1)),
        (drive.stribeck, lambda: drive.sign(rate) * drive.stribeck_share(rate)),
        (drive.viscous_asymmetry, lambda: drive.sign(rate) * rate),
        (drive.coulomb_asymmetry, lambda: drive.sign(rate) * drive.sign(rate)),
    )
    return [(value, column()) for value, column in columns if not value.is_zero]


def _single(variant: Variant, row: int, value: Value) -> list[Value]:
    return [value if k == row else variant.graph.value(0) for k in range(variant.size)]


@dataclass(frozen=True)
class BaseSet:
    """Columns of the regressor that are independent, and each base parameter as a combination of all parameters."""

    columns: tuple[int, ...]
    combination: Array  # (base parameters, parameters)


def base_set(variant: Variant, Y: Mat, nominal: dict[str, float]) -> BaseSet:
    """Find the base parameters from the regressor at random states (Gautier 1991).

    If the regressor depends on live lengths or angles, combinations would change with them: then only zero columns are dropped.
    """
    graph, n = variant.graph, variant.size
    refs = [value.ref for row in Y for value in row]
    width = len(Y[0])
    inputs = [input_argument(name, variant.positions, n) for name in ("q", "qd", "qdd")]
    sliding = selectors(variant.robot)
    indicators = [Argument(INDICATORS, (len(indicated(sliding)),), "", "")] if indicated(sliding) else []
    program = Program(graph, [*inputs, *indicators], [(Argument("Y", (n, width), "", ""), refs)])
    rng = np.random.default_rng(20020523)
    states = {argument.name: rng.uniform(-2.0, 2.0, (3 * width // n + 10, argument.size)) for argument in inputs}
    for start in variant.robot.quaternions:
        turn = states["q"][:, start : start + 4]
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    for selector in sliding:  # places on the beams
        places = states["q"][:, selector.coordinate]
        places[:] = selector.upper * rng.uniform(0.05, 0.95, len(places))
    _bend_little(variant, states["q"])
    if variant.robot.loops:
        motions = variant.analysis.samples
        states = {name: np.array([motion[k] for motion in motions]) for k, name in enumerate(("q", "qd", "qdd"))}
    if indicators:
        states[INDICATORS] = np.array([indicators_at(sliding, q) for q in states["q"]])
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


def _bend_little(variant: Variant, q: Array) -> None:
    """Shrink deflections that leave the range of a tip's series: columns grow without bound there and hide others."""
    for slopes in link_slopes(variant.robot):
        if slopes.by_series:
            tip = [index for index, _ in slopes.places[0]]
            turns = q[:, tip] @ np.array([vector for _, vector in slopes.places[0]])
            q[:, tip] *= min(1.0, EXACT_SERIES / float(np.linalg.norm(turns, axis=1).max()))


def _gravity_labels(graph: Graph, variant: Variant) -> set[str]:
    """Live parameters that may take any value without changing what can be identified."""
    found = set()
    scales = [scale for drive in variant.drives for scale in (drive.coulomb_velocity, drive.stribeck_velocity)]
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
