"""The ``points:`` block of a robot file: sensors, gauges and other places of interest.

points:
- {name: gauge, link: beam, x: 0.3, strain: {direction: y, offset: 0.002}}
- {name: imu, link: hand, xyz: [0, 0, 0.1], rpy: [0, 0, 1.57]}
- {name: mouth, joint: slide}
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from elastogen.generator.description.file.fields import (
    AnyName,
    FrameSection,
    NameField,
    ScalarField,
    Section,
    exclusive,
    problem,
)


class GaugeSection(Section):
    """A strain gauge along a beam: -offset w''(x), plus u' where the link stretches."""

    direction: Literal["x", "y", "z"] = Field(
        default="y", description="of the deflection w; on a link by a mesh of the strain itself, in the point's axes"
    )
    offset: ScalarField | None = Field(default=None, description="beams: from the neutral line, along the direction [m]")


class PointSection(FrameSection):
    """A frame fixed in the material of a link, or on a joint."""

    name: NameField | None = Field(default=None, description="default: point1, point2, ...")
    link: AnyName | None = Field(default=None, description="the link whose material carries it")
    joint: AnyName | None = Field(default=None, description="instead of link: the joint it is fixed on")
    x: ScalarField | None = Field(default=None, description="instead of xyz: place along the link from its frame's origin [m]")
    nodes: tuple[int, ...] | None = Field(
        default=None, min_length=1, description="links by meshes, instead of xyz: the middle of nodes by the file's numbers"
    )
    strain: GaugeSection | None = Field(default=None, description="makes it a strain gauge: on beams and links by meshes")

    @model_validator(mode="after")
    def _one_place(self) -> PointSection:
        if (self.link is None) == (self.joint is None):
            raise problem("either link or joint", "name the link, or the joint, that carries the point")
        exclusive(self, ("x",), ("xyz", "matrix"))
        exclusive(self, ("nodes",), ("x", "xyz", "matrix"))
        exclusive(self, ("joint",), ("x", "nodes", "strain"))
        return self
