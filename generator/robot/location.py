"""Places in a robot description, so that any error names the user's file and field."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from elastogen.generator.robot.errors import COMPARED, RobotError, RobotWarning, close_names


@dataclass(frozen=True)
class Location:
    """A place in a robot description: the file (or ``python``) and the dotted path inside it."""

    source: str
    field: str = ""

    def at(self, *names: str | int) -> Location:
        """Return the place below this one; an integer is a position in a list."""
        field = self.field
        for name in names:
            if isinstance(name, int):
                field += f"[{name}]"
            else:
                shown = "".join(c if c.isprintable() else "?" for c in name[:80])
                field += f".{shown}" if field else shown
        return Location(self.source, field)

    def error(self, given: object, expected: str, fix: str = "") -> RobotError:
        """Return the error to raise about the value at this place."""
        return RobotError(self.source, self.field, given, expected, fix)

    def warn(self, given: object, expected: str, fix: str = "") -> None:
        """Warn about the value at this place, in the words an error would use."""
        warnings.warn(str(self.error(given, expected, fix)), RobotWarning, stacklevel=3)


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``did you mean 'x'?`` for the known name nearest to ``word``, or ``otherwise``."""
    near = nearest(str(word), known)
    return f"did you mean {near!r}?" if near else otherwise


def nearest(given: str, known: Iterable[str]) -> str | None:
    """The name that is the same but for its case, or one of the words of ``given``, or the one that differs least."""
    word, names = given[:COMPARED].casefold(), {name.casefold(): name for name in reversed(list(known))}
    parts = re.split(r"[^a-z0-9]+", word)
    for candidate in (word, *reversed(parts)):
        if candidate in names:
            return names[candidate]
    close = close_names(word, list(names))
    return names[close[0]] if close else None
