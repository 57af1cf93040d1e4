"""The loops of a robot in its mechanism: of each the two chains that it joins, from the frame that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from elastogen.generator.beams.sections import interface_at
from elastogen.generator.mechanism.mechanism import Frame, LinkFrame, Mechanism
from elastogen.generator.mechanism.steps import steps
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import TIP, Interface
from elastogen.generator.robot.loops.loop import WORLD, ClosedLoop, LoopEnd
from elastogen.generator.robot.placement import inverse, product, transform
from elastogen.generator.robot.robot import Joint, Link, Matrix, Robot


@dataclass(frozen=True)
class LoopChains:
    """A loop between frames: the mechanism of its two chains, at rest where they part, and the frames a and b in it.

    The axes are those of the joint that chain a begins with: across a planar loop, z, nothing moves.
    """

    loop: ClosedLoop
    chains: Mechanism
    a: LinkFrame
    b: LinkFrame
    carriers: tuple[LinkFrame, LinkFrame]  # a and b in the whole mechanism


def place_of(robot: Robot, loop: ClosedLoop, side: str) -> str:
    """The interface of a flexible link that carries an end: its tip, or a place of the loop's own along the beam."""
    end: LoopEnd = getattr(loop, side)
    body = None if end.x is None else robot.link(end.link).flexible
    return TIP if body is None or end.x == body.tip_pose[0][3] else f"{loop.name}.{side}"


def places_on(robot: Robot, link: Link) -> list[Interface]:
    """Places of loops along a beam, as interfaces of it."""
    found = []
    for loop in robot.loops:
        for side, end in (("a", loop.a), ("b", loop.b)):
            name = place_of(robot, loop, side)
            if end.link == link.name and name != TIP:
                assert link.flexible is not None  # validated
                assert link.flexible.beam is not None
                assert end.x is not None
                found.append(interface_at(link.flexible.beam, name, end.x, robot.parameters))
    return found


def seat_of(
    robot: Robot, lower: Lowering, ends: Mapping[tuple[str, str], tuple[int, Matrix]], loop: ClosedLoop, side: str
) -> tuple[int, Matrix]:
    """The frame that carries an end of a loop, and the end's pose in it."""
    end: LoopEnd = getattr(loop, side)
    link = robot.links[0].name if end.link == WORLD else end.link
    frame, pose = ends[link, place_of(robot, loop, side)]
    return frame, product(pose, lower.matrix(end.pose))


class Draft(Protocol):
    """What is known of a frame while the mechanism is being built."""

    @property
    def parent(self) -> int:
        """Index of the parent, -1 for the base."""

    @property
    def placement(self) -> Matrix:
        """From the parent to the joint."""


class LoopPlacement:
    """Where everything is, in one frame assignment: frames, drafts of them, ends of links and seats of joints."""

    def __init__(
        self,
        robot: Robot,
        lower: Lowering,
        mechanism: Mechanism,
        drafts: Sequence[Draft],
        links: Mapping[str, tuple[int, Matrix]],
        ends: Mapping[tuple[str, str], tuple[int, Matrix]],
        seats: Mapping[str, tuple[int, Matrix]],
        aligned: Callable[[Joint], Matrix],
        placed: Callable[[int, Matrix], Frame],
    ) -> None:
        self.robot, self.lower, self.mechanism, self.drafts = robot, lower, mechanism, drafts
        self.links, self.ends, self.seats, self.aligned, self.placed = links, ends, seats, aligned, placed

    def chains(self) -> tuple[LoopChains, ...]:
        """Of all loops between frames."""
        return tuple(self._chains(loop) for loop in self.robot.loops if loop.kind.between_frames)

    def _chains(self, loop: ClosedLoop) -> LoopChains:
        a, b = (seat_of(self.robot, self.lower, self.ends, loop, side) for side in ("a", "b"))
        ways = [list(reversed(self.mechanism.ancestors(frame))) for frame, _ in (a, b)]
        shared = 0
        while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
            shared += 1
        common = ways[0][shared - 1] if shared else -1
        back = inverse(self._axes(loop, common))
        numbers, frames = {common: -1}, list[Frame]()
        for way in ways:
            for index in way[shared:]:
                if index not in numbers:
                    draft = self.drafts[index]
                    frame = self.mechanism.frames[index]
                    if draft.parent == common:
                        frame = self.placed(index, product(back, draft.placement))
                    numbers[index] = len(frames)
                    frames.append(replace(frame, parent=numbers[draft.parent], elastic=None))
        found, carriers = [], []
        for end, (index, pose) in ((loop.a, a), (loop.b, b)):
            carriers.append(LinkFrame(end.link, index, *steps(self.lower, pose)))
            pose = product(back, pose) if index == common else pose
            found.append(LinkFrame(f"{loop.name}: {end.link}", numbers[index], *steps(self.lower, pose)))
        chains = replace(self.mechanism, frames=tuple(frames), link_frames=tuple(found), loops=())
        return LoopChains(loop, chains, found[0], found[1], (carriers[0], carriers[1]))

    def _axes(self, loop: ClosedLoop, common: int) -> Matrix:
        """Axes of the loop's rows in the common frame: those of the first joint on the way, whatever the frame assignment."""
        root = self.robot.links[0].name
        by_child = {joint.child: joint for joint in self.robot.joints}
        ways: list[list[str]] = []
        for end in (loop.a, loop.b):
            way = [root if end.link == WORLD else end.link]
            while way[-1] in by_child:
                way.append(by_child[way[-1]].parent)
            ways.append(way[::-1])
        for way, other in (ways, ways[::-1]):
            for link in way:
                joint = by_child.get(link)
                if link not in other and joint is not None and not joint.type.holds:
                    frame, pose = self.seats[joint.name]
                    if frame == common:
                        return _turn(product(pose, self.aligned(joint)))
                    break
        return _turn(self.links[ways[0][0]][1]) if common < 0 else _identity()


def _turn(pose: Matrix) -> Matrix:
    return transform(tuple(row[:3] for row in pose[:3]), (0, 0, 0))


def _identity() -> Matrix:
    return transform(((1, 0, 0), (0, 1, 0), (0, 0, 1)), (0, 0, 0))
