"""The root of all errors, for the rooms that derive and for those that run."""

from __future__ import annotations


class ElastogenError(Exception):
    """Base class of all errors that elastogen raises on purpose."""
