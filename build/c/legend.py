"""The comment above an emitted function that explains the names of its intermediates."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from elastogen.generator.spatial.vectors import QUANTITIES

WIDTH = 104
_VECTOR = re.compile(rf"([{''.join(QUANTITIES)}])\d+[xyz]\Z")


def legend(labels: Iterable[str]) -> tuple[str, ...]:
    """Return lines about the labels that occur; none if no label is that of a vector in a frame."""
    letters = {found[1] for label in labels if (found := _VECTOR.match(label))}
    if not letters:
        return ()
    shown = [f"{letter}: {meaning}" for letter, meaning in QUANTITIES.items() if letter in letters]
    text = f"""Names: {"; ".join(shown)}; each with the number of the moving frame, outward from the base, and the axis of that
        frame; some are the negative, where that saves an operation. t1, t2, ...: no name."""
    return tuple(textwrap.wrap(" ".join(text.split()), WIDTH))
