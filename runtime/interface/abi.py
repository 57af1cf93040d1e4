"""The ABI number, which a compiled model and the runtime must share."""

from __future__ import annotations

ABI_VERSION = 6
"""Changes with the exported ``eg_*`` functions, the metadata, or the layout of emitted signatures and structs."""
