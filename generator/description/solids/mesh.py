"""A flexible body by a mesh: ``type: mesh``. Its standard data need the robot around it, see mesh_links.py."""

from __future__ import annotations

from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.description.solids.mesh_file import MeshSection
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody


class MeshKind(FlexibleKind[MeshSection]):
    """A solid of finite elements, reduced with what it carries."""

    # ---- 1. in a robot file

    name = "mesh"
    section = MeshSection

    # ---- 2. coordinates and units, 3. standard data

    needs_robot = True

    def body(self, link: DescribedLink[MeshSection]) -> FlexibleBody:
        """Not from the link alone: what it carries shapes its modes."""
        raise TypeError("bodies of type mesh are made when the robot around them is known")
