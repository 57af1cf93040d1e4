"""The safe language of expressions in robot files: Python's grammar, a whitelist, no evaluation.

Numbers, names, ``+ - * /``, powers, calls of known functions; where allowed also ``x if a < b else y`` and references such as
``q('elbow')``. Length and nesting are limited.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import sympy

MAX_DEPTH = 32  # nesting of one expression
MAX_EXPONENT = 8
MAX_POWER = 64  # of powers of powers
LARGEST_BETWEEN = sympy.Float("1e60")  # of intermediate results, and one over it the smallest

_COMPARISONS: dict[type[ast.cmpop], Callable[[sympy.Expr, sympy.Expr], sympy.Basic]] = {
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
}


class RejectedError(Exception):
    """An expression is not accepted: the expectation, and the fix."""

    def __init__(self, expected: str, fix: str = "") -> None:
        super().__init__(expected)
        self.expected, self.fix = expected, fix


@dataclass(frozen=True)
class Grammar:
    """The elements of an expression; ``text`` describes them in messages."""

    text: str
    name: Callable[[str], sympy.Expr]  # what a name stands for; raises RejectedError
    functions: Mapping[str, tuple[Callable[..., sympy.Expr], range]]  # with the numbers of arguments they take
    references: Mapping[str, Callable[..., sympy.Expr]] = field(default_factory=dict)  # calls whose arguments are names
    conditions: bool = False  # whether ``x if a < b else y`` is allowed
    any_power: bool = False  # whether exponents may be anything

    def parse(self, text: str) -> sympy.Expr:
        """The expression; raises RejectedError, and what Python's parser raises."""
        return self._walk(ast.parse(text.strip(), mode="eval").body, 0)

    def _walk(self, node: ast.expr, depth: int) -> sympy.Expr:
        if depth > MAX_DEPTH:
            raise RejectedError(f"an expression nested at most {MAX_DEPTH} deep", "split it with named parameters")
        if isinstance(node, ast.Constant):
            return _number(node.value)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            operand = self._walk(node.operand, depth + 1)
            return -operand if isinstance(node.op, ast.USub) else operand
        if isinstance(node, ast.BinOp):
            return self._binary(node, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._call(node.func.id, node.args, depth)
        if isinstance(node, ast.IfExp) and self.conditions:
            condition = self._condition(node.test, depth + 1)
            return sympy.Piecewise((self._walk(node.body, depth + 1), condition), (self._walk(node.orelse, depth + 1), True))
        raise RejectedError(self.text, "remove what is not arithmetic")

    def _call(self, name: str, arguments: list[ast.expr], depth: int) -> sympy.Expr:
        if name in self.references:
            return self.references[name](*(_word(argument, name) for argument in arguments))
        if name not in self.functions:
            raise RejectedError(self.text, f"{name} is not a function of this language")
        function, counts = self.functions[name]
        if len(arguments) not in counts:
            raise RejectedError(f"{name} of {'one argument' if counts[0] == 1 else f'{counts[0]} arguments'}")
        return function(*(self._walk(argument, depth + 1) for argument in arguments))

    def _condition(self, node: ast.expr, depth: int) -> sympy.Basic:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            left, right = self._walk(node.left, depth + 1), self._walk(node.comparators[0], depth + 1)
            return _COMPARISONS[type(node.ops[0])](left, right)
        if isinstance(node, ast.BoolOp):
            parts = [self._condition(value, depth + 1) for value in node.values]
            return sympy.And(*parts) if isinstance(node.op, ast.And) else sympy.Or(*parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return sympy.Not(self._condition(node.operand, depth + 1))
        raise RejectedError("a comparison by < <= > >=, joined by and, or, not", "write for example x if x > 0 else 0")

    def _binary(self, node: ast.BinOp, depth: int) -> sympy.Expr:
        result = self._operation(node, depth)
        if isinstance(result, sympy.Number) and result.is_finite and result != 0:
            if not 1 / LARGEST_BETWEEN < abs(result) < LARGEST_BETWEEN:
                raise RejectedError("intermediate results between 1e-60 and 1e60", "check the unit, or divide first")
        elif isinstance(result, sympy.Pow) and result.exp.is_number and not abs(result.exp) <= MAX_POWER:
            raise RejectedError(f"powers up to {MAX_POWER}", "simplify the expression")
        return result

    def _operation(self, node: ast.BinOp, depth: int) -> sympy.Expr:
        left = self._walk(node.left, depth + 1)
        right = self._walk(node.right, depth + 1)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        small = right.is_Integer and abs(int(right)) <= MAX_EXPONENT
        if isinstance(node.op, ast.Pow) and (small or (self.any_power and left.free_symbols)):
            return left**right
        raise RejectedError(self.text, f"use + - * / and integer powers up to {MAX_EXPONENT}")


def _word(node: ast.expr, function: str) -> str:
    """A name, with or without quotes."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise RejectedError(f"names in {function}(...)", f"write for example {function}('elbow')")


def _number(value: object) -> sympy.Expr:
    if type(value) is int and abs(value) < 10**15:
        return sympy.Integer(value)
    if type(value) in (int, float) and math.isfinite(value):  # type: ignore[arg-type]
        return sympy.Float(float(value))  # type: ignore[arg-type]
    raise RejectedError("finite numbers")
