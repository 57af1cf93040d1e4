"""How large and how deep an expression may be: asked before SymPy walks over it, which recurses."""

from __future__ import annotations

import sympy

DEEPEST = 150  # nesting of an expression
MOST_OPERATIONS = 100_000  # in one expression, repeated parts counted once


def excess(expression: sympy.Basic) -> str:
    """What is too much of an expression, or nothing; without recursion, and each part once."""
    depth: dict[sympy.Basic, int] = {}
    stack: list[tuple[sympy.Basic, bool]] = [(expression, False)]
    while stack:
        node, ready = stack.pop()
        if node in depth:
            continue
        if ready:
            depth[node] = 1 + max((depth[part] for part in node.args), default=0)
            if depth[node] > DEEPEST:  # beyond, comparing parts would recurse too deep as well
                return f"it is nested more than {DEEPEST} deep; name parts of it"
        elif len(depth) + len(stack) > 2 * MOST_OPERATIONS:
            return f"it has more than {MOST_OPERATIONS} operations; name parts of it"
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in node.args)
    return ""
