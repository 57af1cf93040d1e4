"""The root of all errors, shared by derivation and runtime, and how its messages show a value."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

LONGEST_WORD, LONGEST_MESSAGE = 1000, 12_000  # characters; what compilers print is cut before
COMPARED = 100  # characters of a mistyped name


class ReadableMessage(BaseException):
    """An error or a warning whose text stays readable, whatever the values in it: long words and long lists are cut."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(readable(text) if isinstance(text, str) else text for text in args))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, and errors that come from another process, have the text and what was noted beside it."""
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[ReadableMessage], args: tuple[object, ...]) -> ReadableMessage:
    made = kind.__new__(kind, *args)
    BaseException.__init__(made, *args)
    return made


class ElastogenError(ReadableMessage, Exception):
    """Base class of all errors that elastogen raises on purpose."""


def readable(text: str) -> str:
    """A message without the middle of what no one reads: words of thousands of letters, lists of thousands of entries."""
    if len(text) > LONGEST_WORD:
        text = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: _ends(word[0], LONGEST_WORD // 10), text)
    return text if len(text) <= LONGEST_MESSAGE else _ends(text, LONGEST_MESSAGE // 3)


def _ends(text: str, size: int) -> str:
    return f"{text[:size]}...({len(text) - 2 * size} characters)...{text[-size:]}"


def close_names(given: object, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names nearest to a mistyped one, at most so many; of a very long one its beginning is compared."""
    from difflib import get_close_matches  # a slow import, needed for mistakes only

    word = given if isinstance(given, str) else shortened(given)
    return get_close_matches(word[:COMPARED], known, n=most, cutoff=cutoff)


def shortened(given: object) -> str:
    """A value as messages show it; also one that Python cannot print: too deep, too long, or broken."""
    try:
        shown = repr(given)
    except Exception:  # whatever the class of the value does there
        return f"a value of type {type(given).__name__} that cannot be printed"
    return shown if len(shown) <= 120 else shown[:117] + "..."


def removed_directory() -> str:
    """What to say where the working directory was removed, of which the system says "no such file"; "" where it is there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the working directory was removed. Fix: change into one that exists, or give a full path."
    return ""
