"""Names and texts that are safe to print into C: identifiers, comments and string literals."""

from __future__ import annotations

import re
import unicodedata

from elastogen.generator.robot.errors import BuildError

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
LONGEST_NAME = 40  # C99 tells 63 characters of an internal name apart; an assignment of two such names fits a line


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    asm fortran typeof alignas alignof bool constexpr false nullptr static_assert thread_local true and and_eq
    bitand bitor catch char8_t char16_t char32_t class compl concept const_cast co_await co_return co_yield
    decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq operator or
    or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid typename
    using virtual wchar_t xor xor_eq
    """
)
"""Reserved words of C (up to C23) and of C++ (the header is included from C++ as well)."""

LIBRARY_FUNCTIONS = _words(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div drem erf erfc exp exp10 exp2 expm1
    fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb infnan isinf isnan j0 j1 jn ldexp lgamma
    llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10
    remainder remquo rint round scalb scalbln scalbn signbit significand signgam sin sincos sinh sqrt tan tanh
    tgamma trunc y0 y1 yn abs labs index rindex main memcpy memset
    """
)
"""Functions of the C library, most of all of math.h; a local variable of that name would hide them."""

MACROS = _words(
    """
    linux unix i386 near far huge interrupt pascal cdecl errno stdin stdout stderr math_errhandling NULL NAN
    INFINITY HUGE_VAL HUGE_VALF HUGE_VALL HUGE EOF EDOM ERANGE EILSEQ DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS
    X_TLOSS MAXFLOAT FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO
    MATH_ERREXCEPT M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2
    M_SQRT1_2 WCHAR_MIN WCHAR_MAX WINT_MIN WINT_MAX SIZE_MAX INTPTR_MIN INTPTR_MAX PTRDIFF_MIN PTRDIFF_MAX
    """
)
"""Macros of math.h, stdint.h, string.h and of common compilers: no identifier at all may have such a name."""

RESERVED = KEYWORDS | LIBRARY_FUNCTIONS | MACROS


def check_identifier(name: str, what: str) -> str:
    """``name``, if it may be pasted into C and C++ as it is; else a BuildError that says what it is the name of."""
    if not IDENTIFIER.match(name) or "__" in name:
        raise BuildError(
            f"{what}: {name!r} cannot become a C identifier. Use letters, digits and single underscores, "
            "and begin with a letter."
        )
    if name in KEYWORDS or name in MACROS:
        raise BuildError(f"{what}: {name!r} is a word of C, C++ or their libraries. Choose another name.")
    return name


class LocalNames:
    """Hands out distinct variable names of one emitted function."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken)
        self._count = 0

    def temporary(self) -> str:
        """A name for a value that nobody named: t1, t2, ..."""
        self._count += 1
        return f"t{self._count}"

    def named(self, label: str) -> str:
        """A valid name close to ``label``."""
        base = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")[:LONGEST_NAME].rstrip("_")
        if not base or not base[0].isalpha():
            base = f"v_{base}".rstrip("_")
        if base in RESERVED or base.removesuffix("f") in LIBRARY_FUNCTIONS or re.fullmatch(r"t\d+", base):
            base += "_"
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base.rstrip('_')}_{number}", number + 1
        self._taken.add(name)
        return name


def comment_text(text: str) -> str:
    """``text`` on one line of plain ASCII that cannot end a comment, start another or hold a trigraph."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode("ascii")
    line = " ".join(ascii_text.split())
    line = re.sub(r"[^ -~]", "?", line).replace("\\", "/")
    while "*/" in line or "/*" in line or "??" in line or "//" in line:
        line = line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("//", "/ /")
    return line.replace("@", "(at)")


def string_literals(text: str, width: int = 90) -> list[str]:
    """ASCII ``text`` as adjacent C string literals of about ``width`` characters."""
    escapes = {"\\": "\\\\", '"': '\\"', "?": "\\?", "\n": "\\n"}
    pieces = [escapes.get(character, character) for character in text]
    lines, line = [], ""
    for piece in pieces:
        line += piece
        if len(line) >= width:
            lines.append(f'"{line}"')
            line = ""
    return [*lines, f'"{line}"'] if line or not lines else lines
