"""C text about the elements inside sliding joints: how they are found, and functions for given elements."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.build.c.names import comment_text
from elastogen.generator.functions.function import Function, Signature
from elastogen.generator.joints.on_beams.selector import Selector, Threshold
from elastogen.generator.sliding.elements_inside import INDICATORS, indicated


def out_of_range(dialect: Dialect) -> str:
    """Return the status of a function at a state in which a joint is beyond the end of its beam."""
    return f"{dialect.prefix.upper()}_ERROR_OUT_OF_RANGE"


def selector_doc(selector: Selector) -> str:
    """Return the line of the header about one sliding joint."""
    numbers = sorted(selector.elements)
    low = "<" if selector.positive else "<="
    many = f"element {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"always {numbers[0]}"
    return f"{comment_text(selector.joint)}: {many}, 0 {low} q[{selector.coordinate}] <= {selector.upper:.9g} m"


def selection_lines(selectors: Sequence[Selector], dialect: Dialect) -> tuple[str, ...]:
    """Return the body of the function that finds the elements k."""
    zero = literal(0.0, dialect.real)
    tests = []
    for selector in selectors:
        d = f"q[{selector.coordinate}]"
        tests.append(f"({d} {'>' if selector.positive else '>='} {zero}) && ({d} <= {literal(selector.upper, dialect.real)})")
    lines = ["int status = 0;"]
    for position, selector in enumerate(selectors):
        terms = [_test(threshold, dialect.real) for threshold in selector.thresholds]
        if not terms:
            lines.append(f"k[{position}] = {selector.first};")
            continue
        lines.append(f"k[{position}] = {selector.first} {'+' if selector.step > 0 else '-'} ({terms[0]}")
        lines += [f"{INDENT}+ {term}" for term in terms[1:]]
        lines[-1] += ");"
    for position, test in enumerate(tests):
        lines += [f"if (!({test})) {{ /* a NaN is out of range as well */"]
        lines += [f"{INDENT}k[{position}] = -1;", f"{INDENT}status = {out_of_range(dialect)};", "}"]
    lines.append("return status;")
    return tuple(INDENT + line for line in lines)


def _test(threshold: Threshold, real: str) -> str:
    terms = [f"q[{index}]" if weight == 1.0 else f"({literal(weight, real)} * q[{index}])" for index, weight in threshold.terms]
    left = terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"
    return f"({left} > {literal(threshold.bound, real)})"


def indicator_lines(selectors: Sequence[Selector], dialect: Dialect) -> tuple[str, ...]:
    """Return the body of the function that sets the indicators of the elements k."""
    zero, one = literal(0.0, dialect.real), literal(1.0, dialect.real)
    lines = ["int status = 0;", f"for (int i = 0; i < {len(indicated(selectors))}; ++i) {{"]
    lines += [f"{INDENT}{INDICATORS}[i] = {zero};", "}"]
    start = 0
    for position, selector in enumerate(selectors):
        least, most = min(selector.elements), max(selector.elements)
        if least == most:
            continue
        place = f"{start} + k[{position}]" if least == 0 else f"{start} + k[{position}] - {least}"
        lines += [f"if ((k[{position}] >= {least}) && (k[{position}] <= {most})) {{"]
        lines += [f"{INDENT}{INDICATORS}[{place}] = {one};", "} else {", f"{INDENT}status = {out_of_range(dialect)};", "}"]
        start += len(selector.elements)
    lines.append("return status;")
    return tuple(INDENT + line for line in lines)


def held_name(function: Function) -> str:
    """Return the name of the static function that computes with given indicators."""
    return f"{function.name}_held"


def in_name(function: Signature) -> str:
    """Return the name of the function for given elements."""
    return f"{function.name}_in"


def _names(function: Function) -> list[str]:
    return [argument.name for argument in (*function.inputs, *function.outputs)]


def in_lines(function: Function, dialect: Dialect) -> tuple[str, ...]:
    """Return the body of the function for given elements k."""
    program = function.program
    arguments = [a.name for a in (*program.inputs, *function.outputs)]
    call = f"{dialect.prefix}_{held_name(function)}({', '.join(['p', *arguments])});"
    if all(argument.name != INDICATORS for argument in program.inputs):
        lines = ["(void)k;", f"return {call}"] if program.pivots else ["(void)k;", call, "return 0;"]
        return tuple(INDENT + line for line in lines)
    size = next(argument.size for argument in program.inputs if argument.name == INDICATORS)
    lines = [
        f"{dialect.real_type} {INDICATORS}[{size}];",
        f"int status = {dialect.prefix}_{INDICATORS}(k, {INDICATORS});",
        "if (status == 0) {",
        f"{INDENT}status = {call}" if program.pivots else f"{INDENT}{call}",
        "} else {",
        *_zeros(function, dialect),
        "}",
        "return status;",
    ]
    return tuple(INDENT + line for line in lines)


def chosen_lines(function: Function, dialect: Dialect) -> tuple[str, ...]:
    """Return the body of the function that finds the elements from q; all outputs are zero if a joint is out of range."""
    lines = [
        f"int k[{len(function.selectors)}];",
        f"int status = {dialect.prefix}_elements(p, q, k);",
        "if (status == 0) {",
        f"{INDENT}status = {dialect.prefix}_{in_name(function)}({', '.join(['p', 'k', *_names(function)])});",
        "} else {",
        *_zeros(function, dialect),
        "}",
        "return status;",
    ]
    return tuple(INDENT + line for line in lines)


def _zeros(function: Function, dialect: Dialect) -> list[str]:
    zero = literal(0.0, dialect.real)
    lines = []
    for argument in function.outputs:
        lines.append(f"{INDENT}for (int i = 0; i < {argument.size}; ++i) {{")
        lines += [f"{2 * INDENT}{argument.name}[i] = {zero};", f"{INDENT}}}"]
    return lines
