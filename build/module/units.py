"""The functions of a model as units for the compiler: short ones together, long ones in pieces.

A unit is compiled while the functions after it are derived. It has the text that the model's own file has, in the same order
of operations, so the numbers are the same; parts of a function that is cut are no longer static, but hidden in the module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from elastogen.build.files.contexts import FunctionText, Identity, ParameterLine, PartText, Prototype
from elastogen.build.files.function_printer import FunctionPrinter, vectors_of
from elastogen.build.files.render import check_names, header_context
from elastogen.build.files.templating import fill
from elastogen.build.files.write import writing_to
from elastogen.build.module.compilers import Compilers
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function

HEADER = "eg_model.h"
LINES = 1000  # of a unit, roughly: a third of a second of a compiler


@dataclass(frozen=True)
class UnitContext:
    """For ``model/unit.c.j2``."""

    identity: Identity
    header: str
    parameters: tuple[ParameterLine, ...]  # nominal ones, in one of the units
    functions: tuple[FunctionText, ...]
    has_parts: bool
    vectors: tuple[tuple[int, str], ...]  # these two as in SourceContext
    tables: tuple[str, ...]
    cut: bool  # whether it has a piece of a function, whose parts are called from another unit
    prefix: str  # these two are the variables of sincos.c.j2
    real: str
    calls_sincos: bool


class Units:
    """Cuts the functions of a model into units and has them compiled."""

    def __init__(self, printer: FunctionPrinter, directory: Path, command: tuple[str, ...], compilers: Compilers) -> None:
        self.printer, self.compilers = printer, compilers
        self._directory, self._command = directory, command
        self._waiting: list[FunctionText] = []  # short functions that will share a unit
        self._parameters: tuple[ParameterLine, ...] = ()
        self._count = 0

    def take(self, model: ModelDerivation, function: Function) -> None:
        """Have a function compiled; ``model`` is what is known beside the functions."""
        this = self.printer.chosen(replace(model, functions=(function,)))
        check_names(this)
        if not self._count and not self._waiting:
            header = header_context(model, self.printer.identity, self.printer.dialect)
            self._parameters = header.parameters
            self._write(HEADER, fill("model/model.h.j2", header))
        texts = self.printer.texts(this.functions[0])  # with sliding joints there are no units; several share a static one
        if len(texts) == 1 and _length(texts[0]) > LINES:
            for piece in _pieces(texts[0]):
                self._compile((piece,), cut=True)
            return
        self._waiting += texts
        if sum(map(_length, self._waiting)) > LINES // 2:
            self._compile_waiting()

    def objects(self) -> list[Path]:
        """The object files of all functions; waits for the compilers."""
        if self._waiting:
            self._compile_waiting()
        return [self._directory / f"eg_unit{number}.o" for number in range(1, self._count + 1)]

    def _compile_waiting(self) -> None:
        self._compile(tuple(self._waiting), cut=False)
        self._waiting = []

    def _compile(self, functions: tuple[FunctionText, ...], *, cut: bool) -> None:
        identity = self.printer.identity
        context = UnitContext(
            identity=identity,
            header=HEADER,
            parameters=self._parameters,
            functions=functions,
            has_parts=any(function.parts for function in functions),
            vectors=vectors_of(functions),
            tables=self.printer.pool.lines(functions),
            cut=cut,
            prefix=identity.name,
            real=identity.real,
            calls_sincos=self.printer.dialect.sincos == "fast",
        )
        self._parameters = ()
        self._count += 1
        unit = f"eg_unit{self._count}.c"
        self._write(unit, fill("model/unit.c.j2", context))
        self.compilers.start((*self._command, "-c", unit), self._directory)

    def _write(self, file: str, text: str) -> None:
        with writing_to(self._directory):
            (self._directory / file).write_text(text, encoding="utf-8")


def _length(function: FunctionText) -> int:
    return len(function.lines) + sum(len(part.lines) for part in function.parts)


def _pieces(function: FunctionText) -> Iterator[FunctionText]:
    """A long function: its parts in groups, the body that calls them last; parts may call others, in front of them."""
    groups: list[list[PartText]] = [[]]
    for part in function.parts:
        groups[-1].append(part)
        if sum(len(other.lines) for other in groups[-1]) > LINES:
            groups.append([])
    before: list[Prototype] = []
    for number, group in enumerate(groups, 1):
        yield replace(function, parts=tuple(group), declared=tuple(before), has_body=number == len(groups))
        before += [part.prototype for part in group]
