"""Which names and texts may reach the generated C: identifiers safe in C and C++, texts safe in comments."""

from __future__ import annotations

import keyword
import re
import unicodedata

from elastogen.generator.robot.expressions import RESERVED_NAMES
from elastogen.generator.robot.location import Location

MAX_ROBOT_NAME = 31  # C99 5.2.4.1: significant characters of an external identifier
MAX_PARAMETER_NAME = 63  # C99 5.2.4.1: significant characters of a struct member
MAX_NAME = 63  # joints and links
MAX_TEXT = 2000

_C_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile
while
"""
_LATER_KEYWORDS = """
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor bool catch
char16_t char32_t char8_t class co_await co_return co_yield compl concept const_cast consteval constexpr
constinit decltype delete dynamic_cast explicit export false fortran friend mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public reflexpr reinterpret_cast
requires static_assert static_cast synchronized template this thread_local throw true try typeid
typename typeof typeof_unqual using virtual wchar_t xor xor_eq
"""
_MACROS = """
complex imaginary errno linux unix i386 near far NULL EOF NAN INFINITY HUGE_VAL I assert offsetof
"""
_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
"""
_EMITTED = "q qd qdd dq ddq tau F t p out params parameters gravity payload live"
KEYWORDS = frozenset((_C_KEYWORDS + " " + _LATER_KEYWORDS + " " + _MACROS).split())
HEADERS = frozenset(_HEADERS.split())  # a robot `math` would emit a math.h
EMITTED = frozenset(_EMITTED.split())
_COORDINATE = re.compile(r"(q|qd|qdd|dq|ddq|tau)_?[0-9]+")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ANY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/ +-]*")
_UNIT = re.compile(r"[A-Za-z0-9/^*(). %-]{0,32}")


def check_robot_name(name: object, where: Location) -> None:
    """Accept a name that is a safe prefix of C symbols and files."""
    fix = "choose another `name` of letters, digits and _, in the file or by load(..., name='my_arm')"
    _check_identifier(name, MAX_ROBOT_NAME, where, fix)
    if str(name).lower() in HEADERS or str(name).endswith("_t"):
        raise where.error(name, "a name that is no header and no type of the C library", fix)


def check_parameter_name(name: object, where: Location) -> None:
    """Accept a safe C struct member that does not stand for something else in the generated code."""
    _check_identifier(name, MAX_PARAMETER_NAME, where, "rename the parameter, letters, digits and _ only")
    if name in EMITTED or name in RESERVED_NAMES or _COORDINATE.fullmatch(str(name)) or keyword.iskeyword(str(name)):
        raise where.error(
            name,
            "a name that is not used by the generated code or by expressions",
            "rename it, for example arm_" + str(name),
        )


def _check_identifier(name: object, longest: int, where: Location, fix: str) -> None:
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise where.error(name, "a C identifier: a letter, then letters, digits and _", fix)
    if len(name) > longest:
        raise where.error(name, f"at most {longest} characters, not {len(name)}", fix)
    if name in KEYWORDS or name.lower() in KEYWORDS or "__" in name:
        raise where.error(name, "a name that is not reserved in C or C++", fix)


def check_name(name: object, where: Location) -> None:
    """Accept a joint's or link's name: printable, harmless in C comments and strings."""
    if not isinstance(name, str) or not _ANY_NAME.fullmatch(name) or len(name) > MAX_NAME or name != name.strip():
        raise where.error(
            name,
            f"1 to {MAX_NAME} letters, digits and _ . : / + -",
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


def to_identifier(text: str, kind: str) -> str:
    """Return the text with ``_`` for what C does not take, and ``kind_`` before a leading digit."""
    name = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", text)).strip("_")
    return name if not name or name[0].isalpha() else f"{kind}_{name}"
