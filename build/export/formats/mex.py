"""The format ``mex``: for MATLAB and Octave, a gateway in C, a package with help for every function, a build script."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import ExportContext, Files, Project
from elastogen.build.files.templating import fill
from elastogen.build.known_numbers import known_numbers
from elastogen.generator.functions.function import Function
from elastogen.runtime.interface.argument import Argument


@dataclass(frozen=True)
class MexArgument:
    """An array in MATLAB: pages of matrices; vectors are columns."""

    name: str
    pages: int
    rows: int
    columns: int
    doc: str

    @property
    def shape(self) -> str:
        """Describe its size."""
        sizes = (self.rows, self.columns, *((self.pages,) if self.pages > 1 else ()))
        return " x ".join(map(str, sizes))


@dataclass(frozen=True)
class MexFunction:
    """A function of the gateway."""

    name: str
    brief: str
    inputs: list[MexArgument]
    outputs: list[MexArgument]
    places: tuple[str, ...]  # where its arguments are in the arrays of all inputs and outputs
    can_fail: bool
    call: str = ""  # as a user writes it
    lines: tuple[str, ...] = ()  # what its arguments are


@dataclass(frozen=True)
class MexContext(ExportContext):
    """For the templates in ``export/mex``."""

    functions_of_mex: tuple[MexFunction, ...] = ()
    live: tuple[str, ...] = ()  # names of the live parameters


@dataclass(frozen=True)
class FunctionContext:
    """For ``export/mex/function.m.j2``."""

    robot: str
    function: MexFunction


def files(project: Project, choices: Choices) -> Files:
    """Return sources, package, build script, example and check."""
    derivation, name = project.derivation, project.name
    context = MexContext(
        **{field.name: getattr(project.context, field.name) for field in dataclasses.fields(project.context)},
        functions_of_mex=tuple(_function(function, name) for function in derivation.functions),
        live=tuple(parameter.name for parameter in derivation.robot.live_parameters),
    )
    helps = {
        f"+{name}/{function.name}.m": fill("export/mex/function.m.j2", FunctionContext(name, function))
        for function in context.functions_of_mex
    }
    return {
        **project.c_files,
        f"{name}_mex.c": fill("export/mex/gateway.c.j2", context),
        f"build_{name}.m": fill("export/mex/build.m.j2", context),
        f"+{name}/parameters.m": fill("export/mex/parameters.m.j2", context),
        **helps,
        f"example_{name}.m": fill("export/mex/example.m.j2", context),
        f"check_{name}.m": known_numbers(derivation, context, "export/mex/check.m.j2"),
    }


def _function(function: Function, robot: str) -> MexFunction:
    inputs, outputs = [_argument(a) for a in function.inputs], [_argument(a) for a in function.outputs]
    given = ", ".join(a.name for a in inputs)
    results = ", ".join(a.name for a in outputs)
    return MexFunction(
        name=function.name,
        brief=_line(function.brief),
        inputs=inputs,
        outputs=outputs,
        places=(*_places("x", function.inputs), *_places("y", function.outputs)),
        can_fail=function.can_fail,
        call=f"{f'[{results}]' if len(outputs) > 1 else results} = {robot}.{function.name}({given})",
        lines=tuple(f"{a.name} ({a.shape}): {a.doc}" for a in (*inputs, *outputs)),
    )


def _places(array: str, arguments: Sequence[Argument]) -> list[str]:
    starts = [sum(a.size for a in arguments[:k]) for k in range(len(arguments))]
    return [f"{array} + {start}" for start in starts]


def _argument(argument: Argument) -> MexArgument:
    *stack, rows, columns = (1, *argument.shape) if len(argument.shape) > 1 else (1, argument.size, 1)
    pages = 1
    for length in stack:
        pages *= length
    unit = f" [{argument.unit}]" if argument.unit else ""
    return MexArgument(argument.name, pages, rows, columns, _line(argument.doc + unit))


def _line(text: str) -> str:
    """Return text that stays within its comment."""
    return re.sub(r"[^\x20-\x7e]+", " ", text)
