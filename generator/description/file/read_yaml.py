"""Safe reading of a YAML robot file: plain values, duplicate keys refused, aliases limited, line numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location

MAX_VALUES = 200_000  # keys and values of a file, counting each use of an alias
MAX_DEPTH = 20
HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")  # a surrogate without its other half, which no encoding has
_WHOLE = re.compile(r"[-+]?\d+")
_FIXES = {  # what the reader's message holds -> what to do
    "mapping values are not allowed": "put values that contain a colon into quotes",
    "could not find expected ':'": "write `key: value`, with the same indentation as the lines around it",
    "cannot start any token": "indent with spaces, not tabs, and put values that begin with a special character into quotes",
    "while parsing a flow": "close the bracket",
    "expected ',' or": "close the bracket, or put commas between the values",
    "while scanning a quoted": "close the quotes",
    "construct": "remove the tag",
    "undefined alias": "define the anchor before its alias",
    "single document": "keep one robot in a file",
    "special characters are not allowed": "remove the control character",
}


def read_yaml(text: str, where: Location) -> Any:
    """Return the plain lists, dicts, numbers and strings of a YAML text."""
    try:
        reader, root = _composed(text)
        if root is None:
            return None
        _limit(root, where)
        return reader.constructor.construct_document(root)
    except RobotError:
        raise
    except DuplicateKeyError as problem:
        raise _at(where, problem).error(_line(text, problem), "every key once per mapping", "remove one of them") from None
    except MarkedYAMLError as problem:
        words = f"{problem.context} {problem.problem}"
        fix = next(
            (fix for key, fix in _FIXES.items() if key in words), "check indentation, brackets and quotes near that line"
        )
        raise _at(where, problem).error(_line(text, problem), "YAML 1.2", fix) from None
    except RecursionError:
        raise where.error("nested lists or mappings", f"at most {MAX_DEPTH} levels", "flatten the file") from None
    except Exception:  # the reader raises whatever it meets: on odd tags, directives, dates, numbers
        fix = "remove tags, directives and special characters; write numbers and texts plainly"
        raise where.error("a file that cannot be read", "YAML 1.2 with plain values", fix) from None


def _line(text: str, problem: MarkedYAMLError) -> str:
    """The line that a problem is in, as the user wrote it."""
    mark = problem.problem_mark or problem.context_mark
    lines = text.splitlines()
    return lines[mark.line].strip() if mark is not None and mark.line < len(lines) else "the end of the file"


@lru_cache(maxsize=1)  # a file that is refused is looked into again, for the line of the mistake
def _composed(text: str) -> tuple[YAML, Node | None]:
    """The nodes of a text, and the reader that knows its directives."""
    reader = YAML(typ="safe", pure=True)
    root = reader.compose(text)
    return reader, root if isinstance(root, Node) else None


def _at(where: Location, problem: MarkedYAMLError) -> Location:
    mark = problem.problem_mark or problem.context_mark
    return where if mark is None else Location(f"{where.source}:{mark.line + 1}", where.field)


def _children(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def _limit(root: Node, where: Location) -> None:
    """Refuse files that unfold to more than they show, aliases of aliases or of themselves, and halves of characters."""
    sizes: dict[int, int] = {}
    active: set[int] = set()

    def size(node: Node, depth: int) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        if id(node) in active:
            raise where.error("an alias inside its own anchor", "values without themselves", "remove the alias")
        if depth > MAX_DEPTH:
            raise where.error("nested lists or mappings", f"at most {MAX_DEPTH} levels", "flatten the file")
        if isinstance(node, ScalarNode) and (half := HALF_A_CHARACTER.search(node.value)):
            line = Location(f"{where.source}:{node.start_mark.line + 1}", where.field)
            raise line.error(half[0], "whole characters: this is half of one", "remove the escape, or write the character")
        if isinstance(node, MappingNode):
            _refuse_decimal_commas(node, where)
        active.add(id(node))
        total = 1 + sum(size(child, depth + 1) for child in _children(node))
        active.remove(id(node))
        sizes[id(node)] = total
        return total

    total = size(root, 0)
    if total > MAX_VALUES:
        raise where.error(f"{total} values", f"at most {MAX_VALUES} values, aliases counted", "remove aliases of aliases")


def _refuse_decimal_commas(node: MappingNode, where: Location) -> None:
    """Inside braces, ``mass: 2,5`` is the mass 2 and a key 5 without a value: say what was meant."""
    for (key, value), (digits, nothing) in pairwise(node.value):
        plain = all(isinstance(part, ScalarNode) and not part.style for part in (key, value, digits, nothing))
        if plain and not nothing.value and digits.value.isdecimal() and _WHOLE.fullmatch(value.value):
            line = Location(f"{where.source}:{digits.start_mark.line + 1}", where.field).at(str(key.value))
            written = f"{value.value}.{digits.value}"
            raise line.error(f"{value.value},{digits.value}", "a number with a decimal point", f"write {key.value}: {written}")


def line_of(text: str, field: str) -> int | None:
    """Return the line of a field such as ``joints.elbow.axis`` or ``joints[1].axis``, or of what holds it."""
    try:
        _, node = _composed(text)
    except Exception:  # as above; then the error names the field without its line
        return None
    line = None
    while node is not None and field:
        step = _step(node, field)
        if step is None:
            break
        node, key, field = step
        line = key.start_mark.line + 1
    return line


def _step(node: Node, field: str) -> tuple[Node, Node, str] | None:
    """Return the value and the key node that the field's first part names, and the rest of the field."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            rest = _without(field, str(key.value))
            if rest is not None:
                return value, key, rest
    if isinstance(node, SequenceNode):
        for i, item in enumerate(node.value):
            for label in (f"[{i}]", _item_name(item)):
                rest = _without(field, label) if label else None
                if rest is not None:
                    return item, item, rest
    return None


def _without(field: str, label: str) -> str | None:
    if field == label:
        return ""
    if field.startswith((label + ".", label + "[")):
        return field[len(label) :].removeprefix(".")
    return None


def _item_name(item: Node) -> str:
    if isinstance(item, MappingNode):
        for key, value in item.value:
            if key.value == "name" and isinstance(value, ScalarNode):
                return str(value.value)
    return ""
