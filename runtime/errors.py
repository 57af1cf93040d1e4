"""The exceptions of the runtime, which imports nothing of the generator."""

from __future__ import annotations

from collections.abc import Iterable

from elastogen.runtime.interface.error import ElastogenError, ReadableMessage, close_names


class ModelError(ElastogenError):
    """A compiled model was loaded or called in a way it cannot serve, or it reported a failure.

    Every message names the model and the method, what was given, what was expected and the fix.
    """


class ModelWarning(ReadableMessage, UserWarning):
    """A compiled model was used in a way in which its numbers should not be trusted."""


class UnknownNameError(ModelError, KeyError):
    """A name that the model does not have; also a KeyError, so that mappings behave as Python expects."""

    def __str__(self) -> str:
        return Exception.__str__(self)


def suggestion(given: object, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for a mistyped name, else the list of what there is."""
    names = [str(name) for name in known]
    close = close_names(given, names)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Known: {', '.join(names)}." if names else " There are none."
