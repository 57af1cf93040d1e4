"""How an interface of a flexible link moves that is not its tip."""

from __future__ import annotations

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Interface
from elastogen.generator.sliding.beam_section import MovingSection
from elastogen.generator.sliding.tip_motion import material_motion
from elastogen.generator.spatial.vectors import Rotation


class InterfacePlan(MotionPlan):
    """A place of a flexible body, by the coordinates that deform the body: it has none of its own."""

    size = 0

    def __init__(self, body: FlexibleBody, place: Interface) -> None:
        self.body, self.place = body, place

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The motion; the undeformed frame is parallel to the link frame."""
        beam = self.body.telescope
        if beam is not None and self.body.clamp_moves:
            assert self.place.x is not None  # only beams slide through joints
            section = MovingSection(lower, beam, self.place.x, 1 + len(self.body.coordinates))
            return section.motion, Rotation(())
        return material_motion(lower, self.body, self.place), Rotation(())
