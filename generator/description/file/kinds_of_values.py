"""What a value of the wrong kind should have been, in words of robot files: for errors that pydantic finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from elastogen.generator.robot.location import did_you_mean

SCHEMA = "see the published JSON schema of robot files"
_KINDS = {  # how pydantic's names of errors begin -> expected, fix
    "string_pattern_mismatch": ("a letter or _, then letters, digits and _ . -", "rename it, for example left_hip"),
    "string_too_long": ("at most {max_length} characters", "shorten it"),
    "string": ("a text", "put it in quotes"),
    "int": ("a whole number", "for example 3"),
    "bool": ("true or false", "write true or false without quotes"),
    "greater_than_equal": ("{ge} or more", "raise it"),
    "less_than_equal": ("{le} or less", "lower it"),
    "too_long": ("at most {max_length} entries", "remove some"),
    "too_short": ("at least {min_length} entries", "add some"),
    "tuple": ("a list", "write [a, b, c], or one `- ` line for each"),
    "list": ("a list", "write [a, b, c], or one `- ` line for each"),
    "dict": ("a mapping", "write `key: value` lines"),
    "model": ("a mapping", "write `key: value` lines"),
}


def in_our_words(kind: str, context: Mapping[str, Any], given: Any) -> tuple[str, str]:
    """What was expected, and the fix, for an error of pydantic of this kind."""
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        if words:
            return f"one of {', '.join(words)}", did_you_mean(str(given), words, "choose one of them")
        return str(context.get("expected", "another value")), SCHEMA
    for beginning, (expected, fix) in _KINDS.items():
        if kind.startswith(beginning):
            return expected.format(**context) if "{" in expected else expected, fix
    return "another kind of value", SCHEMA
