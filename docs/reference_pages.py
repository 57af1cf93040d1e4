"""Pages that are written from the code when the documentation is built: the robot file from its schema, the public API."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import elastogen

SCHEMA = Path(__file__).resolve().parents[1] / "generator" / "description" / "robot.schema.json"
ERRORS = ("Error", "Warning")


def write_pages(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(exist_ok=True)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    (folder / "robot-file.md").write_text(robot_file(schema), encoding="utf-8")
    (folder / "api").mkdir(exist_ok=True)
    for name, page in api().items():
        (folder / "api" / f"{name}.md").write_text(page, encoding="utf-8")


def robot_file(schema: dict[str, Any]) -> str:
    """Every section of a robot file and its keys, as the schema that checks it says."""
    lines = ["# Robot files: every key", "", "Written from the schema that editors complete robot files with.", ""]
    for name, section in (("the whole file", schema), *sorted(schema.get("$defs", {}).items())):
        if "properties" not in section:
            continue
        lines += [
            f"## {name}",
            "",
            " ".join(section.get("description", "").split()),
            "",
            "| key | takes | default | meaning |",
            "|---|---|---|---|",
        ]
        required = set(section.get("required", ()))
        for key, value in section["properties"].items():
            default = "required" if key in required else f"`{json.dumps(value['default'])}`" if "default" in value else ""
            meaning = " ".join(str(value.get("description", "")).split()).replace("|", "\\|")
            lines.append(f"| `{key}` | {takes(value)} | {default} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def takes(value: dict[str, Any]) -> str:
    """What a key takes, in a few words."""
    if "$ref" in value:
        return value["$ref"].rpartition("/")[2]
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return ", ".join(f"`{item}`" for item in value["enum"])
    for key in ("anyOf", "oneOf"):
        if key in value:
            return " or ".join(dict.fromkeys(takes(item) for item in value[key]))
    if value.get("type") == "array" and isinstance(value.get("items"), dict):
        return f"list of {takes(value['items'])}"
    kind = value.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def parameters(thing: Any) -> tuple[str, ...]:
    """The names of a callable's parameters; none where Python does not know them."""
    try:
        return tuple(name for name in inspect.signature(thing).parameters if name != "self")
    except (TypeError, ValueError):
        return ()


def api() -> dict[str, str]:
    """A page for each public name, and one that lists them: functions, classes with their methods, errors."""
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors and warnings": []}
    for name in sorted(elastogen.__all__):
        thing = getattr(elastogen, name)
        kind = "Errors and warnings" if name.endswith(ERRORS) else "Classes" if isinstance(thing, type) else "Functions"
        if callable(thing):
            kinds[kind].append(name)
    pages, lines = {}, ["# Python API", ""]
    for kind, names in kinds.items():
        directive = "autofunction" if kind == "Functions" else "autoclass"
        options = ["   :members:", "   :inherited-members:"] if kind == "Classes" else []
        lines += [f"## {kind}", "", "| name | what it is |", "|---|---|"]
        for name in names:
            summary = (getattr(elastogen, name).__doc__ or "").strip().split("\n")[0].replace("|", "\\|")
            lines.append(f"| [`{name}`]({name}.md) | {summary} |")
            given = "(message)" if name.endswith(ERRORS) and not parameters(getattr(elastogen, name)) else ""
            pages[name] = "\n".join(
                [f"# {name}", "", "```{eval-rst}", f".. {directive}:: elastogen.{name}{given}", *options, "```", ""]
            )
        lines += ["", "```{toctree}", ":hidden:", "", *names, "```", ""]
    return {"index": "\n".join(lines), **pages}
