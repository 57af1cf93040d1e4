"""Expands one xacro file to URDF, in the process of :mod:`.process`: files are read by its safe reader."""

import os
import re
from collections.abc import Callable
from typing import Any

_PACKAGE = re.compile(r"<name>\s*([^<\s]+)\s*</name>")


def package_folder(package: str, given: dict[str, str], path: str, text_of: Callable[[str, int], str]) -> str:
    """Where ``$(find package)`` is: as the user said, in a folder above the file or beside one, or where ROS has it."""
    if package in given:
        return given[package]
    folder = os.path.dirname(os.path.realpath(path))
    while True:
        for candidate in (folder, os.path.join(folder, package)):
            manifest = os.path.join(candidate, "package.xml")
            named = _PACKAGE.search(text_of(manifest, 1 << 20)) if os.path.isfile(manifest) else None
            if os.path.isdir(candidate) and (named[1] if named else os.path.basename(candidate)) == package:
                return candidate
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        if os.path.isdir(os.path.join(prefix, "share", package)):
            return os.path.join(prefix, "share", package)
    raise LookupError(f"no package {package} above the file")


def answer(request: dict[str, Any], text_of: Callable[[str, int], str], close: Callable[[], None]) -> dict[str, Any]:
    """The URDF's text and the files that it came from, or what went wrong, and in which file."""
    import defusedxml.minidom
    import xacro
    import xacro.substitution_args as substitution
    import yaml

    path, most = request["path"], request["most_bytes"]

    def parse(inp: Any, filename: Any = None) -> Any:
        if inp is None:
            try:
                inp = text_of(os.path.join(xacro.root_dir, filename), most)
            except OSError as problem:
                xacro.filestack.pop()
                raise xacro.XacroException(f"{problem.strerror or problem}: {filename}", exc=problem) from None
        return defusedxml.minidom.parseString(inp, forbid_dtd=True) if isinstance(inp, str) else inp

    def load_yaml(filename: str) -> Any:
        for unit in xacro.ConstructUnits:
            yaml.SafeLoader.add_constructor(unit.value.tag, unit.constructor)
        filename = xacro.abs_filename_spec(filename)
        xacro.all_includes.append(filename)
        return xacro.YamlListWrapper.wrap(yaml.safe_load(text_of(filename, most)))

    def find(package: str) -> str:
        return package_folder(package, request["packages"], path, text_of)

    xacro.parse, xacro.load_yaml, substitution._eval_find = parse, load_yaml, find
    substitution._eval_dict["find"] = find
    xacro._global_symbols = xacro.create_global_symbols()  # which hold load_yaml
    xacro.all_includes.clear()
    close()
    try:
        text = xacro.process_file(path, mappings=dict(request["arguments"])).toxml()
    except (Exception, RecursionError) as problem:
        on_the_way = [str(name) for name in getattr(xacro, "filestack", None) or () if name]
        cause = getattr(problem, "exc", None)
        kinds = [type(found).__name__ for found in (problem, cause) if found is not None]
        lookup = isinstance(problem, LookupError) or isinstance(cause, LookupError)
        return {"error": str(problem), "kinds": kinds, "lookup": lookup, "file": on_the_way[-1] if on_the_way else ""}
    return {"text": text, "files": [path, *map(str, xacro.all_includes)]}
