"""The rows of loops: residuals e(q), their Jacobian J = de/dq along the velocities, and the bias dJ/dt qd.

All is seen from where the two chains of a loop part. With the origins p_a and p_b, d = p_b - p_a, directions u fixed in a or b,
the residuals are d itself, components u_a . d across an axis, (d . d - L^2) / 2L of a distance, and products u_a . u_b of
directions that are perpendicular where the loop is closed. J is their exact derivative, also where loops are open:

    d/dt (u_a . d)   = u_a . (v_b - v_a) + (u_a x d) . omega_a
    d/dt (u_a . u_b) = (u_b x u_a) . (omega_b - omega_a)

A product of directions vanishes as well where they are rotated by pi. :func:`residuals` separates the two: beyond a right angle
it goes on growing, to 2 at pi.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from elastogen.generator.algorithms.kinematics import Pose, link_pose, local_motions, poses
from elastogen.generator.algorithms.newton_euler import place
from elastogen.generator.algorithms.points import jacobian
from elastogen.generator.mechanism.loops import LoopChains
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.graph import Op, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.loops.loop import ClosedLoop
from elastogen.generator.robot.robot import Robot, Vector
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, scale, sub, times

Row = TypeVar("Row")
BAND = 1e-3  # cosine below which directions count as rotated by more than a right angle


@dataclass(frozen=True)
class Rotated:
    """A residual u_a . u_b, as directions in a's axes and b's; ``along`` are the pairs whose mean cosine is 1 where it is 0."""

    u_a: Vector
    u_b: Vector
    sign: int
    along: tuple[tuple[Vector, Vector], ...]


_X, _Y, _Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def rotated_rows(loop: ClosedLoop) -> tuple[Rotated, ...]:
    """The rows of a loop that are about directions."""
    turn = loop.kind.turn
    if turn == "all":
        return (
            Rotated(_Z, _Y, 1, ((_Y, _Y), (_Z, _Z))),
            Rotated(_X, _Z, 1, ((_Z, _Z), (_X, _X))),
            Rotated(_Y, _X, 1, ((_X, _X), (_Y, _Y))),
        )
    if turn == "across":
        first, second = across(loop.axis)
        along = ((loop.axis, loop.axis),)
        return Rotated(second, loop.axis, -1, along), Rotated(first, loop.axis, 1, along)
    if turn == "perpendicular":
        return (Rotated(loop.axis, loop.axis2, 1, ()),)
    return ()


def across(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that are perpendicular to a unit vector and to each other, right-handed."""
    u = [float(component) for component in axis]
    least = min(range(3), key=lambda k: abs(u[k]))
    if sorted(map(abs, u)) == [0.0, 0.0, 1.0]:  # exact where the axis is
        k = max(range(3), key=lambda k: abs(u[k]))
        units: tuple[Vector, ...] = (_X, _Y, _Z)
        first, second = units[(k + 1) % 3], units[(k + 2) % 3]
        return (first, second) if u[k] > 0 else (second, first)
    e = [1.0 if k == least else 0.0 for k in range(3)]
    along = u[least]
    f = [e[k] - along * u[k] for k in range(3)]
    norm = sum(x * x for x in f) ** 0.5
    first = (f[0] / norm, f[1] / norm, f[2] / norm)
    second = (u[1] * first[2] - u[2] * first[1], u[2] * first[0] - u[0] * first[2], u[0] * first[1] - u[1] * first[0])
    return first, second


@dataclass(frozen=True)
class _End:
    """A frame at the end of a chain: pose, Jacobian, velocities, accelerations without qdd; as far as they were asked for."""

    pose: Pose
    J: Mat
    v: Vec
    omega: Vec
    a: Vec
    epsilon: Vec


class LoopRows:
    """The rows of all loops of a robot in one frame assignment."""

    def __init__(self, robot: Robot, mechanism: Mechanism, merge: bool) -> None:
        self.robot, self.mechanism, self.merge = robot, mechanism, merge
        self.graph = mechanism.graph
        self.lower = Lowering(self.graph, robot)
        names = robot.velocity_names
        self.index = {name: k for k, name in enumerate(names)}

    # ---- names

    @property
    def names(self) -> list[str]:
        """What each row is about: pin.x, pin.turn1, ..."""
        return row_names(self.robot)

    # ---- the three functions

    def residuals(self, q: Sequence[Value]) -> list[Value]:
        """e(q), all rows."""
        return self._all(self._residuals, self._gear_residual, q, None)

    def rows(self, q: Sequence[Value], *, of_residuals: bool = False) -> Mat:
        """J, all rows; ``of_residuals`` takes the sign that residuals have beyond a right angle."""
        return self._all(
            lambda loop, a, b: self._rows(loop, a, b, of_residuals),
            lambda loop, q: self._gear_row(loop),
            q,
            None,
            jacobians=True,
        )

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """dJ/dt qd, all rows."""
        zero = self.graph.value(0)
        return self._all(self._bias, lambda loop, q: zero, q, qd)

    def _all(
        self,
        framed: Callable[[ClosedLoop, _End, _End], list[Row]],
        gear: Callable[[ClosedLoop, Sequence[Value]], Row],
        q: Sequence[Value],
        qd: Sequence[Value] | None,
        jacobians: bool = False,
    ) -> list[Row]:
        """What ``framed`` gives for each loop between frames, and ``gear`` for each between coordinates."""
        between = {chains.loop.name: chains for chains in self.mechanism.loops}
        found: list[Row] = []
        for loop in self.robot.loops:
            with self.graph.section(f"loop {loop.name}"):
                if loop.name not in between:
                    found.append(gear(loop, q))
                    continue
                chains = between[loop.name]
                a, b = (self._end(chains, end, q, qd, jacobians) for end in (chains.a, chains.b))
                found += framed(loop, a, b)
        return found

    # ---- ends

    def _end(
        self, chains: LoopChains, link: LinkFrame, q: Sequence[Value], qd: Sequence[Value] | None, jacobians: bool
    ) -> _End:
        zero, chain = self.graph.value(0), chains.chains
        nothing = [zero] * 3
        placed = place(chain, q, merge=self.merge and chain.has_parallel_axes)
        found = poses(chain, placed)
        pose = link_pose(chain, found, link)
        J = jacobian(chain, found, q, link) if jacobians else []
        if qd is None or link.frame < 0:
            return _End(pose, J, nothing, nothing, nothing, nothing)
        velocities, motions = local_motions(chain, placed, q, qd, [zero] * chain.size)
        own, motion, R = velocities[link.frame], motions[link.frame], found[link.frame].R
        v = times(R, add(own.linear, cross(own.angular, link.position)))
        a = times(R, add(motion.a, times(motion.U, link.position)))
        return _End(pose, J, v, times(R, own.angular), a, times(R, motion.epsilon))

    def _direction(self, end: _End, direction: Vector) -> Vec:
        return times(end.pose.R, [self.lower.value(component) for component in direction])

    # ---- rows of one loop

    def _residuals(self, loop: ClosedLoop, a: _End, b: _End) -> list[Value]:
        d = sub(b.pose.p, a.pose.p)
        found: list[Value] = []
        if loop.kind.place == "all":
            found += d
        elif loop.kind.place == "across":
            found += [dot(self._direction(a, u), d) for u in across(loop.axis)]
        elif loop.kind.place == "length":
            length = self.lower.value(loop.length)
            found.append((dot(d, d) - length * length) / (length * 2))
        for row in rotated_rows(loop):
            e = dot(self._direction(a, row.u_a), self._direction(b, row.u_b)) * row.sign
            if row.along:
                magnitude = self.graph.elementary(Op.ABS, e)
                beyond = self.graph.choose(e, magnitude - 2, 2 - magnitude)
                e = self.graph.choose(self._cosine(row, a, b) - BAND, beyond, e)
            found.append(e)
        return found

    def _cosine(self, row: Rotated, a: _End, b: _End) -> Value:
        """Mean cosine of the pairs that are along each other where the loop is closed."""
        total = self.graph.value(0)
        for u_a, u_b in row.along:
            total = total + dot(self._direction(a, u_a), self._direction(b, u_b))
        return total * (1 / len(row.along))

    def _rows(self, loop: ClosedLoop, a: _End, b: _End, of_residuals: bool) -> Mat:
        n = self.mechanism.size
        linear = [sub([b.J[r][k] for r in range(3)], [a.J[r][k] for r in range(3)]) for k in range(n)]
        rotating = [sub([b.J[3 + r][k] for r in range(3)], [a.J[3 + r][k] for r in range(3)]) for k in range(n)]
        rotating_a = [[a.J[3 + r][k] for r in range(3)] for k in range(n)]
        d = sub(b.pose.p, a.pose.p)
        found: Mat = []
        if loop.kind.place == "all":
            found += [[column[r] for column in linear] for r in range(3)]
        elif loop.kind.place == "across":
            for u in across(loop.axis):
                u_a = self._direction(a, u)
                arm = cross(u_a, d)
                found.append([dot(u_a, linear[k]) + dot(arm, rotating_a[k]) for k in range(n)])
        elif loop.kind.place == "length":
            unit = scale(d, 1 / self.lower.value(loop.length))
            found.append([dot(unit, column) for column in linear])
        for row in rotated_rows(loop):
            u_a, u_b = self._direction(a, row.u_a), self._direction(b, row.u_b)
            normal = scale(cross(u_b, u_a), self.graph.value(row.sign))
            values = [dot(normal, column) for column in rotating]
            if of_residuals and row.along:
                decides = self._cosine(row, a, b) - BAND
                values = [self.graph.choose(decides, -value, value) for value in values]
            found.append(values)
        return found

    def _bias(self, loop: ClosedLoop, a: _End, b: _End) -> list[Value]:
        d, v, acceleration = sub(b.pose.p, a.pose.p), sub(b.v, a.v), sub(b.a, a.a)
        found: list[Value] = []
        if loop.kind.place == "all":
            found += acceleration
        elif loop.kind.place == "across":
            for u in across(loop.axis):
                u_a = self._direction(a, u)
                rate = cross(a.omega, u_a)
                second = add(cross(a.epsilon, u_a), cross(a.omega, rate))
                found.append(dot(u_a, acceleration) + dot(rate, v) * 2 + dot(second, d))
        elif loop.kind.place == "length":
            found.append((dot(d, acceleration) + dot(v, v)) / self.lower.value(loop.length))
        spin, spin_rate = sub(b.omega, a.omega), sub(b.epsilon, a.epsilon)
        for row in rotated_rows(loop):
            u_a, u_b = self._direction(a, row.u_a), self._direction(b, row.u_b)
            normal = cross(u_b, u_a)
            rate = add(cross(cross(b.omega, u_b), u_a), cross(u_b, cross(a.omega, u_a)))
            found.append((dot(normal, spin_rate) + dot(rate, spin)) * row.sign)
        return found

    def wrenches(self, q: Sequence[Value], multipliers: Sequence[Value]) -> Mat:
        """Per loop force and moment that b gets from a, about a's origin in a's axes, by the multipliers of all rows."""
        between = {chains.loop.name: chains for chains in self.mechanism.loops}
        found, start, zero = [], 0, self.graph.value(0)
        for loop in self.robot.loops:
            own = list(multipliers[start : start + loop.kind.rows])
            start += loop.kind.rows
            if loop.name not in between:
                found.append([own[0], *([zero] * 5)])
                continue
            with self.graph.section(f"loop {loop.name}"):
                chains = between[loop.name]
                a, b = (self._end(chains, end, q, None, False) for end in (chains.a, chains.b))
                found.append(self._wrench(loop, a, b, own))
        return found

    def loads(self, q: Sequence[Value], multipliers: Sequence[Value]) -> list[tuple[LinkFrame, Vec, Vec]]:
        """Forces and moments of the loops on frames of the whole mechanism, about the origins of a and b, in their axes."""
        between = {chains.loop.name: chains for chains in self.mechanism.loops}
        found, start = [], 0
        for loop in self.robot.loops:
            own = list(multipliers[start : start + loop.kind.rows])
            start += loop.kind.rows
            if loop.name not in between:
                continue
            with self.graph.section(f"loop {loop.name}"):
                chains = between[loop.name]
                a, b = (self._end(chains, end, q, None, False) for end in (chains.a, chains.b))
                wrench = self._wrench(loop, a, b, own)  # on b, about a's origin, in a's axes
                force, moment = times(a.pose.R, wrench[:3]), times(a.pose.R, wrench[3:])
                about_b = sub(moment, cross(sub(b.pose.p, a.pose.p), force))
                for link, end, n, sign in zip(chains.carriers, (a, b), (moment, about_b), (-1, 1), strict=True):
                    if link.frame >= 0:
                        columns = [list(column) for column in zip(*end.pose.R, strict=True)]
                        scaled = self.graph.value(sign)
                        found.append((link, scale(times(columns, force), scaled), scale(times(columns, n), scaled)))
        return found

    def _wrench(self, loop: ClosedLoop, a: _End, b: _End, own: list[Value]) -> list[Value]:
        d, zero = sub(b.pose.p, a.pose.p), self.graph.value(0)
        force, moment = [zero] * 3, [zero] * 3
        if loop.kind.place == "all":
            force, own = own[:3], own[3:]
        elif loop.kind.place == "across":
            for u in across(loop.axis):
                force, own = add(force, scale(self._direction(a, u), own[0])), own[1:]
        elif loop.kind.place == "length":
            force, own = scale(d, own[0] / self.lower.value(loop.length)), own[1:]
        if loop.kind.place in ("across", "length"):  # elsewhere d vanishes
            moment = cross(d, force)
        for row, value in zip(rotated_rows(loop), own, strict=True):
            normal = cross(self._direction(b, row.u_b), self._direction(a, row.u_a))
            moment = add(moment, scale(normal, value * row.sign))
        columns = [list(column) for column in zip(*a.pose.R, strict=True)]
        return [*times(columns, force), *times(columns, moment)]

    # ---- linear rows

    def _gear_residual(self, loop: ClosedLoop, q: Sequence[Value]) -> Value:
        total = -self.lower.value(loop.constant)
        for name, coefficient in loop.coefficients.items():
            total = total + self.lower.value(coefficient) * q[self.index[name]]
        return total

    def _gear_row(self, loop: ClosedLoop) -> list[Value]:
        row = [self.graph.value(0)] * self.mechanism.size
        for name, coefficient in loop.coefficients.items():
            row[self.index[name]] = row[self.index[name]] + self.lower.value(coefficient)
        return row


def row_names(robot: Robot) -> list[str]:
    """What each row of a robot's loops is about: pin.x, pin.turn1, ..."""
    found: list[str] = []
    for loop in robot.loops:
        places = {"all": ("x", "y", "z"), "across": ("across1", "across2"), "length": ("length",)}
        found += [f"{loop.name}.{place}" for place in places.get(loop.kind.place, ())]
        found += [f"{loop.name}.turn{k + 1}" for k in range(len(rotated_rows(loop)))]
        found += [f"{loop.name}.sum"] if not loop.kind.between_frames else []
    return found


def rows_of_loops(robot: Robot) -> list[range]:
    """Per loop, its rows."""
    found, start = [], 0
    for loop in robot.loops:
        found.append(range(start, start + loop.kind.rows))
        start += loop.kind.rows
    return found
