"""Names and texts that are safe in C: identifiers, comments and string literals."""

from __future__ import annotations

import re
import unicodedata

from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.reserved import LIBRARY_FUNCTIONS, is_word

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
LONGEST_NAME = 40  # C99 tells 63 characters of an internal name apart; an assignment of two such names fits a line


def check_identifier(name: str, what: str) -> str:
    """Return ``name`` if it is a valid identifier in C and C++; otherwise raise a BuildError that says what it names."""
    if not IDENTIFIER.match(name) or "__" in name:
        raise BuildError(
            f"{what}: {name!r} cannot become a C identifier. Use letters, digits and single underscores, "
            "and begin with a letter."
        )
    if is_word(name):
        raise BuildError(f"{what}: {name!r} is a word of C, C++ or their libraries. Choose another name.")
    return name


class LocalNames:
    """Hands out distinct variable names of one emitted function."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken)
        self._count = 0

    def temporary(self) -> str:
        """Return a name for a value without a name: t1, t2, ..."""
        self._count += 1
        return f"t{self._count}"

    def named(self, label: str) -> str:
        """Return a valid name close to ``label``."""
        base = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")[:LONGEST_NAME].rstrip("_")
        if not base or not base[0].isalpha():
            base = f"v_{base}".rstrip("_")
        functions = {base, base.removesuffix("f")} & LIBRARY_FUNCTIONS
        if functions or is_word(base) or re.fullmatch(r"t\d+", base):
            base += "_"
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base.rstrip('_')}_{number}", number + 1
        self._taken.add(name)
        return name


def comment_text(text: str) -> str:
    """Return ``text`` on one line of plain ASCII that cannot end a comment, start another or contain a trigraph."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode("ascii")
    line = " ".join(ascii_text.split())
    line = re.sub(r"[^ -~]", "?", line).replace("\\", "/")
    while "*/" in line or "/*" in line or "??" in line or "//" in line:
        line = line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("//", "/ /")
    return line.replace("@", "(at)")


def string_literals(text: str, width: int = 90) -> list[str]:
    """Return ASCII ``text`` as adjacent C string literals of about ``width`` characters."""
    escapes = {"\\": "\\\\", '"': '\\"', "?": "\\?", "\n": "\\n"}
    pieces = [escapes.get(character, character) for character in text]
    lines, line = [], ""
    for piece in pieces:
        line += piece
        if len(line) >= width:
            lines.append(f'"{line}"')
            line = ""
    return [*lines, f'"{line}"'] if line or not lines else lines
