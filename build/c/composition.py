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
    lines = {"forward_dynamics": text.solved, "coriolis_vector": text.at_rest}.get(function.name, text.weighted)()
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

    def at_rest(self) -> list[str]:
        """Compute C qd as the inertia forces without accelerations."""
        rest = f"const {self.real} qdd[{self.size}] = {{{self.zero}}};"
        return [rest, self._call("inertia_forces", ("q", "qd", "qdd", self.result.name))]

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
        """Solve M qdd = F - inverse_dynamics(q, qd, 0) by elimination without pivoting; M is positive definite."""
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
            f"for (int i = 0; i < {n}; ++i) {{ /* row by row: whole ones, of which vectors are made */",
            f"{inner}{self.real} row[{n}];",
            f"{inner}for (int j = 0; j < {n}; ++j) {{ row[j] = M[(i * {n}) + j]; }}",
            f"{inner}for (int k = 0; k < i; ++k) {{",
            f"{2 * inner}const {self.real} share = M[(k * {n}) + i] * inverse[k];",
            f"{2 * inner}for (int j = 0; j < {n}; ++j) {{ row[j] -= share * M[(k * {n}) + j]; }}",
            f"{2 * inner}{x}[i] -= share * {x}[k];",
            f"{inner}}}",
            f"{inner}if (!(row[i] > {self.zero})) {{ status = {self.dialect.failure}; }}",
            f"{inner}inverse[i] = {one} / row[i];",
            f"{inner}for (int j = 0; j < {n}; ++j) {{ M[(i * {n}) + j] = row[j]; }}",
            "}",
            f"for (int k = {n} - 1; k >= 0; --k) {{",
            f"{inner}{x}[k] *= inverse[k];",
            f"{inner}for (int j = 0; j < k; ++j) {{ {x}[j] -= M[(j * {n}) + k] * {x}[k]; }}",
            "}",
            "if (status != 0) {",
            f"{inner}for (int i = 0; i < {n}; ++i) {{ {x}[i] = {self.zero}; }}",
            "}",
            "return status;",
        ]
