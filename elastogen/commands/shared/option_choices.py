"""Error messages in terms of the command line: keyword arguments of Python become options."""

from __future__ import annotations

import re
from collections.abc import Collection

_CALL = re.compile(r"load\(\.\.\., ([a-z_]+=[^)]*)\)")
_KEYWORD = re.compile(r"(?<![\w.\"'])([a-z_][a-z0-9_]*)=(True|False|'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\})?(?![=\w])")
_OTHER_NAMES = {"native=False": "--portable", "snap=False": "--no-snap"}


def as_options(message: str, options: Collection[str]) -> str:
    """Write ``force=True`` as ``--force`` and ``lock={'a': 1}`` as ``--lock a=1`` where such an option exists."""
    return _KEYWORD.sub(lambda match: _option(match, options), _CALL.sub(r"\1", message))


def _option(match: re.Match[str], options: Collection[str]) -> str:
    name, value = match.group(1), match.group(2) or ""
    if match.group(0) in _OTHER_NAMES and name in {*options, "native"}:
        return _OTHER_NAMES[match.group(0)]
    if name not in options or value == "False":
        return match.group(0)
    words = re.sub(r"[\[\]{}'\" ]", "", value.replace(":", "=") if value.startswith("{") else value)
    return f"--{name.replace('_', '-')}" + (f" {words}" if words and value != "True" else "")
