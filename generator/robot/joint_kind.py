"""The interface of a kind of joint, with the same sections for every kind.

Kinds are in ``generator/joints``, one file each; a robot's data carry the kind and import none of it. No algorithm knows which
kinds there are. How to add one: docs/own/adding-joints.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from elastogen.generator.joints.frame_motion import MotionPlan
    from elastogen.generator.joints.on_beams.selector import Selector
    from elastogen.generator.robot.location import Location
    from elastogen.generator.robot.placement import JointPlacement
    from elastogen.generator.robot.robot import Joint, Matrix, Parameter, Robot, Scalar, Vector

COMMON_KEYS = ("axis", "placement", "limits", "motor", "friction", "elasticity")
"""Keys of a robot file that most kinds take; name, type, parent and child belong to every joint."""


@dataclass(frozen=True)
class Key:
    """A key in a robot file that only this kind has; its value is in ``Joint.details``.

    The kind itself reads ``written`` keys, in ``described``; they are not in there, and ``schema`` describes them.
    """

    name: str
    doc: str
    shape: Literal["scalar", "direction", "written"] = "scalar"  # a direction is made a unit vector
    unit: str = ""
    default: Scalar | Vector | tuple[()] | None = None  # None: it must be given
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class JointCoordinate:
    """A coordinate of a joint, named after the joint, with a dot and the suffix if there is one."""

    unit: str
    suffix: str = ""

    def name(self, joint: str) -> str:
        """The coordinate's name in a robot."""
        return f"{joint}.{self.suffix}" if self.suffix else joint


@dataclass(frozen=True)
class Screw:
    """A motion by one coordinate q: a rotation by q about ``axis`` if it ``turns``, and a shift ``advance`` q along it."""

    axis: Vector  # unit vector in the joint frame
    turns: bool
    advance: Scalar  # [m/rad], or 1 for a displacement without rotation


class JointKind(ABC):
    """A kind of joint. Kinds have no state: the numbers of a joint are in :class:`Joint`.

    Only a user's own formula makes a kind of its own (``described``).
    """

    # ---- 1. in a robot file

    name: ClassVar[str]
    """What ``type:`` says."""
    keys: ClassVar[tuple[Key, ...]] = ()
    """Keys of its own."""
    takes: ClassVar[tuple[str, ...]] = COMMON_KEYS
    """Which further keys it takes, of COMMON_KEYS, ``gamma`` and ``slide``."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Which of them must be given."""
    translates: ClassVar[bool] = False
    """Whether any line parallel to the axis will do as the axis."""

    def placed(self, place: JointPlacement, turn: Matrix | None, child_length: Callable[[], Scalar]) -> JointPlacement:
        """The joint's place from ``placement:`` and ``axis:``, the rotation by ``gamma`` and the length of the child beam."""
        return place

    def described(self, given: Mapping[str, Any], parameters: Mapping[str, Parameter], where: Location) -> JointKind:
        """The kind of a joint whose file has these values of written keys."""
        return self

    @property
    def numbers(self) -> tuple[Key, ...]:
        """The keys whose values are in ``Joint.details``."""
        return tuple(key for key in self.keys if key.shape != "written")

    # ---- 2. coordinates and units

    @property
    @abstractmethod
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The coordinates, in their order in q; none for a joint that does not move."""

    @property
    def velocities(self) -> Sequence[JointCoordinate]:
        """Its entries in velocities, accelerations and forces: the coordinates, unless it has quasi-velocities."""
        return self.coordinates

    @property
    def neutral(self) -> Sequence[float]:
        """The coordinates at rest, where the joint has not moved."""
        return (0.0,) * len(self.coordinates)

    @property
    def moves(self) -> bool:
        """Whether the joint has a coordinate."""
        return bool(self.coordinates)

    @property
    def holds(self) -> bool:
        """Whether the child is fixed to the parent; a coupled joint moves without a coordinate of its own."""
        return not self.moves

    @property
    def rotating(self) -> tuple[int, ...]:
        """Which of the velocities rotate the child."""
        return tuple(k for k, velocity in enumerate(self.velocities) if velocity.unit == "rad")

    # ---- 3. motion

    rides_parent: ClassVar[bool] = False
    """Whether the joint moves along the parent, a beam; else it sits on the parent's end."""

    feeds_child: ClassVar[bool] = False
    """Whether the child, a beam, slides through the joint."""

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """The motion as successive screws, each by one coordinate; empty if it is not of this form."""
        return ()

    def factors(self, joint: Joint) -> tuple[Screw, ...]:
        """The motion as successive screws; if they are not one per coordinate, by FrameMotion.arguments."""
        return self.screws(joint)

    def pose(self, joint: Joint, values: Sequence[Scalar]) -> Matrix | None:
        """The moving frame in the joint frame at values of the coordinates, by the screws; None if there are none."""
        from elastogen.generator.robot.placement import by_screws

        screws = self.screws(joint)
        return by_screws(screws, values) if len(screws) == len(self.coordinates) else None

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """How to build the motion from the joint to the child in a graph, frame by frame."""
        raise TypeError(f"{self.name} joints have no motion of their own")

    # ---- 4. limits

    bounded: ClassVar[bool] = True
    """Whether limits of the position make sense."""

    # ---- 5. drives

    driven: ClassVar[bool] = True
    """Whether forces act on it where the file does not say ``driven:``."""

    # ---- 6. the rigid limit

    def rigid_limit(self, joint: Joint, on_end: Matrix) -> Joint:
        """The joint of the robot without deformation; ``on_end`` is its ``before`` on the undeformed end of the parent."""
        return replace(joint, before=on_end, elasticity=None)

    # ---- 7. closed form: by its screws; the others' are read from programs

    @property
    def for_reading(self) -> JointKind:
        """The same motion without terms that only make numbers accurate."""
        return self

    # ---- 8. checks, and which element of a beam is inside

    def check(self, robot: Robot, joint: Joint, where: Location) -> None:
        """Refuse what this kind cannot be; numbers, axes and placements are checked for all kinds."""
        beam = robot.link(joint.child).flexible
        if beam is not None and beam.telescope is not None:
            raise where.at("type").error(
                self.name, "a telescopic joint with a link of elements on it", "load both from one description"
            )

    def selector(self, robot: Robot, joint: Joint) -> Selector | None:
        """The selector of the element of a beam inside the joint, if any."""
        return None

    def beam_line(self, robot: Robot, joint: Joint) -> str:
        """How the joint moves along or with a beam, in words; empty where it does not."""
        return ""

    # ---- kinds are compared as what they are

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"<{self.name} joint>"
