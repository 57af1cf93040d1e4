"""C as a sequence of tokens: comments, strings, words, numbers, and what is between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)|(?P<integer>\d\w*)|(?P<other>.)""",
    re.DOTALL,
)


class Token(NamedTuple):
    """A piece of C."""

    kind: str  # comment, text, word, number (of floating point, without a suffix), integer, other
    text: str


def tokens(text: str) -> Iterator[Token]:
    """The pieces of a C file in their order; joined they are the file."""
    for found in _TOKEN.finditer(text):
        yield Token(str(found.lastgroup), found.group())
