"""C in single precision: what is written in double, with every type, literal and function of libm as float.

The integrators and the passage between elements are written once, in double. A controller that computes in float has no
use for doubles there: on a Cortex-M4F they are done in software.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\])*")|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)|(?P<integer>\d\w*)|(?P<other>.)""",
    re.S,
)
_WORDS = {
    "double": "float",
    "DBL_MAX": "FLT_MAX",
    "DBL_EPSILON": "FLT_EPSILON",
    "DBL_MIN": "FLT_MIN",
    "HUGE_VAL": "HUGE_VALF",
} | {name: f"{name}f" for name in ("ceil", "fabs", "floor", "fmax", "fmin", "pow", "sqrt")}


def in_single_precision(text: str) -> str:
    """The same C with float for double; comments that say double say float."""

    def replaced(token: re.Match[str]) -> str:
        found = token.group()
        if token.lastgroup == "comment":
            return re.sub(r"\bdouble\b", "float", found)
        if token.lastgroup == "word":
            return _WORDS.get(found, found)
        return f"{found}F" if token.lastgroup == "number" else found

    return _TOKEN.sub(replaced, text)
