"""Names and texts for the generated C: identifiers safe in C and C++, texts safe in comments."""

from __future__ import annotations

import hashlib
import keyword
import re
import unicodedata

from elastogen.generator.robot.expressions import RESERVED_NAMES
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.reserved import (
    COORDINATE,
    DEVICE,
    EMITTED,
    FILE_ENDINGS,
    FILES,
    HEADERS,
    KEYWORDS,
    TARGETS,
    is_word,
)
from elastogen.generator.robot.units.table import EXAMPLES, KNOWN, UnknownUnitError, parse_unit

MAX_ROBOT_NAME = 31  # C99 5.2.4.1: significant characters of an external identifier
MAX_PARAMETER_NAME = 63  # C99 5.2.4.1: significant characters of a struct member
MAX_NAME = 255  # joints and links
MAX_TEXT = 2000

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ANY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/ +-]*")
_UNIT = re.compile(r"[A-Za-z0-9/^*(). %-]{0,32}")


def check_robot_name(name: object, where: Location) -> None:
    """Accept a name that is a safe prefix of C symbols, macros and files, and a safe name of a library."""
    moved = re.fullmatch(r"(\d+)_?([A-Za-z][A-Za-z0-9_]*)", str(name))
    example = f"{moved[2]}{moved[1]}" if moved else "my_arm"
    fix = f"choose another `name` of letters, digits and _, in the file or by load(..., name={example!r})"
    _check_identifier(name, MAX_ROBOT_NAME, where, fix)
    plain = str(name).lower()
    kinds = {
        "header of the C library": plain in HEADERS,
        "target of build tools": plain in TARGETS,
        "file beside the emitted ones": plain in FILES or plain.startswith("eg_") or DEVICE.fullmatch(plain),
    }
    for kind, is_taken in kinds.items():
        if is_taken:
            raise where.error(name, f"a name that is no {kind}", fix)
    for ending in FILE_ENDINGS:
        if plain.endswith(ending):
            raise where.error(name, f"a name without the ending {ending} of types and files of other robots", fix)


def check_parameter_name(name: object, where: Location, robot: str = "") -> None:
    """Accept a safe C struct member that has no other meaning in the generated code of ``robot``."""
    _check_identifier(name, MAX_PARAMETER_NAME, where, "rename the parameter, letters, digits and _ only")
    text = str(name)
    own_macro = robot and text == text.upper() and text.startswith(f"{robot.upper()}_")
    taken = text in EMITTED or text in RESERVED_NAMES or COORDINATE.fullmatch(text) or keyword.iskeyword(text)
    if own_macro or taken:
        raise where.error(
            name,
            "a name that is not used by the generated code or by expressions",
            "rename it, for example arm_" + text.lower(),
        )


def _check_identifier(name: object, longest: int, where: Location, fix: str) -> None:
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise where.error(name, "a C identifier: a letter, then letters, digits and _", fix)
    if len(name) > longest:
        raise where.error(name, f"at most {longest} characters, not {len(name)}", fix)
    if name.lower() in KEYWORDS or is_word(name) or "__" in name:
        raise where.error(name, "a name that is not reserved in C or C++", fix)


def check_name(name: object, where: Location) -> None:
    """Accept a joint's or link's name: printable, harmless in C comments and strings."""
    if not isinstance(name, str) or not _ANY_NAME.fullmatch(name) or len(name) > MAX_NAME or name != name.strip():
        raise where.error(
            name,
            f"1 to {MAX_NAME} letters, digits, spaces and _ . : / + -, the first a letter, digit or _",
            "rename it, for example left_hip",
        )


def check_text(text: object, where: Location, longest: int = MAX_TEXT) -> None:
    """Accept a text that can stand in a C comment as it is."""
    if not isinstance(text, str):
        raise where.error(text, "a text", "put it in quotes")
    if len(text) > longest:
        raise where.error(text, f"at most {longest} characters, not {len(text)}", "shorten it")
    for poison in ("*/", "/*", "\\", "??/"):
        if poison in text:
            raise where.error(text, f"a text without {poison!r}", "remove it: the text appears in a C comment")
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            raise where.error(text, f"a text without the control character {character!r}", "remove it")


def check_unit(unit: object, where: Location) -> None:
    """Accept a unit such as ``kg m^2`` or ``N m s/rad``."""
    check_text(unit, where, 32)
    if not _UNIT.fullmatch(str(unit)):
        raise where.error(unit, "a unit of letters, digits and / ^ * ( ) . % -", "for example m, kg m^2, N m s/rad")
    try:
        parse_unit(str(unit))
    except UnknownUnitError as problem:
        fix = did_you_mean(problem.name, KNOWN, "leave the unit out and give the value in SI units")
        raise where.error(unit, f"a product of known units, such as {EXAMPLES}", fix) from None


def prefix_of(text: str, where: Location) -> str:
    """Return a robot's name for C of the name that a foreign file gives it: identifiers only, and not too long."""
    name = to_identifier(text, "robot")
    if len(name) <= MAX_ROBOT_NAME:
        return name
    short = _shortened(name, MAX_ROBOT_NAME)
    expected = f"at most {MAX_ROBOT_NAME} characters: it is called {short} in C"
    where.warn(text, expected, "choose a name: load(..., name='my_arm')")
    return short


def member_of(text: str) -> str:
    """The C name of a number that lies in a link or joint, whose own name may be long."""
    return text if len(text) <= MAX_PARAMETER_NAME else _shortened(text, MAX_PARAMETER_NAME)


def _shortened(name: str, longest: int) -> str:
    return f"{name[: longest - 7].rstrip('_')}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def to_identifier(text: str, kind: str) -> str:
    """Return the text with ``_`` for what C does not take, and ``kind_`` before a leading digit."""
    name = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", text)).strip("_")
    return name if not name or name[0].isalpha() else f"{kind}_{name}"
