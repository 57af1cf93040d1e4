"""The root of all errors, shared by derivation and runtime."""

from __future__ import annotations


class ElastogenError(Exception):
    """Base class of all errors that elastogen raises on purpose."""
