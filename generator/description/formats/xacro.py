"""Expands xacro files to URDF by the package ``xacro``, without ROS, in a process of its own (:mod:`.isolated.process`).

Expressions in a xacro file are Python: a file is expanded only where the caller allows it, in a process that may neither write
nor start programs, and that has limits on time and memory.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastogen.generator.description.files import MAX_XML_BYTES, Files, decoded
from elastogen.generator.description.formats.isolated.ask import Limits, ask
from elastogen.generator.description.formats.urdf import read_urdf
from elastogen.generator.description.formats.xml_elements import parsed
from elastogen.generator.robot.location import Location, did_you_mean

if TYPE_CHECKING:
    from elastogen.generator.description.read_robot import Reading
    from elastogen.generator.robot.robot import Robot

_REFUSED = re.compile(r"the file (asks|imports) [\w ./]+, which no robot description needs")
_ARGUMENT = re.compile(r"<xacro:arg\s[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']")


def read(text: str, path: Path, shown: str, reading: Reading) -> Robot:
    """The robot of a file, expanded to URDF."""
    where, allowed = Location(shown), reading.allow_xacro
    expanded = expand(path, reading.arguments, reading.packages, reading.files, where, allowed)
    return read_urdf(expanded, shown, **reading.of_every_format)


def expand(
    path: Path, arguments: Mapping[str, Any], packages: Mapping[str, str], files: Files, where: Location, allowed: bool
) -> str:
    """Return the URDF text of a xacro file; ``files`` knows all that it includes afterwards.

    ``packages`` says where ``$(find name)`` leads, before the folders above the file are looked at.
    """
    if not allowed:
        expected = "leave to run it: expressions in xacro files are Python, and run with your rights"
        fix = "if you trust it: load(..., allow_xacro=True); else expand it elsewhere, and load the URDF"
        raise where.error("a xacro file", expected, fix)
    if importlib.util.find_spec("xacro") is None:
        fix = "pip install 'elastogen[xacro]', or expand it first: xacro robot.xacro > robot.urdf"
        raise where.error("a xacro file", "the Python package xacro, which expands it", fix)
    parsed(decoded(files.read(path, MAX_XML_BYTES), where.source), "robot", where)  # no DTD, well-formed
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()}
    request = {"path": os.path.abspath(path), "arguments": texts, "packages": dict(packages), "most_bytes": MAX_XML_BYTES}
    answer = ask("xacro_task", request, Limits(), {"text", "files"}, where)
    if "error" in answer:
        inside = Location(str(answer["file"]) or where.source)
        raise inside.error(_said(answer), "a xacro file that can be expanded", _fix(answer))
    _check_arguments(texts, [Path(str(name)) for name in dict.fromkeys(answer["files"])], files, where)
    return str(answer["text"])


def _check_arguments(texts: Mapping[str, str], included: list[Path], files: Files, where: Location) -> None:
    """Refuse arguments that none of the files declares, and remember the files."""
    contents = [files.read(name, MAX_XML_BYTES).decode("utf-8", errors="replace") for name in included if name.is_file()]
    declared = {name for content in contents for name in _ARGUMENT.findall(content)}
    for name in texts:
        if name not in declared:
            fix = did_you_mean(name, declared, f"its arguments are {', '.join(sorted(declared)) or 'none'}")
            raise where.at("arguments", name).error(texts[name], "an argument that the file declares", fix)


def _said(answer: Mapping[str, Any]) -> str:
    refused = _REFUSED.search(str(answer["error"]))
    if refused:
        return refused[0]
    text = re.sub(r"^<class [^>]*>: ", "", " ".join(str(answer["error"]).split())) or str(answer["kinds"][0])
    half = len(text) // 2
    text = text[:half] if text[:half] == text[half + 1 :] else text  # xacro says some of it twice
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= 110 else f"{text[:40]} ... {text[-65:]}"  # paths are long, and say most at their end


def _fix(answer: Mapping[str, Any]) -> str:
    said, kinds = str(answer["error"]), answer.get("kinds", ())
    if _REFUSED.search(said):
        return "do not trust this file"
    if "Undefined substitution argument" in said or any("ArgException" in str(kind) for kind in kinds):
        return (
            "give the argument: load(..., arguments={'name': value}), --arguments name=value, or base_description: {arguments}"
        )
    if answer.get("lookup") or "package" in said:
        return "say where it is: load(..., package_path={'name': 'FOLDER'}); or put the package's folder beside the file"
    return "correct the file there; `xacro file` shows the same"
