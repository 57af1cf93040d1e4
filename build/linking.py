"""Links with models that were compiled before; their functions are neither derived nor compiled again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import build_extension, known_extension
from elastogen.generator.functions.composed.fused import fused_name
from elastogen.generator.functions.derivation import without_functions
from elastogen.generator.functions.function import CompiledFunction, ModelFacts
from elastogen.generator.joints.on_beams.selector import Selector
from elastogen.generator.program.program import OperationCount
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors
from elastogen.runtime.interface.argument import Argument
from elastogen.runtime.model.loader import import_extension


@dataclass(frozen=True)
class CompiledModel:
    """The functions of a robot as objects, in one model or in two."""

    facts: ModelFacts
    texts: dict[str, str]  # <name>.h and <name>.c of the first model
    undeclared: tuple[CompiledFunction, ...]  # functions that its header does not have
    objects: tuple[Path, ...]


def compiled_before(robot: Robot, names: Sequence[str], model: BuildOptions) -> CompiledModel | None:
    """The functions ``names`` of the model that was built with these options; None: everything is to be derived.

    Functions that it lacks are derived and compiled now, and only those.
    """
    extension = known_extension(robot, model)
    if extension is None or not _objects(extension):
        return None
    known, more = _functions(robot, extension), {}
    objects = _objects(extension)
    missing = tuple(name for name in names if fused_name(name) not in known)
    if missing:
        if selectors(robot):
            return None  # the functions that choose elements would be there twice
        extension_of_more = build_extension(robot, _options_of_more(robot, missing, model))
        more = _functions(robot, extension_of_more)
        if known.keys() & more.keys():
            return None
        objects += _objects(extension_of_more)
    both = known | more
    _, facts = without_functions(robot, names, model.emit.frames, model.emit.derivation)
    functions = tuple(both[fused_name(name)] for name in names)
    texts = {file: (extension.parent / file).read_text(encoding="utf-8") for file in (f"{robot.name}.h", f"{robot.name}.c")}
    given = {field: getattr(facts, field) for field in ModelFacts.__dataclass_fields__}
    return CompiledModel(ModelFacts(**{**given, "functions": functions}), texts, tuple(more.values()), objects)


def _options_of_more(robot: Robot, names: tuple[str, ...], model: BuildOptions) -> BuildOptions:
    """Return options of a second model with another name for its nominal parameters: objects of both are linked."""
    chosen = model.with_outputs(names)
    renamed = f"-D{robot.name}_params_nominal={robot.name}_params_nominal_of_more"
    return replace(
        chosen,
        emit=replace(chosen.emit, identification=()),
        compile=replace(chosen.compile, lanes=False, cflags=(renamed, *chosen.compile.cflags)),
    )


def _objects(extension: Path) -> tuple[Path, ...]:
    return tuple(sorted(extension.parent.glob("*.o")))


def _functions(robot: Robot, extension: Path) -> dict[str, CompiledFunction]:
    module: Any = import_extension(extension)
    said = json.loads(module.ffi.string(module.lib.eg_metadata()))
    return {function["name"]: _function(function, selectors(robot)) for function in said["functions"]}


def _function(said: dict[str, Any], sliding: tuple[Selector, ...]) -> CompiledFunction:
    counted = {**said["count"], "others": tuple((name, number) for name, number in said["count"]["others"])}
    return CompiledFunction(
        name=said["name"],
        brief=said["brief"],
        inputs=_arguments(said["inputs"]),
        outputs=_arguments(said["outputs"]),
        can_fail=said["can_fail"],
        count=OperationCount(**counted),
        selectors=sliding if said["slides"] else (),
        has_kinks=bool(said.get("kinks")),
    )


def _arguments(said: list[dict[str, Any]]) -> tuple[Argument, ...]:
    return tuple(Argument(each["name"], tuple(each["shape"]), each["unit"], each["doc"]) for each in said)
