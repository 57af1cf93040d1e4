"""The JSON schema of robot files, which editors complete them with."""

from __future__ import annotations

import json
from typing import Any

from elastogen.generator.description.file.changes_file import ChangesFile
from elastogen.generator.description.file.fields import ROW3_SCHEMA, SCALAR_SCHEMA
from elastogen.generator.description.file.planar_file import PlanarSection
from elastogen.generator.description.file.robot_file import RobotFile
from elastogen.generator.description.flexible.kinds import describe_kinds
from elastogen.generator.joints.kinds import KINDS


def json_schema() -> str:
    """Return the JSON schema of a robot file, as published in ``robot.schema.json``."""
    schema = RobotFile.model_json_schema()
    planar = PlanarSection.model_json_schema()
    schema["$defs"] |= planar.pop("$defs")
    schema["properties"]["planar"] = {**planar, "description": "instead of links and joints: a robot in the plane x, y"}
    schema["required"] = [key for key in schema["required"] if key != "joints"]
    _add_changes(schema)
    describe_kinds(schema)
    joints = schema["$defs"]["JointSection"]["properties"]
    for kind in KINDS.values():
        for key in kind.keys:
            form = key.schema or (ROW3_SCHEMA if key.shape == "direction" else SCALAR_SCHEMA)
            unit = f" [{key.unit}]" if key.unit else ""
            joints[key.name] = {**form, "description": f"{kind.name}: {key.doc}{unit}"}
    schema["anyOf"] = [{"required": [key]} for key in ("joints", "planar", "base_description")]
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "elastogen-robot", **schema}
    return _by_lines(schema)


def _by_lines(schema: dict[str, Any]) -> str:
    """The schema with a line for every property and every definition: short, and with changes that can be read."""
    parts = []
    for key, value in sorted(schema.items()):
        if key in ("$defs", "properties"):
            rows = (f"  {json.dumps(name)}: {json.dumps(part, sort_keys=True)}" for name, part in sorted(value.items()))
            parts.append(f" {json.dumps(key)}: {{\n" + ",\n".join(rows) + "\n }")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value, sort_keys=True)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _add_changes(schema: dict[str, Any]) -> None:
    """Beside ``base_description``, links and joints are changes of those that the other description has."""
    changes = ChangesFile.model_json_schema()
    schema["$defs"] |= changes["$defs"]
    schema["properties"]["base_description"] = changes["properties"]["base_description"]
    whole = {}
    for key in ("links", "joints"):
        own, other = (file["properties"][key]["items"] for file in (schema, changes))
        schema["properties"][key]["items"] = {"anyOf": [own, other]}
        whole[key] = {"items": own}
    schema["if"], schema["else"] = {"required": ["base_description"]}, {"properties": whole}


if __name__ == "__main__":  # > generator/description/robot.schema.json
    print(json_schema(), end="")
