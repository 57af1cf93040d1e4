"""The user's own functions evaluated by SymPy's lambdify, with the description's own values for calls of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.reference.quantities import Quantities
from elastogen.generator.robot.own.functions import OwnFunction
from elastogen.generator.robot.own.terms import Symbols

Array = npt.NDArray[np.float64]
Values = Callable[[Quantities], "list[Array]"]
SOLVE = "solve"


class UnknownValueError(Exception):
    """A call has no value in the description, or SymPy has no number for it."""


def own_values(function: OwnFunction, values_of: Callable[[str], Values | None],
               inputs: Mapping[str, tuple[str, ...]]) -> Values:  # fmt: skip
    """Values of all outputs; derivatives are not taken."""

    def values(of: Quantities) -> list[Array]:
        evaluation = _Evaluation(of, function, values_of, inputs)
        return [
            np.stack([evaluation(element) for element in block.elements], axis=-1).reshape(len(of.at("q")), *block.shape)
            for block in function.outputs.values()
        ]

    return values


class _Evaluation:
    """Of expressions at the states of a description."""

    def __init__(self, of: Quantities, function: OwnFunction, values_of: Callable[[str], Values | None],
                 inputs: Mapping[str, tuple[str, ...]]) -> None:  # fmt: skip
        self.of, self.values_of, self.inputs, self.count = of, values_of, inputs, len(of.at("q"))
        robot = of.of.robot
        symbols = Symbols(robot)
        self.known: dict[sympy.Expr, Any] = {p.symbol: p.value for p in robot.parameters.values()}
        for name in ("q", "qd", "qdd"):
            own = getattr(symbols, name)
            self.known |= {s: of.states[name][:, k] for k, s in enumerate(own)}
        for name, shape in function.inputs.items():
            flat = of.states[name].reshape(self.count, -1)
            self.known |= {sympy.Symbol(f"{name}[{k}]", real=True): flat[:, k] for k in range(int(sympy.prod(shape)))}
        self._calls: dict[tuple[str, tuple[sympy.Expr, ...]], list[Array]] = {}

    def __call__(self, expression: sympy.Expr) -> Array:
        calls = {call: sympy.Dummy(real=True) for call in _outermost(expression)}
        plain = expression.xreplace(calls)
        values: dict[sympy.Expr, Any] = {dummy: self._called(call) for call, dummy in calls.items()}
        used = sorted(plain.free_symbols, key=str)
        try:
            given = [values[s] if s in values else self.known[s] for s in used]
            found = sympy.lambdify(used, plain, modules=["scipy", "numpy"])(*given)
        except (KeyError, NameError, TypeError, NotImplementedError, AttributeError) as error:
            raise UnknownValueError(str(error)) from error
        return np.broadcast_to(np.asarray(found, dtype=float), (self.count,))

    def _called(self, call: AppliedUndef) -> Array:
        name, output, element = call.func.__name__.split(".")
        if name == SOLVE:
            return self._solved(int(output), call)[:, int(element)]
        if (name, call.args) not in self._calls:
            values = self.values_of(name)
            if values is None or name not in self.inputs:
                raise UnknownValueError(name)
            states = dict(self.of.states)
            numbers = [self(argument) for argument in call.args]
            for given in self.inputs[name]:
                shape = self._shape(given)
                size = int(np.prod(shape, dtype=int))
                states[given] = np.stack(numbers[:size], axis=-1).reshape(self.count, *shape)
                numbers = numbers[size:]
            found = values(self.of.elsewhere(states))
            self._calls[name, call.args] = [np.reshape(x, (self.count, -1)) for x in found]
        return self._calls[name, call.args][int(output)][:, int(element)]

    def _shape(self, name: str) -> tuple[int, ...]:
        if name in ("q", "q0", "q1", "u"):
            return (self.of.of.nq,)
        if name == "wrenches":
            return (len(self.of.of.robot.points), 6)
        return {"wrench": (6,), "delta_m": (), "delta_theta": (), "tau": ()}.get(name, (self.of.n,))

    def _solved(self, n: int, call: AppliedUndef) -> Array:
        numbers = [self(argument) for argument in call.args]
        A = np.zeros((self.count, n, n))
        for r in range(n):
            for c in range(r + 1):
                A[:, r, c] = A[:, c, r] = numbers[r * (r + 1) // 2 + c]
        right = np.stack(numbers[-n:], axis=-1)
        found: Array = np.linalg.solve(A, right[..., None])[..., 0].astype(np.float64)
        return found


def _outermost(expression: sympy.Expr) -> list[AppliedUndef]:
    """Calls that are not arguments of others."""
    if isinstance(expression, AppliedUndef):
        return [expression]
    return list(dict.fromkeys(call for argument in expression.args for call in _outermost(argument)))
