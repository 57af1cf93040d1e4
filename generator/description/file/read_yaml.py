"""Safe reading of a YAML robot file: plain values, duplicate keys refused, aliases limited, line numbers."""

from __future__ import annotations

from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from elastogen.generator.robot.location import Location

MAX_VALUES = 200_000  # keys and values of a file, counting each use of an alias
MAX_DEPTH = 20


def read_yaml(text: str, where: Location) -> Any:
    """Return the plain lists, dicts, numbers and strings of a YAML text."""
    try:
        constructor, _ = YAML(typ="safe", pure=True).get_constructor_parser(StringIO(text))
        root = constructor.composer.get_single_node()
        if root is None:
            return None
        _limit(root, where)
        return constructor.construct_document(root)
    except DuplicateKeyError as problem:
        raise _at(where, problem).error(str(problem.problem), "every key once per mapping", "remove one of them") from None
    except MarkedYAMLError as problem:
        raise _at(where, problem).error(
            str(problem.problem or problem.context),
            "YAML 1.2",
            "check indentation, brackets and quotes near that line",
        ) from None
    except RecursionError:
        raise where.error("nested lists or mappings", f"at most {MAX_DEPTH} levels", "flatten the file") from None
    except (YAMLError, ValueError, OverflowError, TypeError) as problem:
        raise where.error(str(problem).splitlines()[0] if str(problem) else "", "YAML 1.2 with plain values") from None


def _composed(text: str) -> Node | None:
    root = YAML(typ="safe", pure=True).compose(text)
    return root if isinstance(root, Node) else None


def _at(where: Location, problem: MarkedYAMLError) -> Location:
    mark = problem.problem_mark or problem.context_mark
    return where if mark is None else Location(f"{where.source}:{mark.line + 1}", where.field)


def _children(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def _limit(root: Node, where: Location) -> None:
    """Refuse files that unfold to more than they show: aliases of aliases, or of themselves."""
    sizes: dict[int, int] = {}
    active: set[int] = set()

    def size(node: Node, depth: int) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        if id(node) in active:
            raise where.error("an alias inside its own anchor", "values without themselves", "remove the alias")
        if depth > MAX_DEPTH:
            raise where.error("nested lists or mappings", f"at most {MAX_DEPTH} levels", "flatten the file")
        active.add(id(node))
        total = 1 + sum(size(child, depth + 1) for child in _children(node))
        active.remove(id(node))
        sizes[id(node)] = total
        return total

    total = size(root, 0)
    if total > MAX_VALUES:
        raise where.error(f"{total} values", f"at most {MAX_VALUES} values, aliases counted", "remove aliases of aliases")


def line_of(text: str, field: str) -> int | None:
    """Return the line of a field such as ``joints.elbow.axis`` or ``joints[1].axis``, or of what holds it."""
    try:
        node = _composed(text)
    except (YAMLError, RecursionError, ValueError):
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
