"""The registry of the kinds of flexible bodies: one line for each. How to add one: docs/own/adding-joints.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import PlainValidator, WithJsonSchema

from elastogen.generator.description.file.fields import problem
from elastogen.generator.description.file.flexible_file import FlexibleSection
from elastogen.generator.description.flexible.elements import ElementsKind
from elastogen.generator.description.flexible.frame import FrameKind
from elastogen.generator.description.flexible.kind import FlexibleKind
from elastogen.generator.description.flexible.lumped_masses import LumpedMassesKind
from elastogen.generator.description.flexible.modes import ModesKind
from elastogen.generator.description.flexible.standard_data import StandardDataKind
from elastogen.generator.description.solids.mesh import MeshKind
from elastogen.generator.robot.location import did_you_mean

FLEXIBLE_KINDS: dict[str, FlexibleKind[Any]] = {}
"""Every kind that a robot file can name, by its name."""


def register(kind: FlexibleKind[Any]) -> FlexibleKind[Any]:
    """Make a kind known to robot files."""
    if kind.name in FLEXIBLE_KINDS:
        raise ValueError(f"there is a kind of flexible body called {kind.name} already")
    if get_args(kind.section.model_fields["type"].annotation) != (kind.name,):
        raise ValueError(f"the section of {kind.name} must have the key type: Literal[{kind.name!r}]")
    FLEXIBLE_KINDS[kind.name] = kind
    return kind


MODES = register(ModesKind())
ELEMENTS = register(ElementsKind())
STANDARD_DATA = register(StandardDataKind())
LUMPED_MASSES = register(LumpedMassesKind())
MESH = register(MeshKind())
FRAME = register(FrameKind())


def sliding_types() -> str:
    """The kinds that can be on a telescopic joint, in words."""
    return ", ".join(name for name, kind in FLEXIBLE_KINDS.items() if kind.slides)


def _read(value: Any) -> FlexibleSection:
    """The section of the kind that ``type`` names."""
    if isinstance(value, FlexibleSection):
        return value
    given = value.get("type") if isinstance(value, Mapping) else None
    kind = FLEXIBLE_KINDS.get(given) if isinstance(given, str) else None
    if kind is None:
        raise problem(
            f"a mapping with type: {', '.join(FLEXIBLE_KINDS)}",
            did_you_mean(str(given), FLEXIBLE_KINDS, "add `type: modes`, or another"),
        )
    section: FlexibleSection = kind.section.model_validate(value)
    return section


def describe_kinds(schema: dict[str, Any]) -> None:
    """Put the kinds into the JSON schema of robot files, in place of what stands for a ``FlexibleField`` there."""
    sections = [kind.section for kind in FLEXIBLE_KINDS.values()]
    for section in sections:
        described = section.model_json_schema()
        schema["$defs"] |= described.pop("$defs", {})
        schema["$defs"][section.__name__] = described
    one = {"oneOf": [{"$ref": f"#/$defs/{section.__name__}"} for section in sections]}
    field = schema["$defs"]["LinkSection"]["properties"]["flexible"]
    field["anyOf"] = [one if form.get("type") == "object" else form for form in field["anyOf"]]


FlexibleField = Annotated[FlexibleSection, PlainValidator(_read), WithJsonSchema({"type": "object"})]
