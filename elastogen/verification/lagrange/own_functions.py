"""The robot's own functions, read from their expressions: what they call is given by Lagrange's equations where these say it.

Other functions of the catalogue that are called are evaluated by their programs in 50 digits: then what is judged is how they
were put together and into one program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.functions.own.calls import SOLVE
from elastogen.generator.program.numbers import many_digits
from elastogen.generator.robot.own.functions import STATE, OwnFunction
from elastogen.generator.robot.own.terms import Symbols
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.verification.lagrange.numbers import Numbers


class OwnFunctions:
    """All of them: ``functions`` by name, each of its inputs in order."""

    def __init__(
        self,
        robot: Robot,
        catalogue: Mapping[str, Callable[..., Any]],
        programs: Mapping[str, Function],
        parameters: Mapping[str, float],
    ) -> None:
        import mpmath

        self.context = mpmath.mp.clone()
        self.context.dps = many_digits.DIGITS
        self.robot, self.numbers = robot, Numbers(robot, self.context)
        self._catalogue, self._programs, self._parameters = catalogue, dict(programs), parameters
        covered = [own for own in robot.functions if not (own.by and robot.has_quasi_velocities)]  # q is not a vector there
        self.functions = {function.name: partial(self._evaluate, function) for function in covered}

    def _evaluate(self, function: OwnFunction, *given: Any) -> Any:
        """The outputs, in order: of one output its value."""
        if function.by:
            return self._derivatives(function, given)
        names = (*function.state, *function.inputs)
        environment: dict[sympy.Symbol, Any] = {}
        symbols = Symbols(self.robot)
        for name, values in zip(names, given, strict=True):
            flat = [self.context.mpf(value) for value in np.ravel(values)]
            known = list(getattr(symbols, name)) if name in STATE else [
                sympy.Symbol(f"{name}[{k}]", real=True) for k in range(len(flat))
            ]  # fmt: skip
            environment |= dict(zip(known, flat, strict=True))
        calls: dict[Any, Any] = {}
        results = []
        for block in function.outputs.values():
            values = [self._value(element, environment, calls) for element in block.elements]
            results.append(np.array(values, dtype=object).reshape(block.shape))
        return results[0] if len(results) == 1 else tuple(results)

    def _value(self, expression: sympy.Expr, environment: dict[sympy.Symbol, Any], calls: dict[Any, Any]) -> Any:
        """An expression's value; the outermost calls in it are replaced by theirs."""
        known = dict(environment)
        replaced: dict[Any, sympy.Dummy] = {}
        for call in _outermost(expression):
            replaced[call] = sympy.Dummy(real=True)
            known[replaced[call]] = self._call(call, environment, calls)
        plain = expression.xreplace(replaced)
        symbols = sorted((s for s in plain.free_symbols if s in known), key=str)
        return self.context.mpf(self.numbers.function(symbols, plain)(*(known[s] for s in symbols)))

    def _call(self, call: AppliedUndef, environment: dict[sympy.Symbol, Any], calls: dict[Any, Any]) -> Any:
        name, output, element = call.func.__name__.split(".")
        arguments = tuple(self._value(argument, environment, calls) for argument in call.args)
        key = (name, output if name == SOLVE else "", arguments)
        if key not in calls:
            calls[key] = self._solved(int(output), arguments) if name == SOLVE else self._called(name, arguments)
        return calls[key][int(element)] if name == SOLVE else calls[key][int(output)][int(element)]

    def _solved(self, n: int, arguments: tuple[Any, ...]) -> list[Any]:
        """x of A x = b from the lower triangle of A and b."""
        rows = iter(arguments)
        A = self.context.zeros(n)
        for r in range(n):
            for c in range(r + 1):
                A[r, c] = A[c, r] = next(rows)
        return list(self.context.lu_solve(A, self.context.matrix(list(rows))))

    def _called(self, name: str, arguments: tuple[Any, ...]) -> list[list[Any]]:
        """The outputs of a function of the catalogue, each in a flat list."""
        if name not in self._programs:
            (self._programs[name],) = derive_model(self.robot, (name,)).functions
        function, start = self._programs[name], 0
        given: dict[str, Any] = {}
        for argument in function.inputs:
            given[argument.name] = np.array(arguments[start : start + argument.size], dtype=object)
            start += argument.size
        if name in self._catalogue:
            return [list(np.ravel(self._catalogue[name](*given.values())))]
        if function.selectors:
            given[INDICATORS] = indicators_at(function.selectors, [float(value) for value in given["q"]])
        return [list(np.ravel(values)) for values in many_digits.evaluate(function.program, given, self._parameters).values()]

    def _derivatives(self, function: OwnFunction, given: tuple[Any, ...]) -> Any:
        """Of its outputs by some of its inputs, by central differences."""
        of = next(own for own in self.robot.functions if own.name == function.of)
        names = (*of.state, *of.inputs)
        step = self.context.mpf(10) ** (-self.context.dps // 3)
        exact = [np.array([self.context.mpf(v) for v in np.ravel(values)], dtype=object) for values in given]
        found = []
        for number in range(len(of.outputs)):
            for by in function.by:
                place, columns = names.index(by), []
                for k in range(len(exact[place])):
                    ends = []
                    for sign in (1, -1):
                        moved = [values.copy() for values in exact]
                        moved[place][k] += sign * step
                        results = self._evaluate(of, *moved)
                        ends.append(np.ravel(results[number] if len(of.outputs) > 1 else results))
                    columns.append((ends[0] - ends[1]) / (2 * step))
                found.append(np.array(columns, dtype=object).T)
        return found[0] if len(found) == 1 else tuple(found)


def _outermost(expression: sympy.Basic) -> list[AppliedUndef]:
    """The calls in an expression that are not arguments of others."""
    found: dict[AppliedUndef, None] = {}
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, AppliedUndef):
            found[node] = None
        else:
            stack.extend(node.args)
    return list(found)
