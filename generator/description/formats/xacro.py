"""Expands xacro files to URDF by the package ``xacro``, without ROS: packages are found beside the file.

Expressions in a xacro file are evaluated by that package as Python with few names: expand only files that you trust.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from elastogen.generator.description.files import MAX_XML_BYTES, Files, decoded
from elastogen.generator.description.formats.xml_elements import parsed
from elastogen.generator.robot.location import Location, did_you_mean

_ARGUMENT = re.compile(r"<xacro:arg\s[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']")
_PACKAGE = re.compile(r"<name>\s*([^<\s]+)\s*</name>")


def expand(path: Path, arguments: Mapping[str, Any], files: Files, where: Location) -> str:
    """Return the URDF text of a xacro file; ``files`` knows all that it includes afterwards."""
    xacro = _library(where)
    parsed(decoded(files.read(path, MAX_XML_BYTES), where.source), "robot", where)  # no DTD, well-formed
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()}
    xacro.all_includes.clear()
    try:
        with _packages_beside(path), contextlib.redirect_stderr(io.StringIO()):
            document = xacro.process_file(str(path), mappings=dict(texts))
    except Exception as problem:  # of xacro, of its expressions, of XML, of files
        files_on_the_way = [str(name) for name in getattr(xacro, "filestack", None) or () if name]
        inside = Location(files_on_the_way[-1] if files_on_the_way else where.source)
        raise inside.error(_said(problem), "a xacro file that can be expanded", _fix(problem)) from None
    included = [Path(name) for name in dict.fromkeys((str(path), *xacro.all_includes))]
    contents = [files.read(name, MAX_XML_BYTES).decode("utf-8", errors="replace") for name in included]
    declared = {name for content in contents for name in _ARGUMENT.findall(content)}
    for name in texts:
        if name not in declared:
            fix = did_you_mean(name, declared, f"its arguments are {', '.join(sorted(declared)) or 'none'}")
            raise where.at("arguments", name).error(texts[name], "an argument that the file declares", fix)
    text: str = document.toxml()
    return text


def _library(where: Location) -> ModuleType:
    try:
        return importlib.import_module("xacro")
    except ImportError:
        fix = "pip install 'elastogen[xacro]', or expand it first: xacro robot.xacro > robot.urdf"
        raise where.error("a xacro file", "the Python package xacro, which expands it", fix) from None


def _said(problem: Exception) -> str:
    text = re.sub(r"^<class [^>]*>: ", "", " ".join(str(problem).split())) or type(problem).__name__
    return text if len(text) <= 110 else f"{text[:40]} ... {text[-65:]}"  # paths are long, and say most at their end


def _fix(problem: Exception) -> str:
    said = str(problem)
    if "Undefined substitution argument" in said or "ArgException" in type(problem).__name__:
        return (
            "give the argument: load(..., arguments={'name': value}), --arguments name=value, or base_description: {arguments}"
        )
    if isinstance(problem, LookupError) or "package" in said:
        return "put the package's folder beside the file, or write the path relative to it"
    return "correct the file there; `xacro file` shows the same"


@contextlib.contextmanager
def _packages_beside(path: Path) -> Iterator[None]:
    """Let $(find package) look in the folders above the file first, then where ROS has its packages."""
    arguments: Any = importlib.import_module("xacro.substitution_args")
    otherwise: Callable[[str], str] = arguments._eval_find

    def find(package: str) -> str:
        for folder in path.resolve().parents:
            for candidate in (folder, folder / package):
                manifest = candidate / "package.xml"
                named = _PACKAGE.search(manifest.read_text(errors="replace")) if manifest.is_file() else None
                if candidate.is_dir() and (named[1] if named else candidate.name) == package:
                    return str(candidate)
        try:
            return otherwise(package)
        except ImportError:
            raise LookupError(f"no package {package} above the file") from None

    arguments._eval_find = find
    try:
        yield
    finally:
        arguments._eval_find = otherwise
