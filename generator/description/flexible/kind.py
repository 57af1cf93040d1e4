"""The interface of a kind of flexible body, with the same sections for every kind.

Kinds are in this folder, one file each; kinds.py lists them. Every body becomes standard data (``FlexibleBody`` in
generator/robot/bodies/flexible_body.py), and after loading nothing knows which kinds there are. How to add one:
docs/own/adding-joints.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from elastogen.generator.description.file.fields import FrameSection, ScalarField
from elastogen.generator.description.file.flexible_file import FlexibleSection
from elastogen.generator.description.flexible.damping import damped
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Body, Matrix, Parameter

SectionT = TypeVar("SectionT", bound=FlexibleSection)


@dataclass(frozen=True)
class DescribedLink(Generic[SectionT]):
    """A flexible link as a file describes it."""

    section: SectionT
    tip_body: Body
    tip_pose: Matrix  # of the kind's ``tip_frame``
    parameters: Mapping[str, Parameter]
    where: Location
    poses: Mapping[str, Matrix] = field(default_factory=dict)  # of the kind's ``interface_frames``


class FlexibleKind(ABC, Generic[SectionT]):
    """A kind of flexible body. Kinds have no state: the numbers of a body are in its section, then in its standard data."""

    # ---- 1. in a robot file

    name: ClassVar[str]
    """What ``type:`` says."""
    section: type[SectionT]
    """The keys, with their structure, units and documentation; its ``type`` is the kind's name."""

    def length(self, section: SectionT) -> ScalarField | None:
        """The length [m], of a beam."""
        return None

    def tip_frame(self, section: SectionT) -> FrameSection | None:
        """The undeformed tip frame, where the file gives it; a beam's is at its end."""
        return None

    def interface_frames(self, section: SectionT) -> Mapping[str, FrameSection]:
        """Undeformed frames of further interfaces, by name, where the file gives them; those of beams are places along them."""
        return {}

    # ---- 2. coordinates and units, 3. standard data

    needs_robot: ClassVar[bool] = False
    """Whether a body follows from the robot around it, too: then it is made last, see description/solids."""

    @abstractmethod
    def body(self, link: DescribedLink[SectionT]) -> FlexibleBody:
        """The standard data without damping: the coordinates with their units, the integrals, the stiffness, the tip."""

    # ---- 4. reduction and convergence

    def reduced(self, link: DescribedLink[SectionT]) -> FlexibleBody | None:
        """The body with fewer coordinates instead, where the file asks for it; says how far it is from convergence."""
        return None

    # ---- 5. damping

    def damped(self, link: DescribedLink[SectionT], body: FlexibleBody) -> FlexibleBody:
        """The body with its damping, from the key ``damping`` that all kinds have."""
        return damped(link.section.damping, body, link.tip_body, link.parameters, link.where.at("damping"))

    # ---- 6. on a telescopic joint

    slides: ClassVar[bool] = False
    """Whether the body can slide through a telescopic joint."""

    def telescopic_body(self, link: DescribedLink[SectionT], slide: str) -> FlexibleBody:
        """The standard data, checked and with damping, of a body that ``slides``: "smooth" or "nodal"."""
        raise TypeError(f"bodies of type {self.name} do not slide through joints")

    # ---- 7. checks

    def check(self, link: DescribedLink[SectionT]) -> None:
        """Refuse what this kind cannot be, before its data are made; the data are checked for all kinds."""
        return
