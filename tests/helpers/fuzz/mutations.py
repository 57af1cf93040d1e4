"""Mutations of robot files: of their numbers, their strings, their structure and their text."""

from __future__ import annotations

import copy
import io
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from ruamel.yaml import YAML

from fuzz.corpus import Original

NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 0.5, -0.0, 1e-3, 1e3, 1e-9, 1e9, 1e-17, 1e17, 1e-30, 1e30, 1e-151, 1e149, 8e149, 1e300, 1e308, -1e308,
    5e-324, 2.2e-308, float("nan"), float("inf"), float("-inf"), 10**15, 10**30, 10**400, -(10**400), 2**31, 2**63,
    1.57079632679, 3.14159, 90, 180, 360, 0.1 + 0.2, True, False,
)  # fmt: skip
STRINGS: tuple[Any, ...] = (
    "", " ", "int", "all", "m", "example", "q", "F", "base", "pi", "l1", "1/0", "0/0", "sqrt(-1)", "sin(1e300)", "9**9",
    "2**-8", "((((9**8)**8)**8)**8)**8", "((((0.1**8)**8)**8)**8)**8", "(1e300)*(1e300)", "1" * 150, "9" * 199,
    "((((((((1))))))))", "-" * 150 + "1", "1e400", "0x10", "1_000", "1.5 kg", "nan", "inf", "true", "null", "None",
    "l1 +", "l1 if l1 else 2", "__import__('os')", "*/ int x; /*", "a\\b", "a\tb", "a\nb", "\u202e", "\x00", "\ud7ff",
    "ä", "😀", "x" * 64, "x" * 3000, "%s", "${HOME}", "../../x", "/etc/passwd", "revolute", "prismatic", "fixed",
    "continuous", "sliding", "telescopic", "smooth", "nodal", "modes", "finite_elements", "floating", "planar", "com",
    "frame", "exact", "linear", "gravity", "payload", "links.*", "joints.*", "*", "[", "?", "links.*.mass",
)  # fmt: skip
KEYS = (
    "name", "type", "mass", "com", "inertia", "value", "elements", "length", "EI", "modes", "live", "tip",
    "gamma", "xyz", "CoM", "follows", "lock", "terms", "points", "base", "functions", "foreshortening", "directions",
)  # fmt: skip
SCRAPS = (
    "%YAML 1.2\n---\n", "%YAML 3.0\n---\n", "%TAG ! tag:x,2000:\n---\n", "%FOO bar\n---\n", "%YAML\n", "%", "---\n",
    "...\n", "!!bool abc", "!!int x", "!!float y", "!!binary z", "!!timestamp t", "!!set {a}", "!!omap [a: 1]",
    "!!python/object:os.system x", "!a", "!<x>", "&a", "*a", "<<: *a", "&a [*a]", "? ", "- ", ": ", "|", ">", "'", '"',
    "\t", "\x00", "\x85", "\ufeff", "[", "]", "{", "}", ",", "#", "@", "`", "1:2:3", "0o17", "1e1000", "=", "2001-01-01",
    "yes", "~", "\r", "\\x", '"\\xZZ"', '"\\ud800"', "[[[[[[[[[[[[[[[[[[[[[[[[[[",
)  # fmt: skip
XML_SCRAPS = (
    "<", ">", "&", "&amp;", "&x;", "<!DOCTYPE a [<!ENTITY x 'y'>]>", "<?xml?>", "<!--", "-->", "<![CDATA[", "]]>",
    "<link/>", "<joint/>", '<mimic joint="slide"/>', '<mass value="-1"/>', "\x00", "xmlns:a='b'", "<a:b/>", "</robot>",
    "<robot>", "\ufeff", "nan", "1e400", "<body/>", "<joint type='ball'/>", "<pose relative_to='x'>1</pose>", "<geom/>",
    "<frame/>",
)  # fmt: skip
Path = tuple[Any, ...]


def mutate(original: Original, others: Sequence[Original], rng: random.Random) -> str:
    """The text of a file that differs from the original in one to four ways."""
    count = rng.choice((1, 1, 1, 2, 2, 3, 4))
    if original.data is None:
        text = original.text
        for _ in range(count):
            text = rng.choice((_attribute, _attribute, _attribute, _element, _scrap))(text, rng)
        return text
    data = copy.deepcopy(original.data)
    if rng.random() < 0.8:
        for _ in range(count):
            data = _change(data, others, rng)
        return _dumped(data)
    text = original.text
    for _ in range(count):
        text = _scrap(text, rng)
    return text


# ---- structure


def _change(data: Any, others: Sequence[Original], rng: random.Random) -> Any:
    places = list(_places(data))
    if not places:
        return rng.choice(NUMBERS)
    change: Callable[[Any, Path, Any, random.Random], Any]
    change = rng.choice((_number, _number, _number, _string, _remove, _double, _rename, _swap, _wrap, _scale))
    if rng.random() < 0.1:
        other = rng.choice([o for o in others if o.data is not None])
        piece = _get(other.data, rng.choice(list(_places(other.data))))
        return _set(data, rng.choice(places), copy.deepcopy(piece))
    return change(data, rng.choice(places), places, rng)


def _places(data: Any, path: Path = ()) -> Any:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _get(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _set(data: Any, path: Path, value: Any) -> Any:
    _get(data, path[:-1])[path[-1]] = value
    return data


def _number(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    numeric = [p for p in places if isinstance(_get(data, p), (int, float))] or [path]
    return _set(data, rng.choice(numeric), rng.choice(NUMBERS))


def _scale(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    numeric = [p for p in places if isinstance(_get(data, p), (int, float))] or [path]
    place = rng.choice(numeric)
    value = _get(data, place)
    factor = rng.choice((-1, 1e-3, 1e3, 1e-12, 1e12, 2, 0))
    if not isinstance(value, (int, float)):
        return _set(data, place, 1)
    return _set(data, place, value * factor if abs(value) < 1e290 else -value)  # integers of 400 digits are not floats


def _string(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    return _set(data, path, rng.choice(STRINGS))


def _remove(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    del _get(data, path[:-1])[path[-1]]
    return data


def _double(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    parent = _get(data, path[:-1])
    times = rng.choice((1, 1, 2, 30))
    if isinstance(parent, list):
        for _ in range(times):
            parent.insert(rng.randint(0, len(parent)), copy.deepcopy(parent[path[-1]]))
    else:
        parent[rng.choice(KEYS)] = copy.deepcopy(parent[path[-1]])
    return data


def _rename(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    keyed = [p for p in places if isinstance(_get(data, p[:-1]), dict)] or [path]
    place = rng.choice(keyed)
    parent = _get(data, place[:-1])
    if isinstance(parent, dict):
        parent[rng.choice((*KEYS, str(place[-1])[:-1], 3, None, True))] = parent.pop(place[-1])
    return data


def _swap(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    other = rng.choice(places)
    if other[: len(path)] == path or path[: len(other)] == other:
        return data
    a, b = copy.deepcopy(_get(data, path)), copy.deepcopy(_get(data, other))
    return _set(_set(data, path, b), other, a)


def _wrap(data: Any, path: Path, places: list[Path], rng: random.Random) -> Any:
    value = _get(data, path)
    return _set(data, path, rng.choice(([value], {"value": value}, [], {}, None, [value] * 3, [[value]], str(value)[:50])))


def _dumped(data: Any) -> str:
    stream = io.StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.allow_unicode = True
    try:
        writer.dump(data, stream)
    except Exception:  # what cannot be written as YAML goes on as Python shows it
        return repr(data)
    return stream.getvalue()


# ---- text


def _scrap(text: str, rng: random.Random) -> str:
    here = rng.randint(0, len(text))
    scraps = XML_SCRAPS if text.lstrip().startswith("<") else SCRAPS
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(scraps) + text
    if kind == 1:
        return text[:here] + rng.choice(scraps) + text[here:]
    if kind == 2:
        return text[:here] + text[here + rng.randint(1, 20) :]
    if kind == 3:
        return text[:here] + rng.choice(scraps) + text[here + 1 :]
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = rng.randrange(len(lines))
    return "".join([*lines[:line], *([] if kind == 4 else [lines[line]] * 2), *lines[line + 1 :]])


def _attribute(text: str, rng: random.Random) -> str:
    """Change one number or one word between the quotes of an attribute, or between the tags of an element, as SDF has them."""
    found = list(re.finditer(r'"([^"]*)"|>([^<>]*[^<>\s][^<>]*)</', text))
    if not found:
        return text
    match = rng.choice(found)
    group = 1 if match.group(1) is not None else 2
    words = match.group(group).split() or [""]
    words[rng.randrange(len(words))] = str(rng.choice((*NUMBERS, *STRINGS)))
    quoted = " ".join(words).replace("&", "&amp;").replace("<", "&lt;").replace('"', "")
    return text[: match.start(group)] + quoted + text[match.end(group) :]


def _element(text: str, rng: random.Random) -> str:
    """Remove or repeat an element that has no others inside."""
    found = list(re.finditer(r"<(\w+)[^<>]*?/>|<(\w+)[^<>]*>[^<>]*</\2>", text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + match.group(0) * rng.choice((0, 2)) + text[match.end() :]
