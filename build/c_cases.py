"""C text that chooses among the cases of a function: which element is inside each sliding joint."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.build.c_body import INDENT, Dialect
from elastogen.build.c_expression import literal
from elastogen.build.c_names import comment_text
from elastogen.generator.element_cases import Selector, Threshold
from elastogen.generator.program import Function, OperationCount, Program


def out_of_range(dialect: Dialect) -> str:
    """The status of a function at a state in which a joint is beyond the end of its beam."""
    return f"{dialect.prefix.upper()}_ERROR_OUT_OF_RANGE"


def selector_doc(selector: Selector) -> str:
    """A line of the header on one sliding joint."""
    numbers = sorted(selector.elements)
    low = "<" if selector.positive else "<="
    many = f"element {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "no elements"
    return f"{comment_text(selector.joint)}: {many}, 0 {low} q[{selector.coordinate}] <= {selector.upper:.9g} m"


def selection_lines(selectors: Sequence[Selector], dialect: Dialect) -> tuple[str, ...]:
    """Body of the function that finds the elements k and the number of their combination, -1 out of range."""
    zero = literal(0.0, dialect.real)
    lines = ["int number = 0;", f"int count[{len(selectors)}];"]
    tests = []
    for selector in selectors:
        d = f"q[{selector.coordinate}]"
        tests.append(f"({d} {'>' if selector.positive else '>='} {zero}) && ({d} <= {literal(selector.upper, dialect.real)})")
    for position, selector in enumerate(selectors):
        terms = [_test(threshold, dialect.real) for threshold in selector.thresholds] or ["0"]
        lines.append(f"count[{position}] = {terms[0]}")
        lines += [f"{INDENT}+ {term}" for term in terms[1:]]
        lines[-1] += ";"
    lines += ["if (!(" + f"\n{2 * INDENT}&& ".join(tests) + ")) { /* a NaN is out of range as well */"]
    lines += [f"{INDENT}number = -1;", "}"]
    for position, selector in enumerate(selectors):
        sign = "+" if selector.step > 0 else "-"
        lines.append(f"k[{position}] = (number < 0) ? -1 : {selector.first} {sign} count[{position}];")
        size = len(selector.elements)
        lines.append(f"number = (number < 0) ? -1 : (number * {size}) + count[{position}];")
    lines.append("return number;")
    return tuple(INDENT + line for text in lines for line in text.split("\n"))


def _test(threshold: Threshold, real: str) -> str:
    terms = [
        f"q[{index}]" if weight == 1.0 else f"({literal(weight, real)} * q[{index}])" for index, weight in threshold.terms
    ]
    left = terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"
    return f"({left} > {literal(threshold.bound, real)})"


def dispatcher_lines(function: Function, dialect: Dialect) -> tuple[str, ...]:
    """Body of a function with cases: the case of the state, or all outputs zero and a status."""
    program = function.program
    arguments = ", ".join(["p", *(a.name for a in program.inputs), *(a.name for a, _ in program.outputs)])
    lines = [f"int k[{len(function.selectors)}];", f"int status = {out_of_range(dialect)};", ""]
    lines.append(f"switch ({dialect.prefix}_element_case(q, k)) {{")
    for number, case in distinct_cases(function).items():
        call = f"{dialect.prefix}_{case_name(function, number)}({arguments});"
        lines += [f"case {k}:" for k, program in enumerate(function.cases) if program is case]
        lines += [f"{INDENT}status = {call}"] if case.pivots else [f"{INDENT}{call}", f"{INDENT}status = 0;"]
        lines.append(f"{INDENT}break;")
    lines.append("default:")
    zero = literal(0.0, dialect.real)
    for argument, _ in program.outputs:
        lines.append(f"{INDENT}for (int i = 0; i < {argument.size}; ++i) {{")
        lines += [f"{2 * INDENT}{argument.name}[i] = {zero};", f"{INDENT}}}"]
    lines += [f"{INDENT}break;", "}", "return status;"]
    return tuple(INDENT + line if line else "" for line in lines)


def distinct_cases(function: Function) -> dict[int, Program]:
    """The programs of the cases that are not the same as an earlier one, by the number of the first such case."""
    found: dict[int, Program] = {}
    for number, program in enumerate(function.cases):
        if all(program is not other for other in found.values()):
            found[number] = program
    return found


def case_name(function: Function, number: int) -> str:
    """Name of the static function of one case."""
    return f"{function.name}_case{number}"


def programs(function: Function) -> tuple[Program, ...]:
    """All programs of a function."""
    return function.cases or (function.program,)


def largest_count(function: Function) -> OperationCount:
    """Operations of the function's most expensive case."""
    return max((program.count for program in programs(function)), key=lambda count: count.cost)
