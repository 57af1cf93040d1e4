"""Errors that pydantic finds, in the words of robot files: where, what was given, what should have been, the fix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location, did_you_mean

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")  # names that can stand in a dotted path
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


def translated(problem: ValidationError, data: Any, where: Location) -> RobotError:
    """Return the first error of pydantic in the words of elastogen."""
    first = problem.errors(include_url=False)[0]
    here, value = where, data
    for step in first["loc"]:
        if isinstance(step, int):
            value = value[step] if isinstance(value, (list, tuple)) and step < len(value) else None
            label = value.get("name") if isinstance(value, Mapping) else None
            here = here.at(label if isinstance(label, str) and _LABEL.fullmatch(label) else step)
        elif isinstance(value, Mapping):
            value = value.get(step)
            here = here.at(step)
        else:
            here = here.at(str(step))
    context = first.get("ctx", {})
    if first["type"] == "robot_file":
        if "unknown_key" in context:
            return here.at(context["unknown_key"]).error(context["unknown_key"], context["expected"], context["fix"])
        if "at" in context:  # a key that is missing or wrong beside others
            given = value.get(context["at"]) if isinstance(value, Mapping) else None
            return here.at(context["at"]).error("nothing" if given is None else given, context["expected"], context["fix"])
        return here.error(first["input"], context["expected"], context["fix"])
    if first["type"] == "missing":
        return here.error("nothing", "this required key", f"add `{first['loc'][-1]}:`")
    expected, fix = in_our_words(first["type"], context, first["input"])
    return here.error(first["input"], expected, fix)
