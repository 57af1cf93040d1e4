"""Reading XML safely and by name: no DTD, no entities, limited size; attributes that are missing or wrong are named."""

from __future__ import annotations

import math
import re
from xml.etree.ElementTree import Element
from xml.parsers.expat.errors import XML_ERROR_UNBOUND_PREFIX, codes

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring  # before 0.7.1 its ParseError was one of its own

from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Vector

MAX_ELEMENTS = 200_000
MAX_DEPTH = 400
_UNBOUND = codes[XML_ERROR_UNBOUND_PREFIX]
_PREFIX = re.compile(r"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_]")
_COMMENT = r"<!--(?:[^-]|-(?!->))*-->"
_OUTERMOST = re.compile(rf"(?:\s|{_COMMENT}|<\?(?:[^?]|\?(?!>))*\?>)*<[A-Za-z_][\w.:-]*")
_STOPPED = re.compile(r"\s*([-+]?\d*\.\d+)\.\s*")
_UNEXPANDED = "this is xacro: write the numbers, or name the file .xacro and load it with allow_xacro=True (--allow-xacro)"
_LATE = re.compile(rf"(?:\s|{_COMMENT})+(<\?xml\s)")


def parsed(text: str, tag: str | None, where: Location) -> Element:
    """Return the outermost element, which must be called ``tag`` (None: anything)."""
    late = _LATE.match(text)
    if late:  # parsers of other tools do not mind
        where.warn("text before <?xml ...?>", "the declaration first: what is before it is left out", "move it up")
        text = text[late.end() - len(late[1]) :]
    if text.endswith("\0"):
        where.warn("NUL characters behind the last element", "nothing there: they are left out", "remove them")
        text = text.rstrip("\0")
    try:
        root = _with_prefixes(text, where)
    except DefusedXmlException as problem:
        raise where.error(
            type(problem).__name__,
            "XML without DTD and entities",
            "expand entities first; they are refused for safety",
        ) from None
    except ParseError as problem:
        line = problem.position[0]
        raise Location(f"{where.source}:{line}").error(str(problem), "well-formed XML", "correct it near that line") from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise where.error(str(problem), "well-formed XML in UTF-8", "correct the file") from None
    if tag is not None and root.tag != tag:
        known = {"robot": "a URDF, whose name ends in .urdf", "mujoco": "MJCF, .xml", "sdf": "SDF, .sdf"}
        raise where.error(f"<{root.tag}>", f"<{tag}> as the outermost element", f"is this {known.get(root.tag, 'a robot')}?")
    _check_size(root, where)
    return root


def _with_prefixes(text: str, where: Location) -> Element:
    """The outermost element; prefixes that the file does not declare are declared, as parsers without name spaces read it."""
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except ParseError as problem:
        if problem.code != _UNBOUND:
            raise
        open_ = set(_PREFIX.findall(text)) - set(re.findall(r"\sxmlns:([\w.-]+)\s*=", text)) - {"xml", "xmlns"}
        declared = "".join(f' xmlns:{prefix}="undeclared"' for prefix in sorted(open_))
        where.warn(f"prefixes without xmlns: {', '.join(sorted(open_))}", "declared name spaces", "declare them")
        root = fromstring(_OUTERMOST.sub(lambda tag: tag[0] + declared, text, count=1), forbid_dtd=True)
    return root


def _check_size(root: Element, where: Location) -> None:
    """Refuse too many elements, and elements too deep in each other: readers walk down by recursion."""
    stack, count = [(root, 1)], 0
    while stack:
        element, depth = stack.pop()
        count += 1
        if count > MAX_ELEMENTS:
            raise where.error("more elements", f"at most {MAX_ELEMENTS} XML elements", "is this a robot description?")
        if depth > MAX_DEPTH:
            raise where.error("deeper nesting", f"at most {MAX_DEPTH} XML elements inside each other", "is this a robot?")
        stack.extend((child, depth + 1) for child in element)


def only(element: Element, tag: str, where: Location) -> Element | None:
    """The one element of that name inside, if there is one."""
    found = element.findall(tag)
    if len(found) > 1:
        raise where.at(tag).error(f"{len(found)} <{tag}> elements", "at most one", "remove the others")
    return found[0] if found else None


def first(element: Element, tag: str, where: Location) -> Element | None:
    """The first element of that name inside, as other readers of URDF take it; a warning where there are more."""
    found = element.findall(tag)
    if len(found) > 1:
        where.at(tag).warn(f"{len(found)} <{tag}> elements", "one: the first is taken", "remove the others")
    return found[0] if found else None


def attribute(element: Element, key: str, where: Location) -> str:
    """A text that must be there."""
    value = element.get(key)
    if not value:
        raise where.at(key).error(value, f"an attribute {key}='...' of <{element.tag}>", "add it")
    return value


def optional(element: Element, key: str, where: Location) -> float | None:
    """A number that may be there."""
    return None if element.get(key) is None else float(number(element, key, where))


def number(element: Element, key: str, where: Location, default: float | None = None) -> int | float:
    """A number that must be there, or has a default."""
    text = element.get(key)
    if text is None:
        if default is None:
            raise where.at(key).error("nothing", f"an attribute {key}='...' of <{element.tag}>", "add it")
        return int(default)
    return parsed_number(text, where.at(key))


def parsed_number(text: str, where: Location) -> int | float:
    """The finite number that a text is; of "-1.57." the number before the last full stop, as Bullet reads it."""
    whole = _STOPPED.fullmatch(text)
    if whole:
        where.warn(text, f"a number: {whole[1]} is taken", "remove what is behind it")
        text = whole[1]
    try:
        value = float(text)
    except ValueError:
        raise where.error(text, "a number", _UNEXPANDED if "$(" in text or "${" in text else "write for example 0.25") from None
    if not math.isfinite(value):
        raise where.error(text, "a finite number", "replace it by the measured value")
    return int(value) if value in (0, 1, -1) else value


def vector(element: Element, key: str, where: Location, default: Vector) -> Vector:
    """Three numbers, or the default."""
    text = element.get(key)
    if text is None:
        return default
    parts = text.split()
    if len(parts) == 3 and all(part.endswith(",") for part in parts[:2]):
        where.at(key).warn(text, "three numbers separated by spaces: commas are left out", "remove them")
        parts = [parts[0][:-1], parts[1][:-1], parts[2]]
    if len(parts) != 3 or "$(" in text or "${" in text:
        fix = "remove what is too much" if len(parts) > 3 else "write for example '0 0 0.1'"
        fix = _UNEXPANDED if "$(" in text or "${" in text else fix
        raise where.at(key).error(text, "three numbers separated by spaces", fix)
    x, y, z = (parsed_number(part, where.at(key)) for part in parts)
    return (x, y, z)
