"""The ``flexible: {type: mesh}`` block of a link: a file of its geometry, its material, its interfaces, its coordinates.

flexible:
  type: mesh
  file: link3.step
  scale: 0.001
  material: aluminium
  modes: 8
  interfaces:
    elbow: {cylinder: {point: [0.3, 0, 0], axis: [0, 0, 1], radius: 0.02, length: 0.04}}
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from elastogen.generator.description.file.fields import FrameSection, NameField, ScalarField, Section, VectorField, problem
from elastogen.generator.description.file.flexible_file import FlexibleSection
from elastogen.generator.robot.location import did_you_mean
from elastogen.generator.solids.materials import ALIASES, MATERIALS
from elastogen.generator.solids.reduction import MOST_MODES

FORMS = ("plane", "cylinder", "sphere", "nodes")


class MaterialSection(Section):
    """An isotropic elastic material, or its name alone."""

    name: str | None = Field(default=None, description=f"one of {', '.join(MATERIALS)}")
    E: ScalarField | None = Field(default=None, description="Young's modulus [Pa]")
    nu: ScalarField | None = Field(default=None, description="Poisson's ratio [-]")
    density: ScalarField | None = Field(default=None, description="[kg/m^3]")

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _known(self) -> MaterialSection:
        if self.name is not None and ALIASES.get(self.name, self.name) not in MATERIALS:
            fix = did_you_mean(self.name, MATERIALS, "or give {E, nu, density}")
            raise problem(f"a material: {', '.join(MATERIALS)}", fix)
        missing = [key for key in ("E", "nu", "density") if getattr(self, key) is None]
        if self.name is None and missing:
            raise problem("a name, or E [Pa], nu and density [kg/m^3]", f"add {', '.join(missing)}")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Publish that a bare name is a material, too."""
        return {"anyOf": [{"type": "string", "enum": list(MATERIALS)}, handler.resolve_ref_schema(handler(core_schema))]}


class PlaneSection(Section):
    """All nodes on a plane."""

    point: VectorField = Field(description="[m]")
    normal: VectorField


class CylinderSection(Section):
    """All nodes in a cylinder, half of its length on either side of the point."""

    point: VectorField = Field(description="[m]")
    axis: VectorField
    radius: ScalarField = Field(description="[m]")
    length: ScalarField = Field(description="[m]")


class SphereSection(Section):
    """All nodes in a sphere."""

    point: VectorField = Field(description="[m]")
    radius: ScalarField = Field(description="[m]")


class ClampedSection(Section):
    """The nodes that a joint, or the tip, holds: one of plane, cylinder, sphere, nodes; all in the link frame."""

    plane: PlaneSection | None = None
    cylinder: CylinderSection | None = None
    sphere: SphereSection | None = None
    nodes: tuple[int, ...] | None = Field(default=None, min_length=1, description="numbers in a file of elements, from 1")
    kind: Literal["rigid", "average"] = Field(
        default="rigid", description="rigid: its nodes move as one body (RBE2); average: its frame with their mean (RBE3)"
    )

    @model_validator(mode="after")
    def _one_form(self) -> ClampedSection:
        given = [form for form in FORMS if getattr(self, form) is not None]
        if len(given) > 1:
            raise problem(f"one of {', '.join(FORMS)}", f"remove {given[1]}", at=given[1])
        return self


class MatricesSection(Section):
    """Mass and stiffness of solid elements from another program, three displacements for every node."""

    nodes: str = Field(
        max_length=1000, description="text file: x y z, or number x y z, of one node a line; .inp; .bdf with GRID cards"
    )
    stiffness: str = Field(
        max_length=1000, description="of the free body: .mtx (Matrix Market, Abaqus), .sti (CalculiX), .op4 (Nastran)"
    )
    mass: str = Field(max_length=1000, description="consistent or lumped: .mtx, .mas, .op4")
    freedoms: str | None = Field(default=None, max_length=1000, description="CalculiX: the .dof file of both")
    units: Literal["SI", "mm_t_s"] = Field(description="SI: m, kg, N/m; mm_t_s: mm, t, N/mm")


class StandardInputSection(Section):
    """Standard input data (SID) that another program has reduced the body to."""

    file: str = Field(max_length=1000, description=".SID_FEM beside this file")
    units: Literal["SI", "mm_t_s"] = Field(description="SI: m, kg; mm_t_s: mm, t, N")


class ResultsSection(Section):
    """Modes and static cases that another program computed of tetrahedra."""

    file: str = Field(max_length=1000, description="CalculiX: .frd of *FREQUENCY and *STATIC steps with U and RF")
    units: Literal["SI", "mm_t_s"] = Field(description="SI: m, kg, N; mm_t_s: mm, t, N")


class MeshSection(FlexibleSection):
    """A solid from a file, meshed with tetrahedra and reduced to a few coordinates."""

    type: Literal["mesh"]
    file: str | None = Field(
        default=None,
        max_length=1000,
        description="STL, OBJ, STEP, .msh, .inp beside this file; visual or collision: the link's own mesh in a URDF",
    )
    scale: ScalarField | VectorField = Field(default=1, description="from the file's lengths to metres: 0.001 for millimetres")
    frame: FrameSection = Field(default=FrameSection(), description="of the file's geometry in the link")
    matrices: MatricesSection | None = Field(default=None, description="nodes, K and M: no file and material, or both")
    standard_input: StandardInputSection | None = Field(default=None, description="instead of all of it: a SID file")
    results: ResultsSection | None = Field(default=None, description="instead of file: modes and static cases")
    material: MaterialSection | None = Field(default=None, description="a name, or {E, nu, density}")
    mass: ScalarField | None = Field(
        default=None, description="[kg]: scales the density to it; link: that of the link; mesh: as it comes"
    )
    modes: int | None = Field(default=None, ge=1, le=MOST_MODES, description="number of coordinates")
    frequency: ScalarField | None = Field(default=None, description="instead: all modes below it [Hz]")
    size: ScalarField | None = Field(default=None, description="of elements [m]; default: until frequencies stay within 1 %")
    elements: int | None = Field(default=None, ge=20, le=500_000, description="instead: about so many")
    mesher: Literal["netgen", "gmsh"] = Field(default="netgen", description="gmsh: the program, for STEP files")
    foreshortening: bool = Field(default=False, description="second-order shortening: geometric stiffening")
    interfaces: dict[NameField, ClampedSection] = Field(
        default={}, description="by joint on the link, its own or a child's, or tip; default: bore or face around the axis"
    )

    @model_validator(mode="after")
    def _one_each(self) -> MeshSection:
        if self.standard_input is not None:
            taken = {"type", "standard_input", "frame", "interfaces", "tip", "rotation", "damping"}
            for key in sorted(self.model_fields_set - taken):
                if (key, self.mass) != ("mass", "mesh"):
                    raise problem(f"no {key} beside standard_input, which holds all of it", f"remove {key}", at=key)
            return self
        if (self.modes is None) == (self.frequency is None):
            raise problem("either modes or frequency", "for example modes: 8")
        given = [key for key in ("file", "material", "size", "elements", "mesher") if key in self.model_fields_set]
        if self.matrices is not None:
            if extra := [key for key in given if key not in ("file", "material")]:
                raise problem(f"no {extra[0]} beside matrices, which are of a mesh already", f"remove {extra[0]}", at=extra[0])
            if len(given) == 1:
                expected = "no file and no material beside matrices, or both: the tetrahedra between their nodes, for stresses"
                raise problem(expected, f"remove {given[0]}, or add the other", at=given[0])
            if self.foreshortening and not given:
                expected = "tetrahedra and their material beside matrices: displacements of nodes alone have no strains"
                fix = "add file: job.inp (its ten-node tetrahedra) and material: {E, nu, density}"
                raise problem(expected, fix, at="foreshortening")
        if self.results is not None:
            for key in ("matrices", "file", "scale", "size", "elements", "mesher"):
                if key in self.model_fields_set:
                    raise problem(f"no {key} beside results, which have their own elements", f"remove {key}", at=key)
        if self.matrices is None and self.material is None:
            raise problem("a material", "add material: aluminium, or {E, nu, density}", at="material")
        if self.size is not None and self.elements is not None:
            raise problem("either size or elements", "remove elements", at="elements")
        return self
