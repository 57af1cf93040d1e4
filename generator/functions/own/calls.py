"""Functions of the catalogue as SymPy: calls return matrices of undefined functions of their arguments.

An element of a result is ``<function>.<output>.<element>`` of all arguments; own/functions.py replaces it by the function's
program. ``solve`` is one more: x of A x = b with a symmetric positive definite A.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import sympy

from elastogen.generator.functions.catalogue import Entry
from elastogen.generator.functions.variants import Variant, VariantFamily
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.robot.errors import OutputError, close_names
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.argument import Argument

SOLVE = "solve"
LARGEST_SOLVE = 40


class Calls:
    """``f.mass_matrix(q)``, ``f.inverse_dynamics(q, qd, a)``, ...: every function that exists for the robot."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        from elastogen.generator.functions.derivation import CATALOGUE

        return {name: entry for name, entry in CATALOGUE.items() if entry.applies(self._robot)}

    @cached_property
    def _family(self) -> VariantFamily:
        return VariantFamily(self._robot)

    def _variant(self, entry: Entry) -> Variant:
        return self._family.frame_assignments(entry.frame_assignment)[0]

    def arguments(self, entry: Entry) -> tuple[Argument, ...]:
        """The inputs of a function of the catalogue."""
        variant = self._variant(entry)
        points = len(variant.pointed.points) if entry.frame_assignment in ("points", "physical") else 0
        return tuple(input_argument(name, variant.positions, variant.size, points) for name in entry.inputs)

    @staticmethod
    def is_taken(name: str) -> bool:
        """Whether a function or a set of the catalogue has that name, for any robot."""
        from elastogen.generator.functions.derivation import CATALOGUE, FRAMED, SETS

        return name in CATALOGUE or name in FRAMED or name in SETS

    @property
    def call_names(self) -> list[str]:
        """Names of all undefined functions in calls."""
        found = []
        for name, entry in self._entries.items():
            for number, output in enumerate(entry.outputs(self._variant(entry))):
                found += [f"{name}.{number}.{k}" for k in range(output.size)]
        return [*found, *(f"{SOLVE}.{n}.{k}" for n in range(1, LARGEST_SOLVE + 1) for k in range(n))]

    def solve(self, A: sympy.Matrix, b: sympy.Matrix) -> sympy.ImmutableMatrix:
        """X with A X = b, for a symmetric positive definite A, which is factorized in the emitted code."""
        if not all(isinstance(given, (sympy.MatrixBase, list, tuple)) for given in (A, b)):
            raise OutputError(
                f"solve: got {type(A).__name__} and {type(b).__name__}, expected SymPy matrices A (n x n) and b (n x m)"
            )
        A, b = sympy.ImmutableMatrix(A), sympy.ImmutableMatrix(b)
        if A.rows != A.cols or A.rows != b.rows or not 0 < A.rows <= LARGEST_SOLVE:
            raise OutputError(
                f"solve: got matrices of {A.rows} x {A.cols} and {b.rows} x {b.cols}, expected n x n "
                f"with n at most {LARGEST_SOLVE}, and n x m"
            )
        lower = [A[r, c] for r in range(A.rows) for c in range(r + 1)]
        columns = [
            [sympy.Function(f"{SOLVE}.{A.rows}.{k}", real=True)(*lower, *b[:, c]) for k in range(A.rows)] for c in range(b.cols)
        ]
        return sympy.ImmutableMatrix(A.rows, b.cols, lambda r, c: columns[c][r])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._entries]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._entries:
            near = close_names(name, [*self._entries, SOLVE])
            hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(self._entries)}"
            raise AttributeError(f"{self._robot.name} has no function {name!r}. Fix: {hint}")
        entry = self._entries[name]

        def call(*given: Any) -> Any:
            return _called(entry, self.arguments(entry), entry.outputs(self._variant(entry)), given)

        call.__name__, call.__doc__ = name, entry.brief
        return call


def _called(entry: Entry, inputs: tuple[Argument, ...], outputs: tuple[Argument, ...], given: tuple[Any, ...]) -> Any:
    if len(given) != len(inputs):
        names = ", ".join(argument.name for argument in inputs)
        raise OutputError(f"{entry.name}: got {len(given)} arguments, expected {len(inputs)}: {names}")
    flat: list[sympy.Expr] = []
    for argument, value in zip(inputs, given, strict=True):
        elements = list(value) if isinstance(value, (sympy.MatrixBase, list, tuple)) else [value]
        if len(elements) != argument.size:
            raise OutputError(f"{entry.name}: {argument.name} has {len(elements)} elements, expected {argument.size}")
        flat += [sympy.sympify(element) for element in elements]
    results = []
    for number, output in enumerate(outputs):
        elements = [sympy.Function(f"{entry.name}.{number}.{k}", real=True)(*flat) for k in range(output.size)]
        results.append(_shaped(elements, output.shape))
    return results[0] if len(results) == 1 else tuple(results)


def _shaped(elements: list[sympy.Expr], shape: tuple[int, ...]) -> Any:
    """A number, a column, a matrix, or a list of these."""
    if not shape:
        return elements[0]
    if len(shape) <= 2:
        return sympy.ImmutableMatrix(shape[0], shape[1] if len(shape) == 2 else 1, elements)
    step = len(elements) // shape[0]
    return [_shaped(elements[step * k : step * (k + 1)], shape[1:]) for k in range(shape[0])]
