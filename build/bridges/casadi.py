"""CasADi: a function of a model as an external library with derivatives up to second order."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from elastogen.build.export.libraries import compile_shared, library_ending
from elastogen.build.files.externals.casadi import KINDS, external_source
from elastogen.build.files.functions_manifest import functions_manifest
from elastogen.build.files.render import render_model
from elastogen.build.module.cache import Cache
from elastogen.build.options import BuildOptions
from elastogen.build.stamps import sha256, tool_sha256
from elastogen.generator.functions.composed.sensitivities import PARAMETERS
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot


def casadi_library(
    robot: Robot, name: str, parameters: bool, values: Mapping[str, float], options: BuildOptions
) -> tuple[Path, str]:
    """The compiled library of a function, from the cache where it is known, and the name of the function in it.

    ``values`` are those of the live parameters, which ``parameters`` makes an input.
    """
    if "+" in name:
        raise OutputError(f"to_casadi: got {name!r}, expected one function of the catalogue, for example 'forward_dynamics'.")
    more = PARAMETERS if parameters else ""
    names = (name, *(name + kind + more for kind in KINDS))
    derivation = derive_model(robot, names, options.emit.frames, derivation=options.emit.derivation)
    manifest = functions_manifest(derivation, options.emit.precision)
    model = render_model(derivation, options.with_outputs(names).emit)
    function = f"{robot.name}_{name}"
    files = {**model.c_files, f"{function}_casadi.c": external_source(manifest, name, parameters, values)}
    key = sha256("casadi", tool_sha256(), *(text for pair in sorted(files.items()) for text in pair), repr(options.compile))

    def build(scratch: Path) -> Path:
        library = scratch / f"{function}_casadi{library_ending(sys.platform)}"
        library.write_bytes(compile_shared(robot.name, files, None, options.compile))
        return library

    return Cache(options.cache_dir).make(key, build), f"{function}_casadi"
