"""An array argument of an emitted function: derived with it, written to its header and metadata, checked in each call."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Argument:
    """An array argument of an emitted function, row-major; ``shape`` () is a single number."""

    name: str
    shape: tuple[int, ...]
    unit: str
    doc: str

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def element(self, index: int) -> str:
        """Label of one element: the label of an input variable in the graph."""
        return f"{self.name}[{index}]"
