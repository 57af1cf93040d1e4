"""The wheel of a compiled model for another machine: one extension for the stable ABI of Python, and its metadata."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import sysconfig
from dataclasses import replace

from elastogen.build.export.archive import zipped
from elastogen.build.export.libraries import compile_shared, parts_of_triple
from elastogen.build.export.project import Files, Project
from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import BuildError, OutputError

OLDEST = "cp310"  # the oldest Python that the stable ABI of these modules serves


def platform_tag(target: str) -> str:
    """Return the platform of a wheel for a triple, as in PEP 425: linux_aarch64, musllinux_1_2_aarch64."""
    machine, system = parts_of_triple(target)
    if "linux" not in system:
        raise OutputError(
            f"format 'python': got target={target!r}, expected one with linux: elsewhere modules link to their Python. "
            "Fix: build the exported project there (pip wheel .), or export format 'shared'."
        )
    if sys.maxsize > 2**32 and "64" not in machine and machine != "s390x":
        raise OutputError(
            f"format 'python': got target={target!r}, expected a machine of 64 bits: Python's headers here are those of one. "
            "Fix: build the exported project there (pip wheel .), or export format 'shared'."
        )
    return f"musllinux_1_2_{machine}" if "musl" in system else f"linux_{machine}"


def cross_wheel(project: Project, package: Files, target: str, options: CompileOptions) -> Files:
    """Return the wheel for a target, made of the files of the package (``<name>_model/...``), under its file name."""
    tag = f"{OLDEST}-abi3-{platform_tag(target)}"
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise BuildError(f"Python.h is missing (looked in {include}). Fix: `apt-get install python3-dev`.")
    folder, version = f"{project.name}_model", project.context.version
    texts = {name.removeprefix(f"{folder}/"): str(text) for name, text in package.items() if name.endswith((".c", ".h"))}
    flags = replace(options, cflags=(*options.cflags, f"-I{include}"))
    extension = compile_shared(project.name, texts, target, flags, sources=[f"_{project.name}.c"], hidden=True)
    info = f"{folder}-{version}.dist-info"
    generator = f"elastogen {project.context.identity.tool_version}"
    wheel = f"Wheel-Version: 1.0\nGenerator: {generator}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files: Files = {
        **{name: text for name, text in package.items() if not name.endswith(f"/_{project.name}.c")},
        f"{folder}/_{project.name}.abi3.so": extension,
        f"{info}/METADATA": project.filled("metadata.txt.j2"),
        f"{info}/WHEEL": wheel,
        f"{info}/top_level.txt": f"{folder}\n",
    }
    record = "".join(_record(name, data.encode() if isinstance(data, str) else data) for name, data in files.items())
    return {f"dist/{folder}-{version}-{tag}.whl": zipped({**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"})}


def _record(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
