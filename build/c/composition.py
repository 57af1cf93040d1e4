"""Bodies of functions that call other functions of the model: see generator/functions/composed/composition.py."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.build.c.dialect import Dialect, size_text
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.generator.functions.composed.composition import PARTS
from elastogen.generator.functions.function import Function


def composed_lines(function: Function, dialect: Dialect) -> tuple[str, ...]:
    """Return the body of a function that is composed of others."""
    text = _Text(function, dialect)
    lines = text.solved() if function.name == "forward_dynamics" else text.weighted()
    return tuple(INDENT + line if line else line for line in lines)


class _Text:
    def __init__(self, function: Function, dialect: Dialect) -> None:
        assert function.composition is not None
        self.function, self.dialect, self.composition = function, dialect, function.composition
        (self.result,) = function.outputs
        self.size = size_text(self.result, dialect)
        self.zero, self.real = literal(0.0, dialect.real), dialect.real_type

    def _call(self, name: str, arguments: Sequence[str]) -> str:
        return f"{self.dialect.prefix}_{name}({', '.join(('p', *arguments))});"

    def _part(self, name: str, result: str) -> str:
        """Call a function of the model with the inputs of this one."""
        return self._call(name, [*(argument.name for argument in self.composition.functions[name].inputs), result])

    def weighted(self) -> list[str]:
        """Call Newton-Euler with or without weight, and add the parts."""
        full = self.function.name == "inverse_dynamics"
        weight = literal(1.0 if full else 0.0, self.dialect.real)
        name, F = self.composition.newton_euler.name, self.result.name
        lines = [f"const {self.real} weight[1] = {{{weight}}};", self._call(name, ("q", "qd", "qdd", "weight", F))]
        if not full:
            return lines
        lines.insert(0, f"{self.real} R[{self.size}];")
        for part in PARTS[self.function.name][1:]:
            lines += [self._part(part, "R"), f"for (int i = 0; i < {self.size}; ++i) {{ {F}[i] += R[i]; }}"]
        return lines

    def solved(self) -> list[str]:
        """Solve M qdd = F - inverse_dynamics(q, qd, 0) by elimination in the upper half of M, which is positive definite."""
        n, x, inner = self.size, self.result.name, INDENT
        one = literal(1.0, self.dialect.real)
        return [
            f"const {self.real} rest[{n}] = {{{self.zero}}};",
            f"{self.real} M[{n} * {n}];",
            f"{self.real} inverse[{n}];",
            "int status = 0;",
            self._call("inverse_dynamics", ("q", "qd", "rest", x)),
            self._call("mass_matrix", ("q", "M")),
            f"for (int i = 0; i < {n}; ++i) {{ {x}[i] = F[i] - {x}[i]; }}",
            f"for (int k = 0; k < {n}; ++k) {{",
            f"{inner}const {self.real} *row = &M[k * {n}];",
            f"{inner}if (!(row[k] > {self.zero})) {{ status = {self.dialect.failure}; }}",
            f"{inner}inverse[k] = {one} / row[k];",
            f"{inner}{x}[k] *= inverse[k];",
            f"{inner}for (int i = k + 1; i < {n}; ++i) {{",
            f"{2 * inner}const {self.real} share = row[i] * inverse[k];",
            f"{2 * inner}for (int j = i; j < {n}; ++j) {{ M[(i * {n}) + j] -= share * row[j]; }}",
            f"{2 * inner}{x}[i] -= row[i] * {x}[k];",
            f"{inner}}}",
            "}",
            f"for (int k = {n} - 1; k > 0; --k) {{",
            f"{inner}for (int j = 0; j < k; ++j) {{ {x}[j] -= M[(j * {n}) + k] * inverse[j] * {x}[k]; }}",
            "}",
            "if (status != 0) {",
            f"{inner}for (int i = 0; i < {n}; ++i) {{ {x}[i] = {self.zero}; }}",
            "}",
            "return status;",
        ]
