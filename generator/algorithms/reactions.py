"""Forces inside a robot: those that its joints transmit, and those that each link's motion needs (000 (86)-(95)).

They are free-body values, whatever the forces on the elastic coordinates: the force on everything outside of a frame is the
rate of its momentum, less its weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from elastogen.generator.algorithms import affine
from elastogen.generator.algorithms.newton_euler import MotionState, Placed, body_wrenches, carry_inward, outward
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial import dense_matrices as dense
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, product, sub, times


@dataclass(frozen=True)
class Wrench:
    """A force and a moment, about some point and in some components."""

    force: Vec
    moment: Vec

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(add(self.force, other.force), add(self.moment, other.moment))

    def about(self, place: Vec) -> Wrench:
        """Return the wrench about another point, given relative to the present one."""
        return Wrench(self.force, sub(self.moment, cross(place, self.force)))

    def __neg__(self) -> Wrench:
        return Wrench([-x for x in self.force], [-x for x in self.moment])

    def where(self, negative: Value) -> Wrench:
        """Return the wrench if a value is negative, else zero."""
        graph = negative.graph
        force, moment = ([graph.choose(negative, x, 0) for x in part] for part in (self.force, self.moment))
        return Wrench(force, moment)

    @property
    def values(self) -> list[Value]:
        """Return the six values, force first."""
        return [*self.force, *self.moment]


@dataclass(frozen=True)
class State:
    """MotionState of a robot as the recursions take it; gravity may be left out."""

    placed: Sequence[Placed]
    q: Sequence[Value]
    qd: Sequence[Value]
    qdd: Sequence[Value]
    gravity: Vec
    moment: str  # which form: see newton_euler.py

    def motions(self, mechanism: Mechanism) -> list[MotionState]:
        """Return velocities and accelerations of all frames."""
        return outward(mechanism, self.placed, self.q, self.qd, self.qdd, [-g for g in self.gravity])


def own_wrenches(mechanism: Mechanism, state: State, ahead: dict[int, Vec] | None = None) -> list[Wrench]:
    """Return what the bodies of each frame need, about its origin, in its components; ``ahead`` as for body_wrenches."""
    motions = state.motions(mechanism)
    found = body_wrenches(mechanism, motions, state.q, state.qd, state.qdd, state.moment, ahead=ahead)
    return [Wrench(*wrench) for wrench in found]


def all_transmitted(mechanism: Mechanism, state: State) -> list[Wrench]:
    """Return the wrench that all bodies outward of each frame need, about its origin and in its components."""
    ahead: dict[int, Vec] = {}
    own = own_wrenches(mechanism, state, ahead)
    return transmitted(mechanism, state, own, ahead)


def transmitted(
    mechanism: Mechanism, state: State, own: Sequence[Wrench], ahead: Mapping[int, Vec] = MappingProxyType({})
) -> list[Wrench]:
    """Return the same from the wrenches that the bodies of each frame need."""
    found = [*own]

    def keep(index: int, force: Vec, moment: Vec) -> None:
        found[index] = Wrench(force, moment)

    carry_inward(mechanism, state.placed, [(w.force, w.moment) for w in own], keep, ahead)
    return found


def on_link(link: LinkFrame, wrench: Wrench) -> Wrench:
    """Convert a wrench of a frame to the origin and the components of a link's frame in it."""
    moved = wrench.about(link.position)
    return Wrench(link.rotation.inward(moved.force), link.rotation.inward(moved.moment))


def owners(mechanism: Mechanism, links: Sequence[LinkFrame]) -> list[int]:
    """Return for each frame the number of its link, the nearest one inward; -1 if there is none."""
    home = {link.frame: number for number, link in enumerate(links)}
    return [next((home[k] for k in mechanism.ancestors(index) if k in home), -1) for index in range(len(mechanism.frames))]


def gathered(mechanism: Mechanism, state: State, own: Sequence[Wrench], links: Sequence[LinkFrame]) -> list[Wrench]:
    """Return for each link the sum of the wrenches of its frames, about the origin of its link frame."""
    zero = mechanism.graph.value(0)
    nothing = Wrench([zero] * 3, [zero] * 3)
    belongs, found = owners(mechanism, links), []
    for number, link in enumerate(links):
        inside = [w if belongs[k] == number else nothing for k, w in enumerate(own)]
        found.append(on_link(link, transmitted(mechanism, state, inside)[link.frame]))
    return found


# ---- where linear tips shear the frames: everything in base components


def sheared_wrenches(mechanism: Mechanism, motion: Sequence[Sequence[Value]], gravity: Vec) -> list[Mat]:
    """Return W = int (acceleration - g) (r; 1)^T dm of each frame's own bodies, 3 x 4: r in the frame, the rest in the base."""
    found = []
    for body in affine.bodies(mechanism, motion, 2):
        X = [[*row[:3], row[3] - g] for row, g in zip(body.T[2][:3], gravity, strict=True)]
        W = product(X, body.J)
        if body.deformed is not None:
            W = dense.added(W, body.deformed.inertia_forces(motion, body.axes(2), X)[0])
        found.append(W)
    return found


def sheared_sum(mechanism: Mechanism, q: Sequence[Value], own: Sequence[Mat]) -> list[Mat]:
    """Return W of everything outward of each frame, in the frame's own coordinates."""
    total = [*own]
    local = affine.local_transforms(mechanism, q)
    for index in reversed(range(len(total))):
        parent = mechanism.frames[index].parent
        if parent >= 0:
            total[parent] = dense.added(total[parent], product(total[index], dense.transposed(local[index])))
    return total


def sheared_wrench(mechanism: Mechanism, W: Mat, R: Mat) -> Wrench:
    """Return force and moment about the frame's origin in base components: int (R r) x f dm."""
    force = [row[3] for row in W]
    levers = product(R, dense.transposed([row[:3] for row in W]))  # int (R r) f^T dm
    moment = [levers[1][2] - levers[2][1], levers[2][0] - levers[0][2], levers[0][1] - levers[1][0]]
    return Wrench(force, moment)


def in_components(R: Mat, wrench: Wrench) -> Wrench:
    """Return R^T f and R^T n."""
    columns = [list(column) for column in zip(*R, strict=True)]
    return Wrench(times(columns, wrench.force), times(columns, wrench.moment))
