"""What MuJoCo's compiler makes of an MJCF text: asked for in a process of its own, mesh files included where they have mass."""

from __future__ import annotations

import base64
import importlib.util
import re
from pathlib import Path
from typing import Any

from elastogen.generator.description.files import Files
from elastogen.generator.description.formats.isolated.ask import Limits, ask
from elastogen.generator.robot.location import Location

LIMITS = Limits(seconds=120, memory=4 << 30)  # hulls of large meshes take their time
MAX_MESH_BYTES = 64 << 20
MAX_ALL_MESHES = 256 << 20
_LINE = re.compile(r", line (\d{1,9})\b")
MESHES = (".stl", ".obj", ".msh", ".ply")


def compiled(xml: str, path: Path, files: Files, where: Location) -> dict[str, Any]:
    """Return the numbers of the compiled model (see ``isolated/mjcf_task.py``); ``files`` knows the meshes afterwards."""
    if importlib.util.find_spec("mujoco") is None:
        fix = "pip install 'elastogen[mjcf]'"
        raise where.error("an MJCF file", "the Python package mujoco, whose compiler reads it", fix)
    answer = _asked(xml, None, where)
    if answer["need"]:
        answer = _asked(xml, _meshes(answer["need"], path, files, where), where)
    model: dict[str, Any] = answer["model"]
    return model


def _asked(xml: str, meshes: dict[str, str] | None, where: Location) -> dict[str, Any]:
    answer = ask("mjcf_task", {"xml": xml, "meshes": meshes}, LIMITS, {"need"}, where)
    if "error" in answer:
        lines = xml.splitlines()
        words = _LINE.sub(lambda found: f": {lines[int(found[1]) - 1][:120]}" if 0 < int(found[1]) <= len(lines) else "",
                          "; ".join(line.strip() for line in str(answer["error"]).splitlines() if line.strip()))  # fmt: skip
        said = "".join(character if character.isprintable() else "?" for character in words)[:400]
        raise where.error(said, "MJCF that MuJoCo compiles", "correct it there: these are MuJoCo's words")
    return answer


def _meshes(needed: dict[str, str], path: Path, files: Files, where: Location) -> dict[str, str]:
    """The content of the mesh files that inertia is computed from, in Base64."""
    found, total = {}, 0
    for name, file in needed.items():
        here, other = where.at("mesh", name), path.parent / file
        if other.suffix.lower() not in MESHES:
            raise here.error(file, f"a mesh: {', '.join(MESHES)}", "give bodies that move their <inertial>")
        if not other.is_file():
            fix = "add the file, or give those bodies their <inertial>"
            raise here.error(file, "a mesh file that is there: the inertia of a body comes from it", fix)
        data = files.read(other, MAX_MESH_BYTES)
        total += len(data)
        if total > MAX_ALL_MESHES:
            raise here.error("more", f"at most {MAX_ALL_MESHES >> 20} MiB of meshes", "give bodies their <inertial>")
        found[name] = base64.b64encode(data).decode()
    return found
