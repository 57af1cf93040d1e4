"""Poses and bodies of a robot's description along any motion, transformation after transformation.

Nothing is rotated, shifted, regrouped or rounded. Every point of a body is at P rho with constant rho: P is a pose, and for a
flexible body also that pose times the amplitude of every shape (r + sum c_n b_n, robot.FlexibleBody). So the kinetic energy is
1/2 Tr(P' G P'^T) with the description's numbers G = int rho rho^T dm; see quantities.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from elastogen.generator.joints.coupled import leader
from elastogen.generator.joints.frame_motion import FrameMotion
from elastogen.generator.joints.quaternions import FreeMotion
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.interpret import interpret
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.numbers.jets import Jet, arithmetic
from elastogen.generator.reference.evaluated import BodySeries, Evaluated
from elastogen.generator.reference.local_poses import combined, planar, product, screwed, tip_pose
from elastogen.generator.reference.matrix_series import MatrixSeries, beside
from elastogen.generator.reference.moving_points import MovingPoints
from elastogen.generator.reference.places import places_of
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface
from elastogen.generator.robot.joint_kind import Screw
from elastogen.generator.robot.moments import pseudo_inertia
from elastogen.generator.robot.robot import Body, Joint, Robot, Scalar
from elastogen.generator.sliding.clamped_bodies import clamped_bodies
from elastogen.generator.sliding.contact import fixed_line, moving_line
from elastogen.generator.sliding.elements_inside import Indicators
from elastogen.generator.spatial.vectors import Rotation

Array = npt.NDArray[np.float64]


class Description:
    """A robot with numbers for all parameters, and an element inside each sliding joint."""

    def __init__(self, robot: Robot, parameters: Mapping[str, float], elements: Mapping[str, int]) -> None:
        values = {n: replace(p, live=False, value=parameters.get(n, p.value)) for n, p in robot.parameters.items()}
        self.original, self.elements = robot, elements
        self.robot = replace(robot, parameters=values)
        self.graph = Graph()
        self.inside = Indicators(self.graph, self.robot, elements)
        self.lower = Lowering(self.graph, self.robot, self.inside.symbols)
        self.beams = clamped_bodies(self.robot)
        self.places = places_of(self.robot)
        self.nq, self.nv = len(self.robot.coordinates), len(self.robot.velocities)
        self.clamped = [k for k, value in self.inside.clamped(self.robot).items() if value.constant == 1.0]
        self.gravity = self.array(self.robot.gravity)
        self._data: dict[str, Any] = {}
        self._free: dict[str, tuple[FrameMotion, list[Value]]] = {}

    # ---- numbers

    def array(self, scalars: Any) -> Array:
        """Scalars of the robot as numbers."""
        try:
            return np.array(scalars, dtype=float)
        except TypeError:
            found: Array = np.vectorize(self.number, otypes=[float])(np.array(scalars, dtype=object))
            return found

    def number(self, scalar: Scalar) -> float:
        """A scalar of the robot as a number."""
        if isinstance(scalar, (int, float)):
            return float(scalar)
        found = self.lower.value(scalar).constant
        assert found is not None  # all parameters and elements are given
        return found

    def once(self, key: str, make: Any) -> Any:
        """The result of ``make``, called once."""
        if key not in self._data:
            self._data[key] = make()
        return self._data[key]

    # ---- motion

    def series(self, motion: Sequence[Array], direction: Sequence[Array] = (), *, field: bool = False) -> list[Jet]:
        """The coordinates as series: q, velocities, accelerations, ... and a direction of each, both by velocities.

        Arrays are (..., nq) and (..., nv); a quaternion follows its quasi-velocities. With ``field`` the direction of the
        position is that velocity all along the motion, else it is one of its start, and the velocities stay what they are.
        """
        width = len(motion)
        shape = np.broadcast_shapes(*(np.shape(a)[:-1] for a in (*motion, *direction)))
        v = self._velocities(motion, direction, shape)
        found: list[Jet | None] = [None] * self.nq
        for joint, place in zip(self.robot.joints, self.places, strict=True):
            pairs = [*zip(*place.elastic, strict=True), *([place.deflection] if place.deflection else [])]
            if len(place.q) == len(place.v):
                pairs += zip(place.q, place.v, strict=True)
            else:
                start = [np.broadcast_to(motion[0][..., k], shape) for k in place.q]
                aim = [v[k].data[..., 1, 0] for k in place.v]  # direction of the position, by velocities
                free = self._free_series(joint, start, aim, [v[k] for k in place.v], width, field)
                for k, jet in zip(place.q, free, strict=True):
                    found[k] = jet
            for k, at in pairs:
                data = np.zeros((*shape, 2, width))
                data[..., 0, 0], data[..., 1, 0] = motion[0][..., k], v[at].data[..., 1, 0]
                for power in range(1, width):
                    data[..., power] = v[at].data[..., power] / power
                found[k] = Jet(data)
        for k in self.clamped:
            found[k] = Jet(np.zeros((*shape, 2, width)))
        return [jet for jet in found if jet is not None]

    def _velocities(self, motion: Sequence[Array], direction: Sequence[Array], shape: tuple[int, ...]) -> list[Jet]:
        """Velocities: at power p >= 1 of ``data`` is their coefficient of t^(p-1), at 0 the direction of the position."""
        found = []
        for k in range(self.nv):
            data, factorial = np.zeros((*shape, 2, len(motion))), 1.0
            for power, given in enumerate(motion[1:], 1):
                data[..., 0, power] = given[..., k] / factorial
                factorial *= power
            factorial = 1.0
            for power, given in enumerate(direction):
                data[..., 1, power] = given[..., k] / factorial
                factorial *= max(power, 1)
            found.append(Jet(data))
        return found

    def _free_series(
        self, joint: Joint, start: list[Array], aim: list[Array], v: list[Jet], width: int, field: bool
    ) -> list[Jet]:
        """Position and quaternion along quasi-velocities: dq/dt = rates(q, v), coefficient by coefficient."""
        motion, values = self._free_motion(joint)
        count = len(start)
        rates = self.once(f"rates {joint.name}", lambda: motion.rates(values[:count], values[count:]))
        data = [np.zeros((*x.shape, 2, width)) for x in start]
        for x, own in zip(start, data, strict=True):
            own[..., 0, 0] = x
        aims = [Jet(_at_zero(a, width)) for a in aim]
        for own, slope in zip(data, self._read(rates, values, [*map(Jet, data), *aims], width), strict=True):
            own[..., 1, 0] = slope.data[..., 0, 0]
        shifted = []
        for jet in v:
            moved = np.zeros_like(jet.data)
            moved[..., :-1] = jet.data[..., 1:]
            shifted.append(Jet(moved))
        for power in range(1, width):
            change = self._read(rates, values, [*map(Jet, data), *shifted], width)
            for own, rate in zip(data, change, strict=True):
                own[..., power] = rate.data[..., power - 1] / power
        if field:
            for own, slope in zip(data, self._read(rates, values, [*map(Jet, data), *aims], width), strict=True):
                own[..., 1, :] = slope.data[..., 0, :]
        return [Jet(own) for own in data]

    def _free_motion(self, joint: Joint) -> tuple[FrameMotion, list[Value]]:
        if joint.name not in self._free:
            (plan,) = joint.type.plans(joint)
            motion, _ = plan.build(self.lower, Rotation(()))
            assert plan.axis is None
            count = len(joint.type.coordinates) + (len(joint.type.velocities) if isinstance(motion, FreeMotion) else 0)
            self._free[joint.name] = (motion, [self.graph.input(f"{joint.name}[{k}]") for k in range(count)])
        return self._free[joint.name]

    def _read(self, wanted: Sequence[Value], inputs: Sequence[Value], given: Sequence[Jet], width: int) -> list[Jet]:
        """Values of the scratch graph at series of its inputs."""
        environment = {self.graph.label[x.ref >> 1]: jet for x, jet in zip(inputs, given, strict=True)}
        read = interpret(self.graph, self.graph.cone([value.ref for value in wanted]), environment, arithmetic(width)).read
        return [read(value.ref) for value in wanted]

    # ---- poses and bodies

    def evaluated(self, q: Sequence[Jet], *, bodies: bool = True, carried: bool = False) -> Evaluated:
        """Along a motion; ``carried``: see MovingPoints."""
        robot = self.robot
        links = {robot.links[0].name: MatrixSeries.constant(np.eye(4))}
        ends, found = {(name, TIP): pose for name, pose in links.items()}, []
        seats: dict[str, MatrixSeries] = {}
        for joint, place in zip(robot.joints, self.places, strict=True):
            own = [q[k] for k in place.q]
            if joint.type.rides_parent:
                at = seats[joint.name] = links[joint.parent] @ self._contact(joint, own[0], q)
            else:
                at = ends[joint.parent, joint.interface or TIP] @ self._constant(f"before {joint.name}", joint.before)
                seats[joint.name] = at
                at = at @ self._motion(joint, own, q)
                if place.deflection is not None:
                    at = at @ self._motion(joint, [q[place.deflection[0]]], q)
            links[joint.child] = ends[joint.child, TIP] = at = at @ self._constant(f"after {joint.name}", joint.after)
            beam = self.beams[joint.child]
            if beam is not None:
                x = [q[k] for k in place.elastic[0]]
                amplitudes = [product([x[j] for j in monomial], x[0]) for monomial in beam.monomials]
                for end in beam.interfaces:
                    key = f"{joint.child} {end.name}"
                    if beam.clamp_moves:
                        moved = self._moving_place(self._moving(joint.child, beam), end, own[0], x)
                    else:
                        moved = self._place(key, beam, end, amplitudes, x, q[0].data.shape[-1])
                    ends[joint.child, end.name] = at @ moved @ self._rotated(key, end)
                if bodies and beam.clamp_moves:
                    r, masses, slopes = self._moving(joint.child, beam).points(own[0], x, carried=carried)
                    found.append(BodySeries((at @ r).rows(3), masses, slopes, joint.child, "flexible"))
                elif bodies:
                    found.append(self._flexible(joint.child, beam, at, amplitudes))
        tip = ends[robot.tip, TIP] @ self._constant("tool", robot.tool)
        if bodies:
            for link in robot.links[1:]:
                found += self._rigid(link.name, "rigid", link.body, links[link.name])
                found += self._rigid(link.name, "tip", link.tip_body, ends[link.name, TIP])
            found += self._rigid(robot.tip, "payload", robot.payload, tip)
        return Evaluated(links, tip, found, ends, seats, q)

    def interface(self, evaluated: Evaluated, link: str, end: Interface) -> MatrixSeries:
        """The pose of a further interface of a flexible link along a motion."""
        index = next(k for k, joint in enumerate(self.robot.joints) if joint.child == link)
        place, q, body = self.places[index], evaluated.q, self.beams[link]
        assert body is not None
        x, key = [q[k] for k in place.elastic[0]], f"{link} {end.name}"
        if body.clamp_moves:
            moved = self._moving_place(self._moving(link, body), end, q[place.q[0]], x)
        else:
            amplitudes = [product([x[j] for j in monomial], x[0]) for monomial in body.monomials]
            moved = self._place(key, body, end, amplitudes, x, q[0].data.shape[-1])
        return evaluated.links[link] @ moved @ self._rotated(key, end)

    def _constant(self, key: str, matrix: Any) -> MatrixSeries:
        found: MatrixSeries = self.once(key, lambda: MatrixSeries.constant(self.array(matrix)))
        return found

    def _motion(self, joint: Joint, own: Sequence[Jet], q: Sequence[Jet]) -> MatrixSeries:
        """The moving frame in the joint frame."""
        kind = joint.type
        if joint.coupling is not None:
            names = self.robot.coordinate_names
            inputs = [self.graph.input(f"leader {name}") for name in joint.coupling.leaders]
            known = {leader(name): value for name, value in zip(joint.coupling.leaders, inputs, strict=True)}
            position = joint.coupling.position
            value = self.once(f"position {joint.name}", lambda: self.lower.function(position, known))
            given = [q[names.index(name)] for name in joint.coupling.leaders]
            screws, own = kind.factors(joint), self._read([value], inputs, given, q[0].data.shape[-1])
        else:
            screws = kind.factors(joint) if kind.feeds_child else kind.screws(joint)
        if len(screws) != len(own) or (not screws and kind.moves):
            return self._by_graph(joint, own)
        total = MatrixSeries.constant(np.eye(4))
        for number, (screw, value) in enumerate(zip(screws, own, strict=True)):
            axis, advance = self.once(f"screw {joint.name} {number}", lambda s=screw: self._screw(s))
            total = total @ screwed(axis, screw.turns, advance, value)
        return total

    def _screw(self, screw: Screw) -> tuple[Array, float]:
        return self.array(screw.axis), self.number(screw.advance)

    def _by_graph(self, joint: Joint, own: Sequence[Jet]) -> MatrixSeries:
        """Poses of joints that are not screws: free rotations, formulas."""
        motion, inputs = self._free_motion(joint)
        variables = inputs[: len(own)]

        def entries() -> list[Value]:
            R, p, zero, one = (
                motion.rotation(variables),
                motion.displacement(variables),
                self.graph.value(0),
                self.graph.value(1),
            )
            columns = [R.outward([one if k == axis else zero for k in range(3)]) for axis in range(3)]
            return [row for k in range(3) for row in (*(column[k] for column in columns), p[k])]

        width = own[0].data.shape[-1]
        found = self._read(self.once(f"pose {joint.name}", entries), variables, own, width)
        last = [Jet.constant(float(k == 3), width) for k in range(4)]
        return MatrixSeries.of_entries([found[:4], found[4:8], found[8:], last])

    def _contact(self, joint: Joint, d: Jet, q: Sequence[Jet]) -> MatrixSeries:
        """Place and angle on the beam that a joint slides along."""
        beam = self.beams[joint.parent]
        assert beam is not None  # validated
        index = next(k for k, other in enumerate(self.robot.joints) if other.child == joint.parent)
        place = self.places[index]
        moving = beam.clamp_moves
        inputs = [self.graph.input(f"slide {joint.name} {k}") for k in range(1 + moving + len(place.elastic[0]))]

        def entries() -> list[Value]:
            nodes, nodal, inside = inputs[1 + moving :], joint.slide == "nodal", self.inside.of(joint.name)
            if moving and beam.telescope is not None:
                found = moving_line(self.lower, beam.telescope, inside, nodal)
            else:
                found = fixed_line(self.lower, beam, inside, nodal)
            slots = found.window.gather(nodes) if found.window is not None else []
            line, angle = found.line([*inputs[: 1 + moving], *(nodes[j] for j in found.used), *slots])
            return [line[0], line[1], angle]

        given = [d, *([q[place.q[0]]] if moving else []), *(q[k] for k in place.elastic[0])]
        x, y, angle = self._read(self.once(f"line {joint.name}", entries), inputs, given, d.data.shape[-1])
        return planar(x, y, angle)

    # ---- flexible bodies

    def _moving(self, name: str, body: FlexibleBody) -> MovingPoints:
        beam = body.telescope
        assert beam is not None
        found: MovingPoints = self.once(
            f"moving {name}",
            lambda: MovingPoints(beam, self.number(beam.length), self.number(beam.mass_per_length), self.number(beam.EI)),
        )
        return found

    def moving_beam(self, name: str) -> MovingPoints | None:
        """The beam of a link that slides through its joint, if it is one."""
        body = self.beams[name]
        return None if body is None or not body.clamp_moves else self._moving(name, body)

    def _rotated(self, key: str, place: Interface) -> MatrixSeries:
        """The axes of the undeformed frame of an interface."""

        def made() -> MatrixSeries:
            T = self.array(place.pose)
            T[:3, 3] = 0.0
            return MatrixSeries.constant(T)

        found: MatrixSeries = self.once(f"turned {key}", made)
        return found

    def _moving_place(self, moving: MovingPoints, place: Interface, d: Jet, x: Sequence[Jet]) -> MatrixSeries:
        s = moving.length if place.name == TIP or place.x is None else self.number(place.x)
        along, across, angle = moving.tip(d, x) if place.name == TIP else moving.section(d, x, s)
        return planar(along + Jet.constant(s, d.data.shape[-1]), across, angle)

    def _place(
        self, key: str, body: FlexibleBody, place: Interface, amplitudes: Sequence[Jet], x: Sequence[Jet], width: int
    ) -> MatrixSeries:
        def numbers() -> tuple[Array, Array, Array]:
            shifts, turns = (self.array(each).reshape(-1, 3) for each in (place.displacements, place.rotations))
            return self.array(place.pose)[:3, 3], shifts, turns

        start, shifts, turns = self.once(f"place {key}", numbers)
        p = [Jet.constant(float(start[k]), width) + combined(amplitudes, shifts[:, k], width) for k in range(3)]
        delta = [combined(x, turns[:, k], width) for k in range(3)]
        return tip_pose(p, delta, linear=body.tip == "linear", planar=not turns[:, :2].any())

    def _flexible(self, name: str, body: FlexibleBody, at: MatrixSeries, amplitudes: Sequence[Jet]) -> BodySeries:
        G = self.once(f"G {name}", lambda: self.integrals(body))
        R = MatrixSeries(
            [v[..., :3, :3] for v in at.values], None if at.slopes is None else [s[..., :3, :3] for s in at.slopes]
        )
        return BodySeries(beside([at.rows(3), *(R.times(amplitude) for amplitude in amplitudes)]), G, None, name, "flexible")

    def integrals(self, body: FlexibleBody) -> Array:
        """int rho rho^T dm with rho = (r, 1, b_1, b_2, ...)."""
        n = len(body.monomials)
        G = np.zeros((4 + 3 * n, 4 + 3 * n))
        G[:3, :3], G[:3, 3], G[3, :3] = self.array(body.second_moments), *([self.array(body.first_moments)] * 2)
        G[3, 3] = self.number(body.mass)
        if n:
            G[4:, 3] = G[3, 4:] = self.array(body.field_integrals).reshape(-1)
            G[4:, :3] = self.array(body.field_position_integrals).reshape(-1, 3)
            G[:3, 4:] = G[4:, :3].T
            G[4:, 4:] = self.array(body.field_field_integrals).transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)
        return G

    def _rigid(self, link: str, kind: str, body: Body, at: MatrixSeries) -> list[BodySeries]:
        G = self.once(
            f"J {link} {kind}",
            lambda: pseudo_inertia(self.number(body.mass), self.array(body.com), self.array(body.inertia)),
        )
        fixed = at.values[0].ndim == 2  # to the base: no motion has given it states
        return [BodySeries(at.rows(3), G, None, link, kind)] if G.any() and not fixed else []


def _at_zero(value: Array, width: int) -> Array:
    data = np.zeros((*value.shape, 2, width))
    data[..., 0, 0] = value
    return data
