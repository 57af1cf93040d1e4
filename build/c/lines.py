"""Wraps long lines of C."""

from __future__ import annotations

import re
import textwrap

WIDTH = 110
INDENT = "    "
_OPERATOR = re.compile(r" ([-+*/]|&&) ")


def wrapped(line: str, indent: str = INDENT) -> list[str]:
    """Break a statement before operators into as many lines as it needs."""
    if len(indent) + len(line) <= WIDTH:
        return [indent + line]
    glued = _OPERATOR.sub(" \\1\u00a0", line)  # textwrap does not break at such a space
    pieces = textwrap.wrap(
        glued, WIDTH, initial_indent=indent, subsequent_indent=indent + 2 * INDENT,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [piece.replace("\u00a0", " ") for piece in pieces]
