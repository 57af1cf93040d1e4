"""What upper rooms do for objects of lower ones: the front door names the places, the objects ask for them by purpose."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}  # by purpose: module:name


def provide(**places: str) -> None:
    """Say where things are, as "module:name"."""
    _PLACES.update(places)


def provided(purpose: str) -> Any:
    """Import what serves a purpose."""
    module, _, name = _PLACES[purpose].partition(":")
    return getattr(import_module(module), name)
