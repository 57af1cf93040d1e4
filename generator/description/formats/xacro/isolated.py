"""The process that expands one xacro file: reads a request from stdin, writes the answer to stdout, both JSON.

It is run as a script, with nothing of elastogen: ``python -I isolated.py``. Expressions in a xacro file are Python, and the
package's own list of names does not hold them. So this process gives up what expanding a file does not need before it reads the
file: time, memory, writing, other programs, the network. The operating system holds the limits; an audit hook names the rest.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Callable
from typing import Any

_PACKAGE = re.compile(r"<name>\s*([^<\s]+)\s*</name>")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def limit(seconds: int, memory: int) -> None:
    """Let the operating system hold the limits, where it can."""
    try:
        import resource
    except ImportError:
        return
    for name, value in (
        ("RLIMIT_CPU", seconds), ("RLIMIT_AS", memory), ("RLIMIT_FSIZE", 0), ("RLIMIT_NOFILE", 64), ("RLIMIT_CORE", 0),
        ("RLIMIT_NPROC", 0),
    ):  # fmt: skip
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (AttributeError, OSError, ValueError):  # a limit that this system does not have
            continue


def guard() -> Callable[[str, tuple[Any, ...]], None]:
    """Python's audit hook, which cannot be taken away again: reading files is all that the outside sees of an expression.

    What it needs is bound here: what an expression changes in modules and builtins does not reach it.
    """
    harmless = frozenset({  # what expanding a file does; every other event of Python's audit is refused
        "compile", "exec", "import", "marshal.loads", "marshal.load", "open", "os.listdir", "os.scandir", "glob.glob",
        "glob.glob/2", "object.__getattr__", "builtins.id",
    })  # fmt: skip
    foreign = frozenset({"ctypes", "_ctypes", "cffi", "_cffi_backend", "gc", "_posixsubprocess", "_testcapi", "mmap"})
    error, integer, text, writing, letters = PermissionError, int, str, _WRITING, frozenset("wax+")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in harmless:
            raise error(f"the file asks for {event}, which no robot description needs")
        if event == "open":
            mode, flags = arguments[1:3]
            if (mode.__class__ is text and not letters.isdisjoint(mode)) or (flags.__class__ is integer and flags & writing):
                raise error("the file asks to write a file, which no robot description needs")
        if event == "import" and arguments[0].partition(".")[0] in foreign:
            raise error(f"the file imports {arguments[0]}, which no robot description needs")

    return hook


def text_of(path: str, most: int) -> str:
    """The text of a regular file of limited size."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(f"{path}: not a regular file")
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(f"{path}: more than {most >> 10} KiB")
    return data.decode("utf-8-sig")


def package_folder(package: str, given: dict[str, str], path: str) -> str:
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


def expanded(request: dict[str, Any]) -> dict[str, Any]:
    """The answer: the URDF's text and the files that it came from, or what went wrong, and in which file."""
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
        return package_folder(package, request["packages"], path)

    xacro.parse, xacro.load_yaml, substitution._eval_find = parse, load_yaml, find
    substitution._eval_dict["find"] = find
    xacro._global_symbols = xacro.create_global_symbols()  # which hold load_yaml
    xacro.all_includes.clear()
    limit(request["seconds"], request["memory"])
    sys.addaudithook(guard())
    try:
        text = xacro.process_file(path, mappings=dict(request["arguments"])).toxml()
    except (Exception, RecursionError) as problem:
        on_the_way = [str(name) for name in getattr(xacro, "filestack", None) or () if name]
        cause = getattr(problem, "exc", None)
        kinds = [type(found).__name__ for found in (problem, cause) if found is not None]
        lookup = isinstance(problem, LookupError) or isinstance(cause, LookupError)
        return {"error": str(problem), "kinds": kinds, "lookup": lookup, "file": on_the_way[-1] if on_the_way else ""}
    return {"text": text, "files": [path, *map(str, xacro.all_includes)]}


def main() -> None:
    """One request, one answer."""
    request = json.loads(sys.stdin.read())
    sys.path[:] = request["modules"]
    out, sys.stdout, sys.stderr = sys.stdout, open(os.devnull, "w"), open(os.devnull, "w")  # noqa: SIM115  # until the end
    out.write(json.dumps(expanded(request)))
    out.flush()
    os._exit(0)  # nothing that the file left behind is run


if __name__ == "__main__":
    main()
